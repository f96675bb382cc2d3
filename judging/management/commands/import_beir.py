from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from judging.errors import UserError
from judging.management.importing import ImportCommand
from judging.steps.download import fetch_beir
from judging.steps.import_collection import import_beir


class Command(ImportCommand):
    help = (
        "Load a collection from a BEIR folder or zip: corpus.jsonl, queries.jsonl, qrels/<split>.tsv; "
        "plain, .gz or .zst; or from a Parquet folder as Hugging Face's MTEB data sets are. "
        "All or nothing: a bad line is named and nothing is kept."
    )
    example = "import_beir datasets/nfcorpus.zip --split test"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="DIR_OR_ZIP", nargs="?")
        parser.add_argument(
            "--download", metavar="NAME", help="instead of a path: fetch this public BEIR data set, such as nfcorpus"
        )
        parser.add_argument(
            "--mirror", metavar="ADDRESS", help="with --download: a folder on another server that holds the same zips"
        )
        parser.add_argument(
            "--split", action="append", default=[], metavar="SPLIT",
            help="qrels file to take, may be given several times (default: test, else all there are)",
        )  # fmt: skip
        self.add_import_arguments(parser)

    def run(self, **options: Any) -> None:
        how = self.import_options(options)
        how["splits"] = options["split"]
        self.describe(import_beir(path=self._path(options), **how))

    def _path(self, options: dict[str, Any]) -> Path:
        path: Path | None = options["path"]
        name: str | None = options["download"]
        if path and name:
            raise UserError(f"expected a path or --download, found both: {path} and {name}. Leave one of them out.")
        if options["mirror"] and not name:
            raise UserError("--mirror says where to download from: give --download NAME with it.")
        if path:
            return path
        if not name:
            raise UserError("expected a folder or zip, or --download NAME; found neither.")
        with self.bytes_bar(f"{name}.zip") as on_bytes:
            return fetch_beir(name=name, on_bytes=on_bytes, mirror=options["mirror"])
