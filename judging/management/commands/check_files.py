from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from judging.formats.check_report import FileReport
from judging.formats.kind import KINDS
from judging.management.base import StepCommand, at_least_1, count, some
from judging.steps.check import check_files


class Command(StepCommand):
    help = (
        "Look through any file or folder without importing it: a collection (BEIR folder or zip, Parquet folder), "
        "qrels, runs, topics, judgments. Says what it holds and what is wrong; the exit status is 1 on errors."
    )
    example = "check_files runs/bm25.txt --against nfcorpus"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH")
        parser.add_argument(
            "--against", metavar="COLLECTION",
            help="the collection whose ids the file should name: one that is loaded, or a folder or zip",
        )  # fmt: skip
        parser.add_argument("--kind", choices=KINDS, help="what a single file is, where nothing tells")
        parser.add_argument(
            "--show", type=at_least_1, default=20, metavar="N", help="how many errors to show (default: 20)"
        )

    def run(self, **options: Any) -> None:
        path: Path = options["path"]
        with self.bytes_bar("checked") as tell:
            report = check_files(
                path=path,
                kind=options["kind"],
                against=options["against"],
                keep=options["show"],
                progress=lambda more: tell(more, None),
            )
        self.say(f"{path}: {report.kind}")
        for file in report.files:
            self.say(*_lines(file))
        for problem in report.problems:
            self.say(f"error: {problem.message}")
        if report.errors > len(report.problems):
            self.say(f"and {report.errors - len(report.problems):,} more errors")
        if not report.ok:
            raise CommandError(f"{path}: {count(report.errors, 'error')}.")
        self.say("no errors")


def _lines(file: FileReport) -> Iterator[str]:
    yield f"{file.file}: {file.kind}, {count(file.records, 'record')}" + (
        f" of {count(file.queries, 'query', 'queries')}" if file.queries and file.kind != "queries" else ""
    )
    if file.encoding:
        yield f"  {file.encoding}"
    if file.grades:
        yield f"  grades: {_counts(file.grades)}"
    if file.outcomes:
        yield f"  outcomes: {_counts(file.outcomes)}"
    if file.judges:
        yield f"  judges: {_counts(file.judges)}"
    if file.empty:
        yield f"  {len(file.empty):,} empty: {some(file.empty)}"
    if file.repeated_texts:
        yield f"  {count(file.repeated_texts, 'document')} with a text that an earlier one has"
    if file.rank_disagreements:
        yield f"  {count(file.rank_disagreements, 'line')} whose rank says other than the score; the score decides"
    if file.without_document:
        yield f"  {count(len(file.without_document), 'id')} without document: {some(file.without_document)}"
    if file.without_query:
        yield f"  {count(len(file.without_query), 'id')} without query: {some(file.without_query)}"
    for warning in file.warnings:
        yield f"  warning: {warning}"


def _counts(counts: Counter[Any]) -> str:
    return ", ".join(f"{what} × {number:,}" for what, number in sorted(counts.items()))
