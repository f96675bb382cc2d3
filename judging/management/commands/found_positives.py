from argparse import ArgumentParser
from typing import Any

from judging.management.base import StepCommand
from judging.steps import lookup
from judging.steps.agree import sheet_of
from judging.steps.agreement.evidence import as_json, as_markdown


class Command(StepCommand):
    help = (
        "Print what people newly found relevant in a pool, each beside the query's known positive: in Markdown, "
        "or as a JSON list of {query, positive_doc, negative_doc}."
    )
    example = "found_positives nfcorpus-holes --json"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--json", action="store_true", help="as JSON (default: Markdown)")

    def run(self, **options: Any) -> None:
        sheet = sheet_of(pool=lookup.pool(options["pool"]))
        self.stdout.write(as_json(sheet) if options["json"] else as_markdown(sheet))
