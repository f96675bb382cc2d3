from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db.models import Count

from judging.errors import FileError, UserError
from judging.management.base import StepCommand, at_least_1, count
from judging.models import Collection, Pool, TrainingPair
from judging.steps import lookup, training
from judging.steps.drawing import ByUncertainty
from judging.steps.pooling import PoolOptions, open_pool


class Command(StepCommand):
    help = "Queue the holes of runs, their unjudged documents, for people and LLMs to judge."
    example = "open_pool nfcorpus --run bm25 --run embedded --depth 5 --queries 100 --seed 0"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument(
            "--run", action="append", required=True, dest="runs", metavar="RUN", help="may be given several times"
        )
        parser.add_argument("--depth", type=at_least_1, default=5, help="see --mode (default: 5)")
        parser.add_argument(
            "--mode", choices=Pool.Mode.values, default=Pool.Mode.FIRST_UNJUDGED.value,
            help="first-unjudged: walk each ranking down to its DEPTH-th unjudged document (default); "
            "holes: the unjudged documents among the first DEPTH",
        )  # fmt: skip
        parser.add_argument("--queries", type=at_least_1, help="how many queries to draw at random (default: all)")
        parser.add_argument("--seed", type=int, default=0, help="of that draw (default: 0)")
        parser.add_argument("--people", type=at_least_1, default=1, help="people who judge each pair (default: 1)")
        parser.add_argument("--name", help="name of the pool (default: COLLECTION holes)")
        parser.add_argument("--guidelines", type=Path, metavar="FILE", help="Markdown shown to annotators")
        parser.add_argument(
            "--hide-known", action="store_true", help="do not let annotators open the known relevant document"
        )
        parser.add_argument(
            "--training", type=Path, metavar="FILE",
            help="begin with pairs of known grade: TSV or JSON lines of query, document, grade, explanation",
        )  # fmt: skip
        parser.add_argument(
            "--probe-share", type=float, default=0.0, metavar="SHARE",
            help="share of their own answers, 0 to 1, that each person is asked again later (default: 0)",
        )  # fmt: skip
        parser.add_argument(
            "--reveal", action="store_true", help="show annotators what LLMs said of a pair after they have judged it"
        )
        parser.add_argument(
            "--uncertain", metavar="JUDGE",
            help="draw --budget holes by this LLM's uncertainty; estimates weigh each by its chance of being drawn",
        )  # fmt: skip
        parser.add_argument("--budget", type=at_least_1, metavar="PAIRS", help="how many pairs --uncertain draws")
        parser.add_argument(
            "--random-share", type=float, default=0.3, metavar="SHARE",
            help="share of the budget drawn from all holes alike (default: 0.3)",
        )  # fmt: skip

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        pool = open_pool(
            collection=collection,
            runs=[lookup.run(collection, name) for name in options["runs"]],
            name=options["name"],
            options=PoolOptions(
                depth=options["depth"],
                mode=options["mode"],
                queries=options["queries"],
                seed=options["seed"],
                people=options["people"],
                guidelines=_read(options["guidelines"]),
                show_known=not options["hide_known"],
                reveal=options["reveal"],
                probe_share=options["probe_share"],
                training=_training(collection, options["training"]),
                uncertain=_uncertain(options["uncertain"], options["budget"], options["random_share"]),
            ),
        )
        pairs, queries = pool.pairs.count(), pool.pairs.values("query").distinct().count()
        self.say(
            f"{pool.slug}: {count(pairs, 'pair')} of {count(queries, 'query', 'queries')} to judge, "
            f"by {'one person' if pool.people == 1 else f'{pool.people} people'} each"
        )
        if without := pool.queries_sampled - queries:
            self.say(f"  {count(without, 'query', 'queries')} of the sample without such a document")
        if trained := pool.training.count():
            self.say(f"  before these, {count(trained, 'training pair')}")
        if pool.probe_share:
            self.say(f"  each person is asked {pool.probe_share:.0%} of their own answers again")
        for stratum, drawn in _strata(pool):
            self.say(f"  drawn for {stratum}: {drawn:,}")
        for reason, number in pool.left_out.items():
            self.say(f"  passed over, {reason}: {number:,}")
        self.say(f"next: python manage.py prefill_llm {pool.slug}, and people in the browser")


def _strata(pool: Pool) -> list[tuple[str, int]]:
    drawn = pool.pairs.exclude(stratum="").order_by("stratum").values("stratum").annotate(count=Count("pk"))
    return list(drawn.values_list("stratum", "count"))


def _training(collection: Collection, path: Path | None) -> list[TrainingPair]:
    return [] if path is None else training.read(collection=collection, path=path)


def _uncertain(judge: str | None, budget: int | None, random_share: float) -> ByUncertainty | None:
    if (judge is None) != (budget is None):
        raise UserError("--uncertain names the LLM and --budget how many pairs to draw: give both or neither.")
    return None if judge is None or budget is None else ByUncertainty(lookup.llm_judge(judge), budget, random_share)


def _read(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, None, f"expected a Markdown file in UTF-8; {error}.") from None
