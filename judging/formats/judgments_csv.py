"""Judgments as CSV, for spreadsheets.

RFC 4180 with a header line: columns parted by commas, quotes doubled, lines ended by CR LF; line ends inside a cell are
kept. A text that a spreadsheet would run as a formula is written with an apostrophe before it, and read without.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import orjson

from judging.errors import FileError
from judging.formats.fields import shown, whole_number
from judging.formats.judgment_rows import KEYS, row_of
from judging.formats.lines import File, OnError, Progress, name_of, read_raw_lines, refuse
from judging.formats.records import JudgmentLine

_DELIMITERS = ",;\t"
_MEND = "quote cells with commas, quotes or line ends, and double the quotes inside"
_LONGEST_CELL = 1 << 27
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""How a cell begins that a spreadsheet runs, guarded or not: one more apostrophe is put on, and one is taken off.

Source: OWASP, CSV Injection.
"""

# The module has one limit for the whole process, and its own is below the length of real documents and answers.
csv.field_size_limit(_LONGEST_CELL)


def guarded(text: str) -> str:
    """The text as a spreadsheet shows it and does not run it; ``unguarded`` gives it back."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv_lines(lines: Iterable[JudgmentLine]) -> Iterator[bytes]:
    """A header and a record for each judgment, in the order given."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(KEYS)
    for line in lines:
        writer.writerow(map(_cell, row_of(line).values()))
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return orjson.dumps(value, option=orjson.OPT_UTC_Z).decode().strip('"')
    if isinstance(value, int | float):
        return repr(value)
    return orjson.dumps({str(grade): probability for grade, probability in sorted(value.items())}).decode()


class _Texts:
    """The lines as ``csv.reader`` takes them; tells at which line the record began that was read last."""

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._lines = iter(lines)
        self._is_new = True
        self.first = 0

    def __iter__(self) -> Iterator[str]:
        for number, raw in self._lines:
            if self._is_new:
                self.first, self._is_new = number, False
            yield raw.decode() + "\n"

    def begin(self) -> None:
        self._is_new = True


def csv_rows(
    file: File, *, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, values by the name of the column) of each record; a semicolon or a tab may part the columns as well.

    FileError for a header without ``query`` and ``document``, for quotes that do not close, for a record of other
    columns than the header, and for a value that cannot be what its column holds.
    """
    name = name_of(file, name)
    texts = _Texts(read_raw_lines(file, name=name, progress=progress, on_error=on_error, strip_cr=False))
    lines = iter(texts)
    first = next(lines, None)
    while first is not None and not first.strip():
        texts.begin()
        first = next(lines, None)
    if first is None:
        return
    try:
        delimiter, columns = _header(first, name, texts.first)
    except FileError as error:
        on_error(error)
        return
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        texts.begin()
        try:
            cells = next(reader, None)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(columns):
                problem = f"expected {len(columns)} columns as in the header, got {len(cells)}: {shown(cells)}"
                raise FileError(name, texts.first, f"{problem}; mend the line.")
            row = _row(columns, cells, name, texts.first)
        except csv.Error as error:
            on_error(FileError(name, texts.first, f"expected CSV (RFC 4180), found: {error}; {_MEND}."))
            continue
        except FileError as error:
            on_error(error)
            continue
        yield texts.first, row


def _header(text: str, name: str, line: int) -> tuple[str, list[str]]:
    """What parts the columns, and their names."""
    for delimiter in _DELIMITERS:
        try:
            columns = [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter, strict=True))]
        except csv.Error:
            continue
        if {"query", "document"} <= set(columns) and len(set(columns)) == len(columns):
            return delimiter, columns
    problem = f"expected a header line with query, document and others of {', '.join(KEYS)}; found {shown(text)}"
    raise FileError(name, line, f"{problem}; put it first.")


def _row(columns: list[str], cells: list[str], name: str, line: int) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        text = unguarded(cell)
        if column in _TYPED:
            row[column] = _TYPED[column](text.strip(), column, name, line) if text.strip() else None
        else:
            row[column] = text
    return row


def _grade(text: str, column: str, name: str, line: int) -> int:
    grade = whole_number(text.encode())
    if grade is None:
        raise FileError(
            name, line, f'expected a whole number as "{column}", found {shown(text)}; mend it, or leave it out.'
        )
    return grade


def _number(text: str, column: str, name: str, line: int) -> float:
    try:
        if "_" not in text:
            return float(text)
    except ValueError:
        pass
    raise FileError(name, line, f'expected as "{column}" a number, found {shown(text)}; mend it, or leave it out.')


def _flag(text: str, column: str, name: str, line: int) -> bool:
    flag = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
    if flag is None:
        raise FileError(
            name, line, f'expected true or false as "{column}", found {shown(text)}; mend it, or leave it out.'
        )
    return flag


def _object(text: str, column: str, name: str, line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        problem = (
            f'expected as "{column}" a JSON object of grades and numbers from 0 to 1, found {shown(text)}; mend it.'
        )
        raise FileError(name, line, problem) from None


def _text(text: str, column: str, name: str, line: int) -> str:  # noqa: ARG001 (one signature for all)
    return text


_TYPED = {
    "outcome": _text,
    "grade": _grade,
    "probabilities": _object,
    "seconds": _number,
    "assisted": _flag,
    "truncated": _flag,
    "prompt_tokens": _grade,
    "completion_tokens": _grade,
    "created_at": _text,
    "updated_at": _text,
}
