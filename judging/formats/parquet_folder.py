"""Collections in the layout of Hugging Face's MTEB data sets: folders of Parquet shards.

``corpus/`` (``_id`` or ``id``, ``title``, ``text``), ``queries/`` (``_id`` or ``id``, ``text``) and the qrels in
``default/``, ``qrels/`` or ``data/`` (``query-id``, ``corpus-id``, ``score``), shards named
``<split>-00000-of-00001.parquet`` or ``<split>/0000.parquet``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from pathlib import Path, PurePath
from typing import Any, TypeVar

from judging.errors import FileError, UserError
from judging.formats.beir import QRELS_HEADER
from judging.formats.checksum import checksum
from judging.formats.fields import Warn, holds_nul, json_grade, json_id, json_text, shown, unique_pairs
from judging.formats.ids import SeenIds
from judging.formats.lines import OnError, Progress, refuse
from judging.formats.parquet import column_names, read_rows
from judging.formats.records import Document, Qrel, Query

Record = TypeVar("Record", Document, Query)

EXPECTED = "corpus/*.parquet, queries/*.parquet and default/<split>-*.parquet"
_QRELS = ("default", "qrels", "data")
_SEARCHES = 20  # for the first of two equal ids, which reads the shards again
_SHARD = re.compile(r"(?P<split>.+?)(?:-[0-9]+-of-[0-9]+(?:-[0-9a-f]+)?)?\.parquet")
_NUMBERED = re.compile(r"[0-9]+\.parquet")


class ParquetFolder:
    """As ``BeirFolder``; a line is a row of its shard, counted from 1.

    UserError where the shards of the corpus or the queries are missing.
    """

    def __init__(self, path: str | PurePath) -> None:
        self.path = Path(path)
        self._corpus = self._shards("corpus")
        self._queries = self._shards("queries")
        self._splits: dict[str, list[Path]] = {}
        folder = next((name for name in _QRELS if _parquet_in(self.path / name)), _QRELS[0])
        for shard in _parquet_in(self.path / folder):
            self._splits.setdefault(_split_of(shard), []).append(shard)

    def _shards(self, part: str) -> list[Path]:
        shards = _parquet_in(self.path / part)
        if not shards:
            raise UserError(f"{self.path}: expected {EXPECTED}; found no Parquet file in {part}/.")
        return shards

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def splits(self) -> list[str]:
        """The splits of the qrels, sorted."""
        return sorted(self._splits)

    def label(self, split: str) -> str:
        """What messages call the qrels of a split."""
        return f"split {split}"

    def documents(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Document]:
        return read_documents(self._corpus, progress=progress, on_error=on_error)

    def queries(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Query]:
        return read_queries(self._queries, progress=progress, on_error=on_error)

    def qrels(
        self, split: str, *, warn: Warn, progress: Progress | None = None, on_error: OnError = refuse
    ) -> Iterator[Qrel]:
        """The judgments of one split, rows counted through all its shards; UserError where there is no such split."""
        return read_qrels(self._split(split), warn=warn, progress=progress, on_error=on_error)

    def _split(self, split: str) -> list[Path]:
        if split not in self._splits:
            there = ", ".join(self.splits()) or f"none: {', '.join(_QRELS)} hold no .parquet file"
            raise UserError(f"{self.path}: expected the name of a split, found {shown(split)}. Splits: {there}.")
        return self._splits[split]

    def _files(self, splits: Iterable[str]) -> list[Path]:
        return [*self._corpus, *self._queries, *(shard for split in splits for shard in self._split(split))]

    def corpus_size(self) -> int:
        """Bytes that ``progress`` hears of while the documents are read."""
        return sum(file.stat().st_size for file in self._corpus)

    def checksums(self, splits: Iterable[str]) -> dict[str, str]:
        """SHA-256 of every shard of the corpus, the queries and these splits, by its name in the folder."""
        return {file.relative_to(self.path).as_posix(): checksum(file) for file in self._files(splits)}


def is_parquet_folder(path: Path) -> bool:
    return bool(_parquet_in(path / "corpus"))


def _parquet_in(folder: Path) -> list[Path]:
    try:
        found = [path for pattern in ("*.parquet", "*/*.parquet") for path in folder.glob(pattern)]
    except OSError as error:
        raise FileError(folder, None, f"expected a readable folder, found: {error.strerror}.") from None
    return sorted(path for path in found if not path.name.startswith(".") and not path.is_dir())


def _split_of(shard: Path) -> str:
    if _NUMBERED.fullmatch(shard.name):
        return shard.parent.name
    found = _SHARD.fullmatch(shard.name)
    return found["split"] if found else shard.stem


def read_documents(
    shards: Sequence[Path], *, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Document]:
    """The documents of the shards, one after another. Columns beside ids and texts are kept in the metadata."""
    return _records(shards, _document, progress, on_error)


def read_queries(
    shards: Sequence[Path], *, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Query]:
    """The queries of the shards; else as ``read_documents``."""
    return _records(shards, _query, progress, on_error)


def read_qrels(
    shards: Sequence[Path], *, warn: Warn, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Qrel]:
    """The judgments of the shards, each pair once; lines are rows counted through all of them."""
    name = str(shards[0] if len(shards) == 1 else shards[0].with_name("*.parquet"))
    qrels = _qrels(shards, progress, on_error)
    return unique_pairs(qrels, lambda qrel: qrel.grade, name=name, warn=warn, on_error=on_error)


def _records(
    shards: Sequence[Path],
    record: Callable[[dict[str, Any], str, str, int], Record],
    progress: Progress | None,
    on_error: OnError,
) -> Iterator[Record]:
    """What ``record`` makes of the columns, id, file and number of each row; no id twice in all shards."""
    seen = SeenIds()
    repeated = 0
    for shard in shards:
        name = str(shard)
        key = "_id" if "_id" in column_names(shard) else "id"
        for line, row in read_rows(shard, progress=progress, on_error=on_error):
            try:
                if holds_nul(row):
                    raise FileError(name, line, "expected text, found a NUL character; remove it.")
                identifier = json_id(row.pop(key, None), key, name, line)
                if seen.add(identifier):
                    repeated += 1
                    _refuse_repeated(shards if repeated <= _SEARCHES else [], identifier, name, line)
                found = record(row, identifier, name, line)
            except FileError as error:
                on_error(error)
                continue
            yield found


def _refuse_repeated(shards: Sequence[Path], identifier: str, name: str, line: int) -> None:
    """FileError that names both rows; none where only the hashes of two ids were equal."""
    where = "before"
    for shard in shards:
        key = "_id" if "_id" in column_names(shard) else "id"
        rows = read_rows(shard, columns=[key], on_error=_pass_over)
        found = next((row for row, values in rows if str(values[key]) == identifier), None)
        if found is not None:
            if (str(shard), found) == (name, line):
                return
            where = f"at {shard}:{found}"
            break
    problem = f"expected every id once, found {shown(identifier)} here and {where}; remove one of them."
    raise FileError(name, line, problem)


def _pass_over(error: FileError) -> None:
    """It was reported when the row was read the first time."""


def _document(row: dict[str, Any], identifier: str, name: str, line: int) -> Document:
    title = json_text(row.pop("title", None), "title", name, line)
    text = json_text(row.pop("text", None), "text", name, line)
    return Document(identifier, title, text, _metadata(row, name, line))


def _query(row: dict[str, Any], identifier: str, name: str, line: int) -> Query:
    return Query(identifier, json_text(row.pop("text", None), "text", name, line), _metadata(row, name, line))


def _metadata(row: dict[str, Any], name: str, line: int) -> dict[str, Any]:
    """The other columns, without those that are null; ``metadata`` itself, where it is a struct, as its fields."""
    inner = row.pop("metadata", None)
    values = {**row, **inner} if isinstance(inner, dict) else {**row, "metadata": inner}
    return {key: _json(value, name, line) for key, value in values.items() if value is not None}


def _json(value: Any, name: str, line: int) -> Any:
    """The value as JSON has it: times and decimal numbers as text, what is no number as null."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _json(item, name, line) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, name, line) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise FileError(name, line, f"expected text, numbers or lists as metadata, found {shown(value)}.")


def _qrels(shards: Sequence[Path], progress: Progress | None, on_error: OnError) -> Iterator[Qrel]:
    before = 0
    for shard in shards:
        name, line = str(shard), 0
        query, document, grade = _qrels_columns(shard)
        for line, row in read_rows(shard, columns=[query, document, grade], progress=progress, on_error=on_error):
            try:
                if holds_nul(row):
                    raise FileError(name, line, "expected text, found a NUL character; remove it.")
                qrel = Qrel(
                    json_id(row[query], query, name, line),
                    json_id(row[document], document, name, line),
                    json_grade(row[grade], name, line),
                    before + line,
                )
            except FileError as error:
                on_error(error)
                continue
            yield qrel
        before += line


def _qrels_columns(shard: Path) -> tuple[str, str, str]:
    """The names of the columns of query, document and grade."""
    names = column_names(shard)
    found = [next((name for name in names if name.lower().replace("_", "-") in known), "") for known in QRELS_HEADER]
    if not all(found):
        problem = f"expected the columns query-id, corpus-id and score, found {', '.join(names) or 'none'}"
        raise FileError(shard, None, f"{problem}; rename the columns.")
    return found[0], found[1], found[2]
