from argparse import ArgumentParser
from typing import Any

from judging.management.base import StepCommand
from judging.steps import lookup
from judging.steps.delete import collection_contents, delete_collection


class Command(StepCommand):
    help = (
        "Delete a collection with its corpus, queries, runs, pools and every judgment of them, people's too; export "
        "first what is to be kept. Without --yes it only says what would go."
    )
    example = "delete_collection nfcorpus --yes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection")
        parser.add_argument("--yes", action="store_true", help="delete it")

    def run(self, **options: Any) -> None:
        collection = lookup.collection(options["collection"])
        goes = collection_contents(collection)
        if options["yes"]:
            delete_collection(collection=collection)
        self.say(
            f"{collection.slug} {'is deleted' if options['yes'] else 'would be deleted'}:",
            *(f"  {number:,} {what}" for what, number in goes.items()),
        )
        if not options["yes"]:
            self.say("Nothing was deleted; give --yes to delete it.")
