"""Lines of text files, plain or compressed, as they stream.

A line ends at ``\\n`` and nowhere else: U+2028, U+0085 and form feeds belong to the text. Files are read block by
block, so that the checks that every line needs (UTF-8, no NUL) cost next to nothing.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import IO, Protocol

import zstandard

from judging.errors import FileError

File = str | PurePath | IO[bytes]
"""A path, or a binary stream that its opener closes."""

COMPRESSIONS = ("", ".gz", ".zst")

_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 18
_COMPRESSED_BLOCK = 1 << 13  # small, because eight KiB of .zst may grow to 256 MiB


class _Decoder(Protocol):
    """What zlib's and zstandard's decompression objects have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _TruncatedError(Exception):
    """A compressed file that ends before its last frame does."""


def name_of(file: File, name: str | None = None) -> str:
    """What errors call the file: ``name`` where given, else the path or the stream's own name."""
    if name is not None:
        return name
    return str(file) if isinstance(file, str | PurePath) else str(getattr(file, "name", "<stream>"))


@contextmanager
def open_file(path: str | PurePath) -> Iterator[IO[bytes]]:
    """The file at ``path``, open for reading its bytes. FileError where it is missing, a folder or out of reach."""
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 — closed below; only opening is tried here
    except FileNotFoundError:
        raise FileError(path, None, "expected a file, found nothing of that name; check the path.") from None
    except IsADirectoryError:
        raise FileError(path, None, "expected a file, found a folder; name the file inside it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(path, None, f"expected a readable file, but it cannot be opened: {reason}.") from None
    with stream:
        yield stream


def read_raw_lines(file: File, *, name: str | None = None) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, bytes) of each line, without its ``\\n`` or ``\\r\\n``.

    The bytes are valid UTF-8 and hold no NUL; a byte order mark at the start is gone. ``.gz`` and ``.zst``, by the end
    of the name, are read through. FileError for all else, with the line where one can be told.
    """
    name = name_of(file, name)
    opened: AbstractContextManager[IO[bytes]]
    opened = open_file(file) if isinstance(file, str | PurePath) else nullcontext(file)
    number = 1
    with opened as stream:
        blocks = _blocks(_chunks(stream, name))
        while (block := _next_block(blocks, name, number)) is not None:
            if number == 1:
                block = block.removeprefix(_BOM)
            _check(block, name, number)
            lines = block.split(b"\n")
            if b"\r" in block:
                lines = [line.removesuffix(b"\r") for line in lines]
            yield from enumerate(lines, number)
            number += len(lines)


def read_lines(file: File, *, name: str | None = None) -> Iterator[tuple[int, str]]:
    """(line number from 1, text) of each line; else as ``read_raw_lines``."""
    for number, line in read_raw_lines(file, name=name):
        yield number, line.decode()


def _chunks(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """The decompressed bytes of the stream, in pieces of any size."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".gz":
        yield from _decompress(stream, lambda: zlib.decompressobj(wbits=31), padding=b"\0")
    elif suffix == ".zst":
        yield from _decompress(stream, lambda: zstandard.ZstdDecompressor().decompressobj(), padding=b"")
    else:
        while chunk := stream.read(_BLOCK):
            yield chunk


def _decompress(stream: IO[bytes], new_decoder: Callable[[], _Decoder], *, padding: bytes) -> Iterator[bytes]:
    """All frames of a compressed stream, one after another. ``padding`` may stand between and behind them."""
    decoder: _Decoder | None = None
    frames = 0
    while chunk := stream.read(_COMPRESSED_BLOCK):
        while chunk:
            if decoder is None:
                chunk = chunk.lstrip(padding) if frames and padding else chunk
                if not chunk:
                    break
                decoder = new_decoder()
                frames += 1
            if data := decoder.decompress(chunk):
                yield data
            chunk = b""
            if decoder.eof:
                chunk, decoder = decoder.unused_data, None
    if decoder is not None or not frames:
        raise _TruncatedError


def _blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, cut at ends of lines; the newline at each cut is left out."""
    parts: list[bytes] = []
    for chunk in chunks:
        cut = chunk.rfind(b"\n")
        if cut < 0:
            parts.append(chunk)
            continue
        parts.append(chunk[:cut])
        yield b"".join(parts)
        parts = [chunk[cut + 1 :]]
    if rest := b"".join(parts):
        yield rest


def _next_block(blocks: Iterator[bytes], name: str, number: int) -> bytes | None:
    try:
        return next(blocks, None)
    except (_TruncatedError, EOFError):
        problem = "expected more compressed data, found the end of the file; it is incomplete, fetch it again."
    except (zlib.error, zstandard.ZstdError, zipfile.BadZipFile) as error:
        problem = f"expected intact compressed data, found: {error}. Fetch or compress the file again."
    except OSError as error:
        problem = f"expected a readable file, but reading failed: {error.strerror or error}."
    raise FileError(name, number, problem) from None


def _check(block: bytes, name: str, number: int) -> None:
    """FileError at the first byte of the block that no text file may hold."""
    nul = block.find(b"\0")
    try:
        block.decode()
    except UnicodeDecodeError as error:
        if not 0 <= nul < error.start:
            line = number + block.count(b"\n", 0, error.start)
            problem = f"expected UTF-8, found the byte 0x{block[error.start]:02x}; {_hint(block, number)}."
            raise FileError(name, line, problem) from None
    if nul >= 0:
        line = number + block.count(b"\n", 0, nul)
        raise FileError(name, line, f"expected text, found a NUL byte; {_hint(block, number)}.")


def _hint(block: bytes, number: int) -> str:
    if number == 1 and block.startswith(b"\x1f\x8b"):
        return "this is gzip data, let the name end in .gz"
    if number == 1 and block.startswith(b"\x28\xb5\x2f\xfd"):
        return "this is Zstandard data, let the name end in .zst"
    return "save the file as UTF-8"
