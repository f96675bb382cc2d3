from argparse import ArgumentParser
from typing import Any

from judging.management.base import StepCommand
from judging.steps import lookup
from judging.steps.delete import delete_pool, pool_contents


class Command(StepCommand):
    help = (
        "Delete a pool with its pairs, slots and invitations. What people and LLMs said of the pairs is kept, for "
        "judgments are of queries and documents. Without --yes it only says what would go."
    )
    example = "delete_pool nfcorpus-holes --yes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--yes", action="store_true", help="delete it")

    def run(self, **options: Any) -> None:
        pool = lookup.pool(options["pool"])
        goes, stays = pool_contents(pool)
        if options["yes"]:
            delete_pool(pool=pool)
        self.say(
            f"{pool.slug} {'is deleted' if options['yes'] else 'would be deleted'}:",
            *(f"  {number:,} {what}" for what, number in goes.items()),
            "kept:" if options["yes"] else "would be kept:",
            *(f"  {number:,} {what}" for what, number in stays.items()),
        )
        if not options["yes"]:
            self.say("Nothing was deleted; give --yes to delete it.")
