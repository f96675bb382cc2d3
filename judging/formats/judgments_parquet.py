"""Judgments as Parquet: one typed column a value, as data frames read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from judging.errors import FileError
from judging.formats.fields import holds_nul
from judging.formats.judgment_rows import row_of
from judging.formats.lines import File, OnError, Progress, name_of, refuse
from judging.formats.parquet import read_rows
from judging.formats.pieces import Pieces
from judging.formats.records import JudgmentLine

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 10_000


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, time = pa.string(), pa.timestamp("us", "UTC")
    return pa.schema(
        [
            pa.field("query", text, nullable=False),
            pa.field("document", text, nullable=False),
            pa.field("outcome", text, nullable=False),
            pa.field("grade", pa.int16()),
            pa.field("probabilities", pa.map_(pa.int16(), pa.float64())),
            pa.field("raw", text, nullable=False),
            pa.field("comment", text, nullable=False),
            pa.field("seconds", pa.float64()),
            pa.field("assisted", pa.bool_(), nullable=False),
            pa.field("truncated", pa.bool_(), nullable=False),
            pa.field("prompt_tokens", pa.int32()),
            pa.field("completion_tokens", pa.int32()),
            pa.field("judge", text, nullable=False),
            pa.field("kind", text, nullable=False),
            pa.field("fingerprint", text, nullable=False),
            pa.field("created_at", time),
            pa.field("updated_at", time),
        ]
    )


def parquet_pieces(lines: Iterable[JudgmentLine]) -> Iterator[bytes]:
    """The bytes of a Parquet file of the judgments in the order given, 10,000 a row group; a piece a row group."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = _schema()
    rows = iter(lines)
    pieces = Pieces()
    with parquet.ParquetWriter(pieces, schema, compression="zstd") as writer:
        while chunk := [_row(line) for line in islice(rows, _ROWS)]:
            writer.write_table(pa.Table.from_pylist(chunk, schema))
            yield pieces.take()
    yield pieces.take()


def _row(line: JudgmentLine) -> dict[str, Any]:
    row = row_of(line)
    if line.probabilities is not None:
        row["probabilities"] = sorted(line.probabilities.items())
    return row


def parquet_rows(
    file: File, *, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row from 1, values by the name of the column); FileError for a text that holds a NUL."""
    name = name_of(file, name)
    for line, row in read_rows(file, name=name, progress=progress, on_error=on_error):
        if holds_nul(row):
            on_error(FileError(name, line, "expected text, found a NUL character; remove it."))
            continue
        row["probabilities"] = _mapping(row.get("probabilities"))
        yield line, row


def _mapping(value: Any) -> Any:
    """A map, which pyarrow gives as pairs, or a struct of grades; else the value, for the row's check to refuse."""
    if isinstance(value, dict):
        return {grade: probability for grade, probability in value.items() if probability is not None}
    if isinstance(value, list) and all(isinstance(pair, tuple) for pair in value):
        pairs = dict(value)
        return pairs if len(pairs) == len(value) else value
    return value
