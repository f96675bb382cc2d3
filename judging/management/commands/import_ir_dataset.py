from argparse import ArgumentParser
from typing import Any

from judging.management.importing import ImportCommand
from judging.steps.import_collection import import_ir_dataset


class Command(ImportCommand):
    help = (
        "Load a collection from the package ir_datasets, by the id that its catalogue gives; "
        "needs the package: pip install ir-datasets."
    )
    example = "import_ir_dataset beir/scifact/test"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("identifier", metavar="ID", help="as listed at https://ir-datasets.com")
        self.add_import_arguments(parser)

    def run(self, **options: Any) -> None:
        how = self.import_options(options)
        self.describe(import_ir_dataset(identifier=options["identifier"], **how))
