"""The files of a test collection, whatever their layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Protocol

from judging.formats.beir import BeirFolder
from judging.formats.fields import Warn
from judging.formats.lines import OnError, Progress, refuse
from judging.formats.parquet_folder import ParquetFolder, is_parquet_folder
from judging.formats.records import Document, Qrel, Query
from judging.formats.source import FolderSource


class CollectionFiles(Protocol):
    """What ``BeirFolder``, ``ParquetFolder``, ``TrecFiles`` and ``IrDataset`` have in common."""

    @property
    def name(self) -> str: ...
    def splits(self) -> list[str]: ...
    def label(self, split: str) -> str: ...
    def documents(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Document]: ...
    def queries(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Query]: ...
    def qrels(
        self, split: str, *, warn: Warn, progress: Progress | None = None, on_error: OnError = refuse
    ) -> Iterator[Qrel]: ...
    def corpus_size(self) -> int: ...
    def checksums(self, splits: Iterable[str]) -> dict[str, str]: ...


def open_collection_files(path: str | PurePath) -> CollectionFiles:
    """The collection at ``path``: a folder of Parquet shards where ``corpus/`` holds some and there is no
    ``corpus.jsonl``, else a BEIR folder or zip.

    Raises: UserError that says what was expected and found for anything else.
    """
    folder = Path(path)
    if folder.is_dir() and is_parquet_folder(folder):
        names = FolderSource(folder).names()
        if not any(name.startswith("corpus.jsonl") for name in names):
            return ParquetFolder(folder)
    return BeirFolder(path)
