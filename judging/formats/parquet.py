"""Rows of Parquet files, batch by batch. pyarrow is imported when the first file is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from judging.errors import FileError
from judging.formats.lines import File, OnError, Progress, name_of, open_file, refuse

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet as pq

_ROWS = 1_000
_BUFFER = 1 << 20


def read_rows(
    file: File,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
    on_error: OnError = refuse,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row from 1, values by the name of the column) of a Parquet file, of all ``columns`` unless given.

    Only a part of a row group is in memory at a time. FileError where the file is no Parquet, is cut short or damaged;
    the rows after such a place are not read, whatever ``on_error`` does.
    """
    name = name_of(file, name)
    if isinstance(file, str | PurePath):
        with open_file(file) as stream:
            yield from read_rows(stream, name=name, columns=columns, progress=progress, on_error=on_error)
        return
    batches = _batches(file, columns, progress)
    row = 1
    while True:
        try:
            rows = next(batches, None)
        except _errors() as error:
            on_error(
                FileError(name, row, f"expected an intact Parquet file, found: {_first_line(error)}. Fetch it again.")
            )
            return
        if rows is None:
            return
        yield from enumerate(rows, row)
        row += len(rows)


def column_names(file: File, *, name: str | None = None) -> list[str]:
    """The names of the columns; FileError where the file is no Parquet."""
    name = name_of(file, name)
    if isinstance(file, str | PurePath):
        with open_file(file) as stream:
            return column_names(stream, name=name)
    try:
        return list(_open(file).schema_arrow.names)
    except _errors() as error:
        problem = f"expected an intact Parquet file, found: {_first_line(error)}. Fetch it again."
        raise FileError(name, None, problem) from None


def _open(stream: Any) -> pq.ParquetFile:
    from pyarrow import parquet

    # Without a buffer the whole of a column of a row group would be read at once.
    return parquet.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False)


def _batches(stream: Any, columns: Sequence[str] | None, progress: Progress | None) -> Iterator[list[dict[str, Any]]]:
    size = stream.seek(0, 2)
    parquet = _open(stream)
    total, done, told = parquet.metadata.num_rows, 0, 0
    for batch in parquet.iter_batches(_ROWS, columns=columns, use_threads=False):
        batch.validate(full=True)
        yield _plain(batch).to_pylist()
        done += batch.num_rows
        if progress is not None:
            share = size * done // max(total, 1)
            progress(share - told)
            told = share


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with times in microseconds, which is what Python's hold."""
    import pyarrow as pa

    for index, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            micro = pa.timestamp("us", field.type.tz)
            batch = batch.set_column(index, field.with_type(micro), batch.column(index).cast(micro, safe=False))
    return batch


def _errors() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, KeyError, TypeError)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")[:200] or type(error).__name__
