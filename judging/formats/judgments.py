"""Judgments that carry more than a grade, as JSON lines, CSV or Parquet; those of plain qrels are read as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from judging.errors import FileError
from judging.formats.fields import Warn, json_object, shown, unique_pairs
from judging.formats.judgment_rows import KEYS, judgment_of, row_of
from judging.formats.judgments_csv import csv_lines, csv_rows
from judging.formats.judgments_parquet import parquet_pieces, parquet_rows
from judging.formats.lines import COMPRESSIONS, File, OnError, Progress, name_of, read_raw_lines, refuse
from judging.formats.qrels import Lines, parse_any_qrels, peek
from judging.formats.records import JudgmentLine

_MARK = 6

Row = tuple[int, dict[str, Any]]


def read_judgments(
    file: File,
    *,
    warn: Warn,
    name: str | None = None,
    judge: str | None = None,
    progress: Progress | None = None,
    on_error: OnError = refuse,
) -> Iterator[JudgmentLine]:
    """The judgments of one judge, in the file's order: as ``read_all_judgments``, else.

    A file that names several judges is an error, unless ``judge`` picks the lines of one: by its name, or by its
    fingerprint or at least six characters of its start.
    """
    name = name_of(file, name)
    judgments = _read(file, name, warn, progress, on_error, judge=judge)
    if judge is not None:
        judgments = _picked(judgments, judge, name)
    return unique_pairs(_of_one_judge(judgments, name, on_error), _said, name=name, warn=warn, on_error=on_error)


def read_all_judgments(
    file: File, *, warn: Warn, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[JudgmentLine]:
    """The judgments of a file, whoever made them: JSON lines, CSV or Parquet, or qrels in BEIR's or TREC's form.

    ``.csv`` and ``.parquet`` are told by the end of the name, the others by what stands in them. Each row has ``query``
    and ``document``, and a ``grade`` or an ``outcome`` that says why there is none. Other keys than those of
    ``JudgmentLine`` are left out with a warning. A pair that comes twice by one judge with one grade is yielded once
    with a warning; with two grades it is an error.
    """
    name = name_of(file, name)
    judgments = _read(file, name, warn, progress, on_error)
    within = _judge_and_query
    return unique_pairs(judgments, _said, name=name, warn=warn, on_error=on_error, within=within)


def _judge_and_query(judgment: JudgmentLine) -> tuple[str, ...]:
    return (*_judge(judgment), judgment.query)


def _read(
    file: File, name: str, warn: Warn, progress: Progress | None, on_error: OnError, *, judge: str | None = None
) -> Iterator[JudgmentLine]:
    if name.lower().endswith(".parquet"):
        rows = parquet_rows(file, name=name, progress=progress, on_error=on_error)
        return _judgments(rows, name, warn, on_error)
    if _is_csv(name):
        rows = csv_rows(file, name=name, progress=progress, on_error=on_error)
        return _judgments(rows, name, warn, on_error)
    first, lines = peek(read_raw_lines(file, name=name, progress=progress, on_error=on_error))
    if first is not None and first[1].lstrip()[:1] in (b"{", b"["):
        return _judgments(_json_rows(lines, name, on_error), name, warn, on_error)
    if judge is not None:
        raise FileError(name, None, f"expected judgments by {shown(judge)}, found qrels, which name no judge.")
    qrels = parse_any_qrels(first, lines, name=name, warn=warn, on_error=on_error)
    return (JudgmentLine(qrel.query, qrel.document, "graded", qrel.grade, line=qrel.line) for qrel in qrels)


def _is_csv(name: str) -> bool:
    return name.lower().endswith(tuple(f".csv{suffix}" for suffix in COMPRESSIONS))


def _json_rows(lines: Lines, name: str, on_error: OnError) -> Iterator[Row]:
    for line, raw in lines:
        if not raw or raw.isspace():
            continue
        try:
            row = json_object(raw, name, line)
        except FileError as error:
            on_error(error)
            continue
        yield line, row


def _judgments(rows: Iterable[Row], name: str, warn: Warn, on_error: OnError) -> Iterator[JudgmentLine]:
    known = frozenset(KEYS)
    others: dict[str, int] = {}
    for line, row in rows:
        for key in row.keys() - known:
            others.setdefault(key, line)
        try:
            judgment = judgment_of(row, name, line)
        except FileError as error:
            on_error(error)
            continue
        yield judgment
    if others:
        keys = ", ".join(f"{shown(key)} (first at line {line})" for key, line in sorted(others.items()))
        warn(f"{name}: keys that judgments do not have were left out: {keys}.")


def _said(judgment: JudgmentLine) -> object:
    if judgment.outcome == "graded":
        return judgment.grade
    return judgment.outcome if judgment.grade is None else f"{judgment.outcome} {judgment.grade}"


def _picked(judgments: Iterable[JudgmentLine], judge: str, name: str) -> Iterator[JudgmentLine]:
    """The lines of the judge; FileError with the judges that there are where it is none of them."""
    others: dict[str, None] = {}
    found = False
    for line in judgments:
        if judge == line.judge or (len(judge) >= _MARK and line.fingerprint.startswith(judge)):
            found = True
            yield line
        elif not found:
            others.setdefault(f"{line.judge} {line.fingerprint}".strip() or "none")
    if not found:
        there = ", ".join(others) or "no judgment at all"
        raise FileError(name, None, f"expected judgments by {shown(judge)}, found: {there}.")


def _of_one_judge(judgments: Iterable[JudgmentLine], name: str, on_error: OnError) -> Iterator[JudgmentLine]:
    """The same; an error where the judge changes, for the labels of two judges never mix."""
    first: JudgmentLine | None = None
    for judgment in judgments:
        first = first or judgment
        if _judge(judgment) == _judge(first):
            yield judgment
            continue
        judges = [" ".join(filter(None, _judge(one))) or "none" for one in (judgment, first)]
        problem = f"expected the judgments of one judge, found {judges[0]} here and {judges[1]} at line {first.line}"
        on_error(FileError(name, judgment.line, f"{problem}; name one of them, or make a file for each."))


def _judge(judgment: JudgmentLine) -> tuple[str, str, str]:
    return judgment.kind, judgment.judge, judgment.fingerprint


def json_lines(lines: Iterable[JudgmentLine]) -> Iterator[bytes]:
    """JSON lines in the order given, keys in a fixed order; what is empty is left out."""
    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
    return (orjson.dumps(_json_row(line), option=option) for line in lines)


def _json_row(line: JudgmentLine) -> dict[str, Any]:
    row = row_of(line)
    if line.probabilities is not None:
        row["probabilities"] = {str(grade): value for grade, value in sorted(line.probabilities.items())}
    return {key: value for key, value in row.items() if value is not None and value is not False and value != ""}


FORMS: dict[str, Callable[[Iterable[JudgmentLine]], Iterator[bytes]]] = {
    "jsonl": json_lines,
    "csv": csv_lines,
    "parquet": parquet_pieces,
}
"""What makes the bytes of a file, piece by piece, by the end of its name.

All give what the reader takes, and the same bytes for the same lines.
"""
