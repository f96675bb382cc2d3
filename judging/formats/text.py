"""When two documents count as the same text, and when one counts as empty."""

from __future__ import annotations

from hashlib import blake2b
from unicodedata import normalize


def digest(title: str, text: str) -> bytes:
    """16 bytes that two documents share when they are exact duplicates (BLAKE2b of the normalised title and text).

    Normalised: Unicode NFC, runs of white space as one blank, none at the ends. Case and punctuation count, and so does
    where the title ends.
    """
    # U+001F is white space to str.split, so no folded text holds it.
    return blake2b(f"{_folded(title)}\x1f{_folded(text)}".encode(), digest_size=16).digest()


def is_empty(title: str, text: str) -> bool:
    """Is there nothing to read? White space is nothing."""
    return not (title and not title.isspace()) and not (text and not text.isspace())


def _folded(text: str) -> str:
    return " ".join((text if text.isascii() else normalize("NFC", text)).split())
