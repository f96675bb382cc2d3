from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.management.importing import ImportCommand
from judging.steps.import_collection import import_trec


class Command(ImportCommand):
    help = (
        "Load a collection from files of its own each, as TREC publishes them: documents as JSON lines or Parquet, "
        "topics in the <top> form, as lines of id, tab and text, or as JSON lines, and qrels of TREC's or BEIR's form; "
        "plain, .gz or .zst. Title, description and narrative of a topic are kept. All or nothing."
    )
    example = "import_trec corpus.jsonl.gz topics.txt qrels.txt --name robust04"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("corpus", type=Path, metavar="CORPUS")
        parser.add_argument("topics", type=Path, metavar="TOPICS")
        parser.add_argument(
            "qrels", type=Path, nargs="*", metavar="QRELS", help="none: all topics are taken, and nothing is judged yet"
        )
        self.add_import_arguments(parser)

    def run(self, **options: Any) -> None:
        how = self.import_options(options)
        files = {part: options[part] for part in ("corpus", "topics", "qrels")}
        self.describe(import_trec(**files, **how))
