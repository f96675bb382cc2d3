"""Tables as tab-separated text, as a CSV reader takes them (``delimiter="\\t"``, ``quoting=QUOTE_MINIMAL``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO

from judging.errors import UserError
from judging.formats.fields import shown


def write_tsv(stream: IO[bytes], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a header line of the columns' names, then the rows in the order given.

    A value that begins with a quote is written in quotes, for a reader would strip its own; all else stands as it is.
    UserError for a value that is blank or that a line of tab-separated columns cannot hold.
    """
    stream.write("\t".join(columns).encode() + b"\n")
    for row in rows:
        fields = [_field(str(value), column) for value, column in zip(row, columns, strict=True)]
        stream.write("\t".join(fields).encode() + b"\n")


def _field(value: str, column: str) -> str:
    if not value.strip() or any(character in value for character in "\t\n\r\0"):
        raise UserError(f"A TSV file needs a {column} without tabs and line ends, and not blank; found {shown(value)}.")
    return '"' + value.replace('"', '""') + '"' if value.startswith('"') else value
