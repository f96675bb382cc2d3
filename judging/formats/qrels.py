"""Qrels of either form, told apart by what stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from judging.errors import FileError
from judging.formats import beir, trec
from judging.formats.fields import Warn, shown
from judging.formats.lines import File, OnError, Progress, name_of, read_raw_lines, refuse
from judging.formats.records import Qrel

Lines = Iterable[tuple[int, bytes]]


def read_any_qrels(
    file: File, *, warn: Warn, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Qrel]:
    """The judgments of a BEIR TSV (3 columns) or of TREC qrels (4 columns); the first line decides which it is."""
    name = name_of(file, name)
    first, lines = peek(read_raw_lines(file, name=name, progress=progress, on_error=on_error))
    return parse_any_qrels(first, lines, name=name, warn=warn, on_error=on_error)


def parse_any_qrels(
    first: tuple[int, bytes] | None, lines: Lines, *, name: str, warn: Warn, on_error: OnError = refuse
) -> Iterator[Qrel]:
    """As ``read_any_qrels``, from lines that were read already, of which ``first`` is the first that is not blank."""
    if first is None:
        return iter(())
    line, raw = first
    columns = len(raw.split())
    if raw.count(b"\t") == 2 or columns == 3:
        return beir.parse_qrels(lines, name=name, warn=warn, on_error=on_error)
    if columns == 4:
        return trec.parse_qrels(lines, name=name, warn=warn, on_error=on_error)
    hint = " Six columns are a TREC run: import it as a run." if columns == 6 else ""
    hint = hint or " Part the columns by tabs, or name the file that holds qrels."
    hint = " This is Parquet data, let the name end in .parquet." if raw.startswith(b"PAR1") else hint
    problem = (
        "expected 3 columns (query, document, grade: BEIR) or 4 (query, 0, document, grade: TREC), "
        f"got {columns}: {shown(raw)}.{hint}"
    )
    on_error(FileError(name, line, problem))
    return iter(())


def peek(lines: Iterator[tuple[int, bytes]]) -> tuple[tuple[int, bytes] | None, Lines]:
    """The first line that is not blank, or None, and that line again with all that follow."""
    for line, raw in lines:
        if raw and not raw.isspace():
            return (line, raw), chain([(line, raw)], lines)
    return None, ()
