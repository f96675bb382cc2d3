"""Tables as tab-separated text, as a CSV reader takes them (``delimiter="\\t"``, ``quoting=QUOTE_MINIMAL``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from judging.errors import UserError
from judging.formats.fields import shown

_UNWRITABLE = re.compile(r"[\t\n\r\0]")


def tsv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """A header line of the columns' names, then the rows in the order given.

    A value that begins with a quote is written in quotes, for a reader would strip its own; all else stands as it is.
    UserError for a value that is blank or that a line of tab-separated columns cannot hold.
    """
    yield "\t".join(columns).encode() + b"\n"
    for row in rows:
        fields = [_field(str(value), column) for value, column in zip(row, columns, strict=True)]
        yield "\t".join(fields).encode() + b"\n"


def refuse_unwritable(value: str, column: str) -> None:
    """UserError for a value that a line of tab-separated columns cannot hold."""
    if not value or value.isspace() or _UNWRITABLE.search(value):
        raise UserError(f"A TSV file needs a {column} without tabs and line ends, and not blank; found {shown(value)}.")


def _field(value: str, column: str) -> str:
    refuse_unwritable(value, column)
    return '"' + value.replace('"', '""') + '"' if value.startswith('"') else value
