"""The checksum of a file's bytes, as manifests hold it."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import IO

from judging.formats.lines import File, open_file

_BLOCK = 1 << 20


def checksum(file: File) -> str:
    """SHA-256 in hexadecimal of the bytes as they are stored, compressed or not; of a stream, from where it stands."""
    if isinstance(file, str | PurePath):
        with open_file(file) as stream:
            return _checksum(stream)
    return _checksum(file)


def _checksum(stream: IO[bytes]) -> str:
    sha256 = hashlib.sha256()
    while block := stream.read(_BLOCK):
        sha256.update(block)
    return sha256.hexdigest()
