"""What the readers and writers share: ids, grades, JSON objects, columns, and pairs that stand in a file twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import orjson

from judging.errors import FileError, UserError
from judging.formats.ids import SeenPairs
from judging.formats.lines import OnError, refuse

Warn = Callable[[str], None]
"""Is handed what a person should know of a file that was read all the same."""

_HIGHEST_GRADE = 32_767
_MEND_GRADE = "map the grades to whole numbers, or remove the line"
_MEND_JSON = "mend the line, or give each object a line of its own (jq -c . OLD > NEW)"
_GRADES = {str(grade).encode(): grade for grade in range(-9, 10)}
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}(?:\.0*)?")


def shown(value: object) -> str:
    """A value from a file as an error shows it: quoted, on one line, cut at 60 characters."""
    if isinstance(value, bytes):
        value = value[:400].decode(errors="replace")
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def whole_number(field: bytes) -> int | None:
    """The whole number that a column holds (``1``, ``-2``, ``1.0``), or None."""
    field = field.strip()
    return int(field.partition(b".")[0]) if _WHOLE.fullmatch(field) else None


def parse_grade(field: bytes, name: str, line: int) -> int:
    """The grade in a column of a qrels file."""
    grade = _GRADES.get(field)
    if grade is None:
        grade = whole_number(field)
        if grade is None or abs(grade) > _HIGHEST_GRADE:
            raise FileError(name, line, f"expected a whole number as grade, found {shown(field)}; {_MEND_GRADE}.")
    return grade


def json_grade(value: Any, name: str, line: int) -> int:
    """The grade in a JSON object: a whole number, ``1.0`` too, but no text and no boolean."""
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    if is_whole and abs(value) <= _HIGHEST_GRADE:
        return int(value)
    raise FileError(name, line, f'expected a whole number as "grade", found {shown(value)}; {_MEND_GRADE}.')


def json_object(raw: bytes, name: str, line: int) -> dict[str, Any]:
    """The JSON object that a line holds. FileError for bad JSON, for lone surrogates and for an escaped NUL."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        problem = f"expected a JSON object, found {shown(raw)}: {error.msg} at column {error.colno}"
        raise FileError(name, line, f"{problem}; {_MEND_JSON}.") from None
    if type(value) is not dict:
        mend = "make lines of the list (jq -c '.[]' OLD > NEW)" if type(value) is list else _MEND_JSON
        raise FileError(name, line, f"expected a JSON object, found {shown(raw)}; {mend}.")
    if b"\\u0000" in raw and holds_nul(value):
        raise FileError(name, line, "expected text, found a NUL character (\\u0000); remove it.")
    return value


def holds_nul(value: object) -> bool:
    """Does a text in the value, however deep, hold the one character that no database keeps?"""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(holds_nul(key) or holds_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(holds_nul(item) for item in value)


def json_id(value: object, key: str, name: str, line: int) -> str:
    """An id: a text that is not blank, or a whole number cast to its text."""
    if type(value) is int:
        return str(value)
    if type(value) is str and value and not value.isspace():
        return value
    found = "none" if value is None else shown(value)
    raise FileError(name, line, f'expected a text that is not empty as "{key}", found {found}; give it one, in quotes.')


def json_text(value: object, key: str, name: str, line: int) -> str:
    """A text; missing and null count as empty."""
    if value is None:
        return ""
    if type(value) is not str:
        raise FileError(name, line, f'expected a text as "{key}", found {shown(value)}; write one text in quotes.')
    return value


class OfPair(Protocol):
    """A record about one (query, document)."""

    @property
    def query(self) -> str: ...
    @property
    def document(self) -> str: ...
    @property
    def line(self) -> int: ...


Record = TypeVar("Record", bound=OfPair)


def _query_of(record: OfPair) -> Hashable:
    return record.query


def unique_pairs(
    records: Iterable[Record],
    says: Callable[[Record], object],
    *,
    name: str,
    warn: Warn,
    on_error: OnError = refuse,
    within: Callable[[Record], Hashable] = _query_of,
) -> Iterator[Record]:
    """Each (query, document) once; ``says`` picks what a record says of it, such as the grade.

    A repeated pair of which the same is said is left out, and one warning at the end counts them; where something else
    is said, it is a FileError that names both lines. ``within`` tells what a document may stand in once: the query.
    """
    seen = SeenPairs()
    repeats = 0
    example = ""
    for record in records:
        said = says(record)
        earlier = seen.add((within(record), record.document), said, record.line)
        if earlier is None:
            yield record
            continue
        first, line = earlier
        pair = f"query {shown(record.query)}, document {shown(record.document)}"
        if first != said:
            problem = f"expected one grade for {pair}, found {said} here and {first} at line {line}; keep one of them."
            on_error(FileError(name, record.line, problem))
            continue
        repeats += 1
        example = example or f"line {record.line} repeats line {line} ({pair})"
    if repeats:
        lines = "1 line says" if repeats == 1 else f"{repeats:,} lines say"
        warn(f"{name}: {lines} again what an earlier line said, and was counted once: {example}.")


def is_one_word(identifier: str) -> bool:
    """Can a file with columns parted by white space hold the id?"""
    return identifier.split() == [identifier]


def refuse_white_space(identifier: str, what: str) -> None:
    """UserError for an id that a file with columns parted by white space cannot hold."""
    if not is_one_word(identifier):
        raise UserError(
            f"TREC files part their columns by white space, so a {what} id must not be empty or hold any; "
            f"found {shown(identifier)}. Export as BEIR TSV instead."
        )
