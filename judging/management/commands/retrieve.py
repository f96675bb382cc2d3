from argparse import ArgumentParser
from typing import Any

from judging.engines.search import ENGINES
from judging.management.base import StepCommand, at_least_1, count, some
from judging.steps import lookup
from judging.steps.search import retrieve


class Command(StepCommand):
    help = (
        "Retrieve the best documents of every query with BM25 (best_fields over title and text, tie_breaker 0.5) "
        "and keep them as a run."
    )
    example = "retrieve nfcorpus --top 100"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("--top", type=at_least_1, default=100, help="documents a query (default: 100)")
        parser.add_argument("--name", default="bm25", help="name of the run (default: bm25)")
        parser.add_argument("--engine", choices=ENGINES, help="default: the setting SEARCH_ENGINE")
        parser.add_argument(
            "--distinct-terms",
            action="store_true",
            help="a term that a query repeats counts once, not as often as it occurs: for queries as long as documents",
        )
        parser.add_argument("--replace", action="store_true", help="make the run of that name anew")

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        report = retrieve(
            collection=collection,
            top=options["top"],
            name=options["name"],
            kind=options["engine"],
            distinct_terms=options["distinct_terms"],
            replace=options["replace"],
            track=self.track,
        )
        same = " (made before; nothing was changed)" if report.unchanged else ""
        self.say(f"{report.run.name}: {count(report.hits, 'hit')} of {count(report.queries, 'query', 'queries')}{same}")
        if report.without_hits:
            self.say(f"  {len(report.without_hits):,} queries without a hit: {some(report.without_hits)}")
        self.say(f"next: python manage.py rerank {collection.slug} --run {report.run.name}")
