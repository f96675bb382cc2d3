from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.management.base import StepCommand, count, some
from judging.steps import lookup
from judging.steps.import_run import import_run


class Command(StepCommand):
    help = (
        "Keep a TREC run file (query Q0 document rank score tag) as a run. The score decides the order: descending, "
        "ties by document id descending."
    )
    example = "import_run dl19 runs/BM25.txt.gz --name BM25"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", help="name of the run (default: that of the file)")
        parser.add_argument("--replace", action="store_true", help="make the run of that name anew")

    def run(self, **options: Any) -> None:
        report = import_run(
            collection=lookup.collection(options["collection"]),
            path=options["file"],
            name=options["name"],
            replace=options["replace"],
            meter=self.meter,
        )
        same = " (the same file as before; nothing was changed)" if report.unchanged else ""
        self.say(f"{report.run.name}: {count(report.hits, 'hit')} of {count(report.queries, 'query', 'queries')}{same}")
        if report.other_queries:
            others = count(len(report.other_queries), "query", "queries")
            self.say(f"  {others} that the collection lacks left out: {some(report.other_queries)}")
        if report.missing_documents:
            self.say(f"  {len(report.missing_documents):,} ids without document: {some(report.missing_documents)}")
        if report.rank_disagreements:
            lines = count(report.rank_disagreements, "line")
            self.say(f"  by score and by rank column, {lines} stand in different places; the score was taken")
