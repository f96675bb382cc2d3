import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.errors import FileError
from judging.management.base import StepCommand, count
from judging.models import Outcome
from judging.steps import lookup
from judging.steps.import_judgments import KINDS, import_judgments


class Command(StepCommand):
    help = (
        "Store labels made elsewhere under a judge of their own: JSON lines, CSV or Parquet with query, document and "
        "grade or outcome, or qrels in TREC's or BEIR's form. Grades outside the collection's scale are kept as out of "
        "scale."
    )
    example = "import_judgments dl19 labels.txt --judge gpt-4o --kind llm"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("file", type=Path)
        parser.add_argument("--judge", required=True, metavar="NAME", help="whose labels they are")
        parser.add_argument("--kind", required=True, choices=KINDS)
        parser.add_argument(
            "--configuration", type=Path, metavar="JSON", help="what made an LLM's labels: model, prompt, revision, …"
        )
        parser.add_argument(
            "--only", metavar="JUDGE", help="of a file of several judges, take this one's: by name or by fingerprint"
        )
        parser.add_argument("--replace", action="store_true", help="put them in place of the judge's earlier ones")

    def run(self, **options: Any) -> None:
        report = import_judgments(
            collection=lookup.collection(options["collection"]),
            path=options["file"],
            judge=options["judge"],
            kind=options["kind"],
            configuration=_configuration(options["configuration"]),
            only=options["only"],
            replace=options["replace"],
            meter=self.meter,
        )
        for warning in report.warnings:
            self.say(f"warning: {warning}")
        if report.unchanged:
            self.say(f"{report.judge.label}: these very labels are there already; nothing was changed.")
            if report.beyond:
                self.say(f"  {count(report.beyond, 'judgment')} beyond the file kept; --replace deletes what it lacks")
            return
        outcomes = ", ".join(
            f"{Outcome(outcome).label} {number:,}" for outcome, number in sorted(report.outcomes.items())
        )
        self.say(f"{report.judge.label}: {count(report.outcomes.total(), 'judgment')} stored ({outcomes})")
        if report.left_out:
            self.say(f"  {report.left_out:,} of queries that the collection lacks left out")
        if report.filled_slots:
            self.say(f"  {count(report.filled_slots, 'slot')} of pools filled")


def _configuration(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(path, None, f"expected a JSON object; {error}.") from None
    if not isinstance(content, dict):
        raise FileError(path, None, f"expected a JSON object, found {type(content).__name__}.")
    return content
