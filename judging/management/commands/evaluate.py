from argparse import ArgumentParser
from typing import Any

from judging.management.base import StepCommand, between, number
from judging.management.policy import add_policy_arguments, policy_of
from judging.steps import lookup
from judging.steps.evaluate import compare


class Command(StepCommand):
    help = "Measure every run under the original and under the augmented qrels."
    example = "evaluate nfcorpus --measures nDCG@10 judged@10"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument(
            "--measures", nargs="+", default=["nDCG@10", "judged@10"], metavar="MEASURE",
            help="as ir_measures names them, and judged@k (default: nDCG@10 judged@10)",
        )  # fmt: skip
        add_policy_arguments(parser)

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        result = compare(collection=collection, measures=options["measures"], policy=policy_of(options))
        self.say(f"{collection.slug}: {result.judged_before:,} original judgments, {result.judged_after:,} augmented")
        for name in result.measures:
            self.say("")
            self.table(
                [name, "original", "95 % interval", "augmented", "95 % interval"],
                (
                    [
                        row.run.name,
                        number(row.before[name].mean, 4),
                        between(row.before[name].interval),
                        number(row.after[name].mean, 4),
                        between(row.after[name].interval),
                    ]
                    for row in result.runs
                ),
            )
            self.say(f"Kendall's tau between the two orders of the runs: {number(result.tau[name])}")
