"""One file of a collection on its own, read whatever its form: Parquet by its name, all else by its first line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from judging.formats import beir, parquet_folder
from judging.formats.fields import Warn
from judging.formats.kind import is_parquet
from judging.formats.lines import OnError, Progress, plain_name, read_raw_lines, refuse
from judging.formats.qrels import peek, read_any_qrels
from judging.formats.records import Document, Qrel, Query
from judging.formats.topics import read_topics


def documents_of(path: Path, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Document]:
    """The documents of a ``corpus.jsonl`` or of a Parquet shard."""
    if is_parquet(path):
        return parquet_folder.read_documents([path], progress=progress, on_error=on_error)
    return beir.read_documents(path, progress=progress, on_error=on_error)


def queries_of(path: Path, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Query]:
    """The queries of a ``queries.jsonl``, of a Parquet shard or of TREC topics of either form."""
    if is_parquet(path):
        return parquet_folder.read_queries([path], progress=progress, on_error=on_error)
    read = beir.read_queries if _is_json(path) else read_topics
    return read(path, progress=progress, on_error=on_error)


def qrels_of(path: Path, *, warn: Warn, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Qrel]:
    """The judgments of a BEIR TSV, of TREC qrels or of a Parquet shard, each pair once."""
    if is_parquet(path):
        return parquet_folder.read_qrels([path], warn=warn, progress=progress, on_error=on_error)
    return read_any_qrels(path, warn=warn, progress=progress, on_error=on_error)


def _is_json(path: Path) -> bool:
    if plain_name(path).lower().endswith((".jsonl", ".json", ".ndjson")):
        return True
    first, _ = peek(read_raw_lines(path, on_error=lambda _: None))
    return first is not None and first[1].lstrip().startswith(b"{")
