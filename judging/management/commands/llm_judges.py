import json
from argparse import ArgumentParser
from typing import Any

from judging.errors import UserError
from judging.management.base import StepCommand, count
from judging.models import Judge, Outcome
from judging.steps import lookup
from judging.steps.judges import JudgeRow, differences, llm_judges, prompt_of, row_of_judge


class Command(StepCommand):
    help = (
        "The LLM judges: each is a model with its prompt and all else that decides its answers, told apart by a "
        "fingerprint. Lists them, shows one with its configuration and its prompt, or compares two."
    )
    example = "llm_judges compare 3f2a91 77c0de"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", nargs="?", default="list", choices=["list", "show", "compare"])
        parser.add_argument(
            "judges", nargs="*", metavar="JUDGE", help="by name, or by the first six or more signs of the fingerprint"
        )

    def run(self, **options: Any) -> None:
        action, names = options["action"], options["judges"]
        wanted = {"list": 0, "show": 1, "compare": 2}[action]
        if len(names) != wanted:
            raise UserError(
                f"llm_judges {action}: expected {count(wanted, 'judge')}, found {len(names)}. llm_judges lists them."
            )
        judges = [lookup.llm_judge(name) for name in names]
        if action == "list":
            self._list()
        elif action == "show":
            self._show(*judges)
        else:
            self._compare(*judges)

    def _list(self) -> None:
        rows = llm_judges()
        if not rows:
            self.say("No LLM has judged yet: python manage.py prefill_llm POOL")
            return
        outcomes = [outcome for outcome in Outcome if any(outcome in row.outcomes for row in rows)]
        self.table(
            ("judge", "model", "prompt", "mode", "dtype", *(outcome.value for outcome in outcomes)),
            [
                (
                    row.judge.label,
                    *(_short(row.judge, name) for name in ("model", "prompt", "mode", "dtype")),
                    *(f"{row.outcomes.get(outcome, 0):,}" for outcome in outcomes),
                )
                for row in rows
            ],
        )

    def _show(self, judge: Judge) -> None:
        self.say(judge.label, f"fingerprint {judge.fingerprint}", *_counts(row_of_judge(judge)), "")
        self.say(json.dumps(judge.configuration, indent=2, ensure_ascii=False), "")
        self.say(prompt_of(judge) or "The text of the prompt is not known here: these labels were made elsewhere.")

    def _compare(self, one: Judge, other: Judge) -> None:
        found = differences(one, other)
        if not found:
            self.say("Nothing differs between them.")
        for difference in found:
            self.say(
                difference.name,
                *_indented(one.label, difference.one),
                *_indented(other.label, difference.other),
            )


def _short(judge: Judge, name: str) -> str:
    value = judge.configuration.get(name)
    return value if isinstance(value, str) else "–"


def _counts(row: JudgeRow) -> list[str]:
    said = [f"{Outcome(outcome).label} {number:,}" for outcome, number in sorted(row.outcomes.items())]
    lines = [f"{count(row.judged, 'judgment')}" + (f": {', '.join(said)}" if said else "")]
    if row.seconds_each is not None:
        lines.append(f"{row.seconds_each:.2f} s each")
    if row.prompt_tokens:
        lines.append(f"{row.prompt_tokens:,} tokens read, {row.completion_tokens:,} written")
    return lines


def _indented(label: str, value: str | None) -> list[str]:
    lines = ["–"] if value is None else value.splitlines() or [""]
    if len(lines) == 1:
        return [f"  {label}: {lines[0]}"]
    return [f"  {label}:", *(f"    {line}" for line in lines)]
