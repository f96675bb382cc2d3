"""The official zips of the public BEIR data sets, fetched by name."""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judging import VERSION
from judging.errors import UserError

ADDRESS = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{name}.zip"

# As BEIR publishes them: https://github.com/beir-cellar/beir/wiki/Datasets-available
CHECKSUMS = {
    "arguana": "8ad3e3c2a5867cdced806d6503f29b99",
    "climate-fever": "8b66f0a9126c521bae2bde127b4dc99d",
    "cqadupstack": "4e41456d7df8ee7760a7f866133bda78",
    "dbpedia-entity": "c2a39eb420a3164af735795df012ac2c",
    "fever": "5a818580227bfb4b35bb6fa46d9b6c03",
    "fiqa": "17918ed23cd04fb15047f73e6c3bd9d9",
    "hotpotqa": "f412724f78b0d91183a0e86805e16114",
    "msmarco": "444067daf65d982533ea17ebd59501e4",
    "nfcorpus": "a89dba18a62ef92f7d323ec890a0d38d",
    "nq": "d4d3d2e48787a744b6f6e691ff534307",
    "quora": "18fb154900ba42a600f84b839c173167",
    "scidocs": "38121350fc3a4d2f48850f6aff52e4a9",
    "scifact": "5f7d1de60b170fc8027bb7898e2efca1",
    "trec-covid": "ce62140cb23feb9becf6270d0d1fe6d1",
    "webis-touche2020": "46f650ba5a527fc69e0a6521c5a23563",
}
"""MD5 of each zip. ``cqadupstack`` holds twelve collections, each in a folder of its own: unpack it first."""

_BLOCK = 1 << 18
_TIMEOUT = 60
_CONTENT_RANGE = re.compile(r"bytes (?P<start>[0-9]+)-[0-9]+/(?P<total>[0-9]+|\*)")

OnBytes = Callable[[int, int | None], None]
"""Is handed how many more bytes are there, and how many there will be in all, where the server says so."""


def _silent(more: int, total: int | None) -> None:
    """Nobody listens."""


def download_beir(name: str, folder: Path, *, on_bytes: OnBytes = _silent, address: str = ADDRESS) -> Path:
    """The path of ``name``.zip in ``folder``, which is fetched where it is not there yet.

    What an interrupted download left (``name``.zip.part) is gone on with. The checksum is verified before the file gets
    its name, so what has the name is whole. Proxies of the environment (``https_proxy``) are used.

    Raises: UserError for a name that is not in the table, and where the zip cannot be fetched, written, or has another
    checksum than the published one.
    """
    if name not in CHECKSUMS:
        raise UserError(f"expected the name of a BEIR data set, found {name!r}. They are: {', '.join(CHECKSUMS)}.")
    return fetch(address.format(name=name), folder / f"{name}.zip", md5=CHECKSUMS[name], on_bytes=on_bytes)


def fetch(address: str, path: Path, *, md5: str, on_bytes: OnBytes = _silent) -> Path:
    """The file at ``address``, of which the MD5 is known, at ``path``; else as ``download_beir``."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and _md5(path) == md5:
            return path
        if not (part.exists() and _md5(part) == md5):
            _transfer(address, part, on_bytes)
            _verify(part, md5, address)
        part.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}. Choose another folder.") from None
    return path


def _verify(part: Path, md5: str, address: str) -> None:
    found = _md5(part)
    if found != md5:
        part.unlink()
        raise UserError(
            f"{address}: expected a file with the MD5 {md5}, found {found}; it was deleted. Try again; "
            "if it stays so, the file on the server has changed."
        )


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _transfer(address: str, part: Path, on_bytes: OnBytes) -> None:
    """Fetch what is missing of the part; all of it where the server cannot go on in the middle."""
    there = part.stat().st_size if part.exists() else 0
    try:
        with _open(address, there) as response:
            start, total = _range(response)
            if start not in (0, there):
                raise UserError(
                    f"{address}: expected the bytes from {there} on, found those from {start} on. Try again."
                )
            with part.open("r+b" if start else "wb") as stream:
                stream.seek(start)
                on_bytes(start, total)
                size = start
                while block := _block(response):
                    stream.write(block)
                    size += len(block)
                    on_bytes(len(block), total)
        if total is not None and size < total:
            raise UserError(
                f"{address}: expected {total:,} bytes, found the end after {size:,}. Try again: it goes on from there."
            )
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise UserError(f"{address}: {_reason(error)}") from None


def _block(response: Any) -> bytes:
    """The next bytes; what came of them where the connection broke off, which some Pythons raise."""
    try:
        return bytes(response.read(_BLOCK))
    except http.client.IncompleteRead as error:
        return error.partial


def _open(address: str, there: int) -> Any:
    """The answer for the bytes from ``there`` on; for all of them where that part is no part of the file."""
    headers = {"User-Agent": f"unjudged/{VERSION}"}
    if not there:
        return _urlopen(address, headers)
    try:
        return _urlopen(address, {**headers, "Range": f"bytes={there}-"})
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        return _urlopen(address, headers)


def _urlopen(address: str, headers: dict[str, str]) -> Any:
    if not address.startswith(("https://", "http://")):
        raise UserError(f"expected an address that begins with https://, found {address!r}.")
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 (checked above)
    # An opener of our own reads the proxies now; urlopen's reads them once a process.
    return urllib.request.build_opener().open(request, timeout=_TIMEOUT)


def _range(response: Any) -> tuple[int, int | None]:
    """Where the answer begins in the file, and how long the file is."""
    if response.status == http.client.PARTIAL_CONTENT:
        found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if found:
            return int(found["start"]), None if found["total"] == "*" else int(found["total"])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return f"expected the file, found: {error.code} {error.reason}. Check the address, or try again later."
    reason = getattr(error, "reason", None) or error
    return f"cannot be reached or broke off: {reason}. Check the network or https_proxy, and try again: it goes on."
