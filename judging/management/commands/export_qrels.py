from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.management.base import StepCommand, count
from judging.management.policy import add_policy_arguments, policy_of
from judging.steps import lookup
from judging.steps.export import export_qrels
from judging.steps.export_files import FORMATS, JUDGMENTS, LAYOUTS, Content


class Command(StepCommand):
    help = (
        "Write the augmented qrels of a collection: the original ones, then adjudications, then the people's majority, "
        "then exact duplicates; LLM grades only with --llm. Beside them sources.tsv and manifest.json; "
        "with --layout beir the whole data set. Into a folder, or into a zip where the name ends in .zip."
    )
    example = "export_qrels nfcorpus --out nfcorpus-augmented.zip --layout beir"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR_OR_ZIP")
        parser.add_argument(
            "--layout", choices=LAYOUTS, default="qrels",
            help="beir: corpus and queries too, so that the whole loads as a BEIR data set (default: qrels)",
        )  # fmt: skip
        parser.add_argument(
            "--format", action="append", choices=FORMATS, dest="formats", help="may be given twice (default: both)"
        )
        parser.add_argument(
            "--judgments", action="append", choices=JUDGMENTS,
            help="form of the file of all judgments, may be given several times (default: jsonl)",
        )  # fmt: skip
        add_policy_arguments(parser)

    def run(self, **options: Any) -> None:
        export = export_qrels(
            collection=lookup.collection(options["collection"]),
            out=options["out"],
            policy=policy_of(options),
            content=Content(
                layout=options["layout"],
                formats=options["formats"] or FORMATS,
                judgments=options["judgments"] or Content().judgments,
            ),
        )
        manifest = export.manifest
        self.say(f"{export.path}: {count(manifest['judgments'], 'judgment')}")
        for source, grades in manifest["counts"].items():
            by_grade = ", ".join(f"grade {grade} × {number:,}" for grade, number in grades.items())
            self.say(f"  {source}: {by_grade}")
        if manifest["unresolved"]:
            self.say(f"  left out, people undecided: {manifest['unresolved']:,} (unresolved.tsv)")
