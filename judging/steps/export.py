"""export: the augmented qrels as files, with the source of every grade and a manifest; same state, same bytes."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judging.errors import UserError
from judging.formats.pieces import write_folder, zip_pieces
from judging.models import Collection
from judging.steps.export_files import FORMATS, JUDGMENTS, LAYOUTS, MANIFEST, SOFTWARE, Content, ExportFiles
from judging.steps.merge import Policy


@dataclass(frozen=True, slots=True)
class Export:
    path: Path
    manifest: dict[str, Any]


def export_qrels(
    *, collection: Collection, out: Path, policy: Policy | None = None, content: Content | None = None
) -> Export:
    """Write the augmented qrels into a folder, or into a zip where ``out`` ends in ``.zip``; all or nothing.

    It holds ``qrels/augmented.tsv`` (BEIR), ``qrels.trec`` (TREC), ``sources.tsv``, ``unresolved.tsv``,
    ``judgments.jsonl`` and ``manifest.json``; in the layout ``beir`` also ``corpus.jsonl`` and ``queries.jsonl``.
    What is there is replaced only if it is an earlier export and nothing else lies in it.

    Raises: UserError when something else is there or nothing can be written, or when an id cannot be written in a
    format (it is named).
    """
    content = content or Content()
    _refuse_unknown(content)
    target = out.resolve()
    is_zip = target.suffix.lower() == ".zip"
    may_be_replaced = _is_earlier_zip if is_zip else _is_earlier_folder
    if target.exists() and not may_be_replaced(target):
        raise UserError(f"{out} holds other things than an earlier export: choose another --out, or empty it.")
    files = ExportFiles(collection, policy or Policy(), content)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            fresh = Path(scratch) / "export"
            if is_zip:
                with fresh.open("wb") as stream:
                    stream.writelines(zip_pieces(files, folder=_folder(collection)))
                fresh.replace(target)
            else:
                fresh.mkdir(mode=0o755)
                write_folder(fresh, files)
                if target.exists():
                    target.rename(Path(scratch) / "earlier")
                fresh.rename(target)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror or error}. Choose another --out.") from None
    return Export(out, files.manifest())


def export_zip(
    *, collection: Collection, policy: Policy | None = None, content: Content | None = None
) -> tuple[str, Iterator[bytes]]:
    """The name and the bytes of the same as a zip, made as they are asked for; little memory for a corpus of any size.

    Raises: UserError before the first byte when an id cannot be written.
    """
    content = content or Content(formats=None)
    _refuse_unknown(content)
    files = ExportFiles(collection, policy or Policy(), content)
    return f"{_folder(collection)}.zip", zip_pieces(files, folder=_folder(collection))


def _folder(collection: Collection) -> str:
    return f"{collection.slug}-augmented"


def _refuse_unknown(content: Content) -> None:
    formats = FORMATS if content.formats is None else content.formats
    for option, given, known in (
        ("--layout", [content.layout], LAYOUTS),
        ("--format", formats, FORMATS),
        ("--judgments", content.judgments, JUDGMENTS),
    ):
        _refuse(option, given, known)
    if content.layout == "beir" and "beir" not in formats:
        raise UserError("--layout beir: expected BEIR qrels with it, found --format trec alone; leave --format out.")


def _refuse(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown or not given:
        raise UserError(f"{option}: expected {' or '.join(known)}, found {', '.join(unknown) or 'nothing'}.")


def _is_earlier_folder(folder: Path) -> bool:
    """An empty folder, or an export of this software with no other file in it."""
    if not folder.is_dir():
        return False
    found = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}
    try:
        return not found or _is_of_export(found, (folder / MANIFEST).read_bytes())
    except OSError:
        return False


def _is_earlier_zip(file: Path) -> bool:
    """The same of a zip."""
    try:
        with zipfile.ZipFile(file) as archive:
            found = {name.partition("/")[2] for name in archive.namelist()}
            manifest = next(name for name in archive.namelist() if name.partition("/")[2] == MANIFEST)
            return _is_of_export(found, archive.read(manifest))
    except (OSError, zipfile.BadZipFile, StopIteration):
        return False


def _is_of_export(found: set[str], manifest: bytes) -> bool:
    try:
        said = json.loads(manifest)
        return said["software"]["name"] == SOFTWARE and found <= {MANIFEST, *said["files"]}
    except (ValueError, KeyError, TypeError):
        return False
