from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.management.base import StepCommand
from judging.steps import lookup
from judging.steps.report import report_of, write_report


class Command(StepCommand):
    help = (
        "Write all that can be said of a pool as one HTML file and as Markdown: what was judged, by whom, agreement, "
        "the share relevant, examples, the runs before and after, and where it all came from."
    )
    example = "report nfcorpus-holes --out nfcorpus-report"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder; made where it is not there")

    def run(self, **options: Any) -> None:
        for path in write_report(report_of(lookup.pool(options["pool"])), options["out"]):
            self.say(str(path))
