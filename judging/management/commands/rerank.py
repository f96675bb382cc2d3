from argparse import ArgumentParser
from typing import Any

from judging.engines.rerank import DEFAULT_CROSS_ENCODER, EMBEDDED
from judging.management.base import StepCommand, at_least_1, count
from judging.steps import lookup
from judging.steps.rerank import rerank


class Command(StepCommand):
    help = (
        "Rescore the top of a run with a model. Any sequence-classification cross-encoder or sentence encoder by hub "
        f"id or folder; `{EMBEDDED}` is the sentence encoder that is installed along and needs no download. "
        "An interrupted run goes on where it stopped."
    )
    example = "rerank nfcorpus --run bm25 --model embedded"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("--run", default="bm25", dest="parent", help="the run to rescore (default: bm25)")
        parser.add_argument(
            "--model",
            default=DEFAULT_CROSS_ENCODER,
            help=f"hub id, folder or `{EMBEDDED}` (default: {DEFAULT_CROSS_ENCODER})",
        )
        parser.add_argument("--top", type=at_least_1, default=100, help="hits a query to rescore (default: 100)")
        parser.add_argument("--name", help="name of the run (default: the published name of the model)")
        parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "auto"])
        parser.add_argument("--replace", action="store_true", help="make the run of that name anew")

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        report = rerank(
            collection=collection,
            parent=lookup.run(collection, options["parent"]),
            model=options["model"],
            top=options["top"],
            name=options["name"],
            dtype=options["dtype"],
            replace=options["replace"],
            track=self.track,
        )
        note = ""
        if report.unchanged:
            note = " (made before; nothing was changed)"
        elif report.resumed_after:
            note = f" ({report.resumed_after:,} of them by an earlier call)"
        self.say(
            f"{report.run.name}: {count(report.queries, 'query', 'queries')} reranked{note}",
            f"next: python manage.py judge_rate {collection.slug}",
        )
