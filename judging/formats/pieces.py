"""Files made piece by piece: written into a folder or a zip, or sent while they are made.

Zips have no times in them: the bytes depend on nothing but the content and the version of zlib.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

MadeFile = tuple[str, Iterable[bytes]]
"""The name of a file, relative and with ``/``, and its bytes. Files are made one after another, each to its end."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_PIECE = 1 << 16


class Pieces(io.RawIOBase):
    """A stream for writers that want one: what was written is taken from it. It cannot be sought in."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        part = bytes(data)  # type: ignore[call-overload]
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def write_folder(folder: Path, files: Iterable[MadeFile]) -> None:
    """Writes the files into a folder that holds none of them; folders are made where they are missing."""
    for name, pieces in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as stream:
            stream.writelines(pieces)


def zip_pieces(files: Iterable[MadeFile], *, folder: str) -> Iterator[bytes]:
    """The bytes of a zip of the files, inside one ``folder`` as the official BEIR zips have it.

    Takes little memory whatever the size, for each piece is compressed and handed on before the next is made.
    """
    sink = Pieces()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, pieces in files:
            entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as target:
                for piece in _gathered(pieces):
                    target.write(piece)
                    if made := sink.take():
                        yield made
            yield sink.take()
    yield sink.take()


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer pieces."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)
