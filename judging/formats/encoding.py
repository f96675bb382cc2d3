"""How a text file is encoded, and how its lines end."""

from __future__ import annotations

import codecs
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO

import zstandard

from judging.formats.lines import read_chunks

_BOM = codecs.BOM_UTF8
# UTF-8 that was read as Windows-1252 and written as UTF-8 again: â€™, Ã©, Â followed by a blank.
_MOJIBAKE = re.compile("â€|Ã[\u0080-\u00bf]|Â[\u0080-\u00bf]".encode())


@dataclass(slots=True)
class Encoding:
    """``crlf`` and ``lf`` count the ends of lines of each kind; ``mojibake`` the places that look like ``â€™``."""

    is_utf8: bool = True
    has_bom: bool = False
    crlf: int = 0
    lf: int = 0
    mojibake: int = 0

    def __str__(self) -> str:
        name = "UTF-8" if self.is_utf8 else "not UTF-8"
        mark = " with a byte order mark" if self.has_bom else ""
        ends = "CR LF and LF" if self.crlf and self.lf else "CR LF" if self.crlf else "LF"
        broken = f", {self.mojibake:,} places of broken encoding such as â€™" if self.mojibake else ""
        return f"{name}{mark}, lines end in {ends}{broken}"


def encoding_of(stream: IO[bytes], name: str) -> Encoding:
    """What the whole stream says of itself, as far as it can be decompressed. ``name`` tells the compression."""
    found = Encoding()
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = b""
    try:
        for number, chunk in enumerate(read_chunks(stream, name)):
            if number == 0:
                found.has_bom = chunk.startswith(_BOM)
            if found.is_utf8:
                found.is_utf8 = _decodes(decoder, chunk)
            crlf = chunk.count(b"\r\n") + (before == b"\r" and chunk[:1] == b"\n")
            found.crlf += crlf
            found.lf += chunk.count(b"\n") - crlf
            found.mojibake += len(_MOJIBAKE.findall(chunk)) if b"\xc3" in chunk else 0
            before = chunk[-1:]
    except (zlib.error, zstandard.ZstdError, zipfile.BadZipFile, OSError, EOFError, ValueError):
        return found
    return found


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes) -> bool:
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True
