"""A public BEIR data set by its name: fetched once, kept under ``VAR_DIR/downloads``."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from judging.formats.download import ADDRESS, OnBytes, download_beir


def fetch_beir(*, name: str, on_bytes: OnBytes, mirror: str | None = None) -> Path:
    """The zip of the data set, whose checksum has been verified.

    ``mirror`` is the address of a folder that holds the same zips elsewhere.

    Raises: UserError for an unknown name and where the zip cannot be had.
    """
    folder = Path(settings.VAR_DIR) / "downloads"
    return download_beir(name, folder, on_bytes=on_bytes, address=_address(mirror) if mirror else ADDRESS)


def _address(mirror: str) -> str:
    escaped = mirror.rstrip("/").replace("{", "{{").replace("}", "}}")
    return f"{escaped}/{{name}}.zip"
