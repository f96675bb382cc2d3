"""A whole collection written in BEIR's layout, into a folder or a zip: the same records give the same bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO

from judging.errors import UserError
from judging.formats.beir import write_documents, write_qrels, write_queries
from judging.formats.records import Document, Qrel, Query

Files = Mapping[str, Callable[[IO[bytes]], object]]
"""By the name of a file, what writes its bytes into a stream; names are relative and use ``/``."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


def beir_files(
    *, documents: Iterable[Document], queries: Iterable[Query], qrels: Mapping[str, Iterable[Qrel]]
) -> Files:
    """``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``, with all metadata.

    Documents and queries are written in the order given, as they come; qrels are sorted, split by split.
    """
    splits = {f"qrels/{split}.tsv": _qrels_writer(qrels[split]) for split in sorted(qrels)}
    return {
        "corpus.jsonl": lambda stream: write_documents(stream, documents),
        "queries.jsonl": lambda stream: write_queries(stream, queries),
        **splits,
    }


def _qrels_writer(qrels: Iterable[Qrel]) -> Callable[[IO[bytes]], object]:
    return lambda stream: write_qrels(stream, qrels)


def write_folder(folder: Path, files: Files) -> None:
    """Writes the files into a folder, which is made where it is missing. UserError where one is there already."""
    for name, write in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("xb") as stream:
                write(stream)
        except FileExistsError:
            raise UserError(
                f"{path}: expected a folder without such a file, found one; choose another folder."
            ) from None


def write_zip(stream: IO[bytes], files: Files, *, folder: str) -> None:
    """Writes the files as a zip, inside one ``folder`` as the official BEIR zips have it.

    No entry has a time of its own. The bytes depend on nothing but the content and the version of zlib. The stream
    need not be seekable, so a page can send the zip while it is written.
    """
    with zipfile.ZipFile(stream, "w") as archive:
        for name, write in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as target:
                write(target)
