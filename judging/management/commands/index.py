from argparse import ArgumentParser
from typing import Any

from judging.engines.search import ENGINES
from judging.management.base import StepCommand, count
from judging.steps import lookup
from judging.steps.search import index


class Command(StepCommand):
    help = "Index the corpus of a collection for BM25; does nothing where its index is there already."
    example = "index nfcorpus"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("--engine", choices=ENGINES, help="default: the setting SEARCH_ENGINE")
        parser.add_argument("--rebuild", action="store_true", help="index anew even so")

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        report = index(collection=collection, kind=options["engine"], rebuild=options["rebuild"], track=self.track)
        state = "is there already" if report.unchanged else "is built"
        self.say(
            f"{collection.slug}: the index of {count(report.documents, 'document')} {state}",
            f"next: python manage.py retrieve {collection.slug}",
        )
