"""Rows that are too many to be kept, put by in a file until it is known what becomes of them."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Self

import orjson

from judging.errors import UserError

_BUFFER = 1 << 20


class Spool:
    """Rows of what JSON can hold, to be read again in their order, as often as wanted; times come back as text.

    The file has no name, so it goes with the spool or the process, however that ends.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=_BUFFER)  # noqa: SIM115 (closed with the spool)
        self._finalizer = weakref.finalize(self, _close, self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._finalizer()

    def fill(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add the rows. UserError where the folder for temporary files has no room for them."""
        write, option = self._file.write, orjson.OPT_APPEND_NEWLINE
        for row in rows:
            try:
                write(orjson.dumps(row, option=option))
            except OSError as error:
                raise _no_room(error) from None
        try:
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from None

    def __iter__(self) -> Iterator[list[Any]]:
        self._file.seek(0)
        return map(orjson.loads, self._file)


def _close(file: IO[bytes]) -> None:
    # What found no room is written once more on closing, and the error that says so would hide the first.
    with suppress(OSError):
        file.close()


def _no_room(error: OSError) -> UserError:
    return UserError(
        f"Expected room for a working copy of the file in {tempfile.gettempdir()}, found: {error.strerror or error}. "
        "Make room there, or name another folder in the environment variable TMPDIR."
    )
