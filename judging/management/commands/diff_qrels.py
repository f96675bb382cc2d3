from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judging.formats.diff import QueryDiff
from judging.management.base import StepCommand, count
from judging.steps.diff import diff_files


class Command(StepCommand):
    help = "Two qrels files (BEIR TSV, TREC or Parquet) compared: pairs added, removed and regraded, by query."
    example = "diff_qrels qrels/test.tsv nfcorpus-augmented/qrels/augmented.tsv"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("before", type=Path, metavar="A")
        parser.add_argument("after", type=Path, metavar="B")
        parser.add_argument("--summary", action="store_true", help="the numbers alone, without the pairs")

    def run(self, **options: Any) -> None:
        report = diff_files(before=options["before"], after=options["after"])
        diff = report.diff
        for warning in report.warnings:
            self.say(f"warning: {warning}")
        if not options["summary"]:
            for query in diff.queries:
                self.say(f"query {query.query}", *_lines(query))
        self.say(
            f"{diff.added:,} added, {diff.removed:,} removed, {diff.regraded:,} regraded in "
            f"{count(len(diff.queries), 'query', 'queries')}; {diff.unchanged:,} unchanged"
        )


def _lines(query: QueryDiff) -> Iterator[str]:
    for document, grade in query.added:
        yield f"  + {document}: {grade}"
    for document, grade in query.removed:
        yield f"  - {document}: {grade}"
    for document, before, after in query.regraded:
        yield f"  ~ {document}: {before} → {after}"
