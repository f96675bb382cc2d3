from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command

from judging.engines.rerank import open_reranker
from judging.management.base import StepCommand
from judging.models import Pool

SAMPLE = Path(settings.BASE_DIR) / "fixtures" / "sample"
PASSWORD = "unjudged"  # noqa: S105 (a demo on this machine; it is printed)
POOL = "sample-holes"


class Command(StepCommand):
    help = (
        "Run the whole path on the sample collection: import, index, retrieve, rerank, pool the holes, the sample "
        "labels of two people, the recorded answers of an LLM, agreement, before and after. Leaves a part of the pool "
        "to judge. Run again, it changes nothing that is there."
    )
    example = "demo"

    def add_arguments(self, parser: ArgumentParser) -> None:
        pass

    def run(self, **_options: Any) -> None:
        reranked = open_reranker("embedded").name
        self._step("migrate", verbosity=0)
        self._step("import_beir", str(SAMPLE))
        self._step("index", "sample")
        self._step("retrieve", "sample")
        self._step("rerank", "sample", "--model", "embedded")
        self._step("judge_rate", "sample")
        if not Pool.objects.filter(slug=POOL).exists():
            guidelines = SAMPLE / "guidelines.md"
            self._step(
                "open_pool", "sample", "--run", "bm25", "--run", reranked,
                "--depth", "5", "--people", "2", "--guidelines", str(guidelines),
            )  # fmt: skip
        for person in ("ada", "ben"):
            self._step(
                "import_judgments", "sample", str(SAMPLE / "people" / f"{person}.jsonl"),
                "--judge", person, "--kind", "person",
            )  # fmt: skip
        self._step(
            "import_judgments", "sample", str(SAMPLE / "llm" / "answers.jsonl"),
            "--judge", "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M pointwise", "--kind", "llm",
            "--configuration", str(SAMPLE / "llm" / "configuration.json"),
        )  # fmt: skip
        self._step("agreement", POOL)
        self._step("evaluate", "sample")
        self._accounts()

    def _step(self, *command: str, **options: Any) -> None:
        self.say("", self.style.MIGRATE_HEADING("$ python manage.py " + " ".join(map(_quoted, command))))
        call_command(*command, stdout=self.stdout, stderr=self.stderr, **options)

    def _accounts(self) -> None:
        for name, is_staff in (("annotator", False), ("lead", True)):
            if not User.objects.filter(username=name).exists():
                User.objects.create_user(name, password=PASSWORD, is_staff=is_staff, is_superuser=is_staff)
        self.say(
            "",
            "Accounts of the demo:",
            f"  annotator / {PASSWORD}   judges what ada and ben left",
            f"  lead / {PASSWORD}        sees the collection, the agreement and the export",
        )


def _quoted(part: str) -> str:
    return f'"{part}"' if " " in part else part
