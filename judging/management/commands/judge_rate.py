from argparse import ArgumentParser
from typing import Any

from judging.management.base import StepCommand, at_least_1, between, number, some
from judging.steps import lookup
from judging.steps.evaluate import scores


class Command(StepCommand):
    help = "Tell which share of each run's top k has an original judgment: judged@k."
    example = "judge_rate nfcorpus --k 10"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("--k", type=at_least_1, default=10, help="how deep to look (default: 10)")

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        measure = f"judged@{options['k']}"
        rows = scores(collection=collection, measures=[measure])
        self.table(
            ["run", measure, "95 % interval", "queries"],
            (
                [
                    row.run.name,
                    number(row.before[measure].mean),
                    between(row.before[measure].interval),
                    f"{row.before[measure].queries - len(row.before[measure].undefined):,}",
                ]
                for row in rows
            ),
        )
        for row in rows:
            if missing := row.before[measure].undefined:
                self.say(f"{row.run.name}: {len(missing):,} queries without a hit left out: {some(missing)}")
