"""What a file holds, told by its name and its first line."""

from __future__ import annotations

import zipfile
from pathlib import Path

from judging.errors import FileError
from judging.formats.fields import json_object, shown
from judging.formats.lines import open_file, plain_name, read_raw_lines
from judging.formats.parquet import column_names

KINDS = ("corpus", "queries", "topics", "qrels", "run", "judgments")


def kind_of(path: Path) -> str:
    """One of ``KINDS``; FileError where the file is none of them. Of an empty file, its name alone decides."""
    name = plain_name(path).lower()
    if is_parquet(path):
        return _of_keys(set(column_names(path)), name, str(path))
    if name.endswith(".csv"):
        return "judgments"
    first = next(((line, raw) for line, raw in read_raw_lines(path, on_error=_pass_over) if raw.strip()), None)
    if first is None:
        return _of_name(name, path)
    line, raw = first
    if raw.lstrip().startswith(b"{"):
        try:
            keys = set(json_object(raw, str(path), line))
        except FileError:
            return _of_name(name, path)
        return _of_keys(keys, name, str(path))
    if raw.lstrip().startswith(b"<"):
        return "topics"
    return _of_columns(raw, path, line)


def is_parquet(path: Path) -> bool:
    return path.name.lower().endswith(".parquet")


def is_zip(path: Path) -> bool:
    with open_file(path) as stream:
        return zipfile.is_zipfile(stream)


def _pass_over(error: FileError) -> None:
    """The first good line tells."""


def _of_keys(keys: set[str], name: str, path: str) -> str:
    if {"query", "document"} <= keys:
        return "judgments"
    spelled = {key.lower().replace("_", "-") for key in keys}
    if {"query-id", "corpus-id"} <= spelled:
        return "qrels"
    if "_id" not in keys and "id" not in keys:
        found = ", ".join(sorted(keys)[:8]) or "nothing"
        raise FileError(path, None, f"expected the keys _id or query and document, found {shown(found)}.")
    return "queries" if "quer" in name or "topic" in name else "corpus"


def _of_name(name: str, path: Path) -> str:
    for part, kind in (
        ("corpus", "corpus"),
        ("quer", "queries"),
        ("topic", "topics"),
        ("qrel", "qrels"),
        ("judg", "judgments"),
        ("label", "judgments"),
        ("run", "run"),
    ):
        if part in name:
            return kind
    if path.parent.name == "qrels":
        return "qrels"
    raise FileError(path, None, f"expected a file of the kind {', '.join(KINDS)}; found none of them.")


def _of_columns(raw: bytes, path: Path, line: int) -> str:
    columns = len(raw.split())
    tabs = raw.count(b"\t")
    if tabs == 1:
        return "topics"
    if tabs == 2 or columns in (3, 4):
        return "qrels"
    if columns == 6:
        return "run"
    raise FileError(
        path,
        line,
        "expected 2 columns parted by a tab (topics), 3 (BEIR qrels), 4 (TREC qrels) or 6 (a TREC run), or JSON lines, "
        f"got {columns}: {shown(raw)}.",
    )
