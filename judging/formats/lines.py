"""Lines of text files, plain or compressed, as they stream.

A line ends at ``\\n`` and nowhere else: U+2028, U+0085 and form feeds belong to the text. Files are read block by
block, so that the checks that every line needs (UTF-8, no NUL) cost next to nothing.

What all readers of this room share: ``name`` is what errors call the file, ``progress`` hears of the bytes read, and
``on_error`` may let a bad line pass; by default the first one is raised.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import IO, Protocol

import zstandard

from judging.errors import FileError

File = str | PurePath | IO[bytes]
"""A path, or a binary stream that its opener closes."""

Progress = Callable[[int], None]
"""Is handed how many more bytes of the file were read, as stored; tqdm's ``update`` is one."""

OnError = Callable[[FileError], None]
"""Is handed the error of a bad line. Where it returns, the line is left out and reading goes on."""

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


class _TruncatedError(EOFError):
    """A compressed file that ends before its last frame does."""


def refuse(error: FileError) -> None:
    """What readers do with a bad line unless told otherwise: raise the error."""
    raise error


def name_of(file: File, name: str | None = None) -> str:
    """What errors call the file: ``name`` where given, else the path or the stream's own name."""
    if name is not None:
        return name
    return str(file) if isinstance(file, str | PurePath) else str(getattr(file, "name", "<stream>"))


def plain_name(path: PurePath) -> str:
    """The file's name without the ending of a compression."""
    suffix = next((suffix for suffix in COMPRESSIONS if suffix and path.name.lower().endswith(suffix)), "")
    return path.name[: len(path.name) - len(suffix)]


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


def size_of(path: Path) -> int:
    """The bytes that reading the file takes; 0 where it cannot be told, and the reader will say why."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def read_raw_lines(
    file: File,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    on_error: OnError = refuse,
    strip_cr: bool = True,
) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, bytes) of each line, without its ``\\n`` or ``\\r\\n`` (without ``strip_cr``: the former).

    The bytes are valid UTF-8 and hold no NUL; a byte order mark at the start is gone. ``.gz`` and ``.zst``, by the end
    of the name, are read through. FileError for all else, with the line where one can be told; a file that breaks off
    or cannot be decompressed ends there, whatever ``on_error`` does.
    """
    name = name_of(file, name)
    opened: AbstractContextManager[IO[bytes]]
    opened = open_file(file) if isinstance(file, str | PurePath) else nullcontext(file)
    number = 1
    with opened as stream:
        blocks = _blocks(read_chunks(stream, name, progress))
        while (block := _next_block(blocks, name, number, on_error)) is not None:
            if number == 1:
                block = block.removeprefix(_BOM)
            lines = block.split(b"\n")
            if strip_cr and b"\r" in block:
                lines = [line.removesuffix(b"\r") for line in lines]
            numbered = enumerate(lines, number)
            yield from numbered if _is_text(block) else _good_lines(numbered, name, on_error)
            number += len(lines)


def read_chunks(stream: IO[bytes], name: str, progress: Progress | None = None) -> Iterator[bytes]:
    """The decompressed bytes of the stream, in pieces of any size; errors are those of the decompressor."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".gz":
        pieces = _pieces(stream, _COMPRESSED_BLOCK, progress)
        yield from _decompress(pieces, lambda: zlib.decompressobj(wbits=31), padding=b"\0")
    elif suffix == ".zst":
        pieces = _pieces(stream, _COMPRESSED_BLOCK, progress)
        yield from _decompress(pieces, lambda: zstandard.ZstdDecompressor().decompressobj(), padding=b"")
    else:
        yield from _pieces(stream, _BLOCK, progress)


def _pieces(stream: IO[bytes], size: int, progress: Progress | None) -> Iterator[bytes]:
    while piece := stream.read(size):
        if progress is not None:
            progress(len(piece))
        yield piece


def _decompress(pieces: Iterable[bytes], new_decoder: Callable[[], _Decoder], *, padding: bytes) -> Iterator[bytes]:
    """All frames of a compressed stream, one after another. ``padding`` may stand between and behind them."""
    decoder: _Decoder | None = None
    frames = 0
    for chunk in pieces:
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


def _next_block(blocks: Iterator[bytes], name: str, number: int, on_error: OnError) -> bytes | None:
    try:
        return next(blocks, None)
    except EOFError:
        problem = "expected more compressed data, found the end of the file; it is incomplete, fetch it again."
    except (zlib.error, zstandard.ZstdError, zipfile.BadZipFile) as error:
        problem = f"expected intact compressed data, found: {error}. Fetch or compress the file again."
    except OSError as error:
        problem = f"expected a readable file, but reading failed: {error.strerror or error}."
    on_error(FileError(name, number, problem))
    return None


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _good_lines(lines: Iterable[tuple[int, bytes]], name: str, on_error: OnError) -> Iterator[tuple[int, bytes]]:
    for number, line in lines:
        if _is_text(line):
            yield number, line
        else:
            on_error(FileError(name, number, _no_text(line, is_first=number == 1)))


def _no_text(line: bytes, *, is_first: bool) -> str:
    """What is wrong with a line that no text file may hold, told of its first bad byte."""
    nul = line.find(b"\0")
    bad = -1
    try:
        line.decode()
    except UnicodeDecodeError as error:
        bad = error.start
    if bad < 0 or 0 <= nul < bad:
        return f"expected text, found a NUL byte; {_hint(line, is_first=is_first)}."
    return f"expected UTF-8, found the byte 0x{line[bad]:02x}; {_hint(line, is_first=is_first)}."


def _hint(line: bytes, *, is_first: bool) -> str:
    if is_first and line.startswith(b"\x1f\x8b"):
        return "this is gzip data, let the name end in .gz"
    if is_first and line.startswith(b"\x28\xb5\x2f\xfd"):
        return "this is Zstandard data, let the name end in .zst"
    if is_first and line.startswith(b"PAR1"):
        return "this is Parquet data, let the name end in .parquet"
    if is_first and line.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "this is UTF-16, save the file as UTF-8 (iconv -f UTF-16 -t UTF-8 OLD > NEW)"
    if b"\0" in line:
        return "save the file as UTF-8"
    return "save the file as UTF-8 (where it is Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW)"
