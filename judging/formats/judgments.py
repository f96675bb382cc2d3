"""Judgments that carry more than a grade, as JSON lines; those of plain qrels are read as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

import orjson

from judging.errors import FileError
from judging.formats.fields import Warn, json_grade, json_id, json_object, json_text, shown, unique_pairs
from judging.formats.lines import File, name_of, read_raw_lines
from judging.formats.qrels import Lines, parse_any_qrels, peek
from judging.formats.records import JudgmentLine

OUTCOMES = ("graded", "cannot_judge", "out_of_scale", "unparsed", "failed")
_KEYS = frozenset(JudgmentLine.__dataclass_fields__) - {"line"}


def read_judgments(file: File, *, warn: Warn, name: str | None = None) -> Iterator[JudgmentLine]:
    """The judgments of a JSON lines file, or of qrels in BEIR's or TREC's form, in the file's order.

    Each JSON object has ``query`` and ``document``, and a ``grade`` or an ``outcome`` that says why there is none.
    Other keys than those of ``JudgmentLine`` are left out with a warning. A pair that comes twice with one grade is
    yielded once with a warning; with two grades it is an error, and so is a file that names several judges.
    """
    name = name_of(file, name)
    first, lines = peek(read_raw_lines(file, name=name))
    if first is not None and first[1].lstrip()[:1] in (b"{", b"["):
        judgments = _of_one_judge(_judgments(lines, name, warn), name)
        return unique_pairs(judgments, _said, name=name, warn=warn)
    qrels = parse_any_qrels(first, lines, name=name, warn=warn)
    return (JudgmentLine(qrel.query, qrel.document, "graded", qrel.grade, line=qrel.line) for qrel in qrels)


def _said(judgment: JudgmentLine) -> object:
    if judgment.outcome == "graded":
        return judgment.grade
    return judgment.outcome if judgment.grade is None else f"{judgment.outcome} {judgment.grade}"


def _of_one_judge(judgments: Iterable[JudgmentLine], name: str) -> Iterator[JudgmentLine]:
    """The same; FileError where the judge changes, for the labels of two judges never mix."""
    first: JudgmentLine | None = None
    for judgment in judgments:
        first = first or judgment
        if _judge(judgment) != _judge(first):
            judges = [" ".join(filter(None, _judge(one))) or "none" for one in (judgment, first)]
            problem = (
                f"expected the judgments of one judge, found {judges[0]} here and {judges[1]} at line {first.line}"
            )
            raise FileError(name, judgment.line, f"{problem}; make a file for each judge.")
        yield judgment


def _judge(judgment: JudgmentLine) -> tuple[str, str, str]:
    return judgment.kind, judgment.judge, judgment.fingerprint


def _judgments(lines: Lines, name: str, warn: Warn) -> Iterator[JudgmentLine]:
    others: dict[str, int] = {}
    for line, raw in lines:
        if not raw or raw.isspace():
            continue
        row = json_object(raw, name, line)
        for key in row.keys() - _KEYS:
            others.setdefault(key, line)
        yield _judgment(row, name, line)
    if others:
        keys = ", ".join(f"{shown(key)} (first at line {line})" for key, line in sorted(others.items()))
        warn(f"{name}: keys that judgments do not have were left out: {keys}.")


def _judgment(row: dict[str, Any], name: str, line: int) -> JudgmentLine:
    query = json_id(row.get("query"), "query", name, line)
    document = json_id(row.get("document"), "document", name, line)
    grade = None if row.get("grade") is None else json_grade(row["grade"], name, line)
    return JudgmentLine(
        query=query,
        document=document,
        outcome=_outcome(row.get("outcome"), grade, name, line),
        grade=grade,
        probabilities=_probabilities(row.get("probabilities"), name, line),
        raw=json_text(row.get("raw"), "raw", name, line),
        comment=json_text(row.get("comment"), "comment", name, line),
        seconds=_seconds(row.get("seconds"), name, line),
        assisted=_assisted(row.get("assisted"), name, line),
        judge=json_text(row.get("judge"), "judge", name, line),
        kind=json_text(row.get("kind"), "kind", name, line),
        fingerprint=json_text(row.get("fingerprint"), "fingerprint", name, line),
        line=line,
    )


def _outcome(outcome: object, grade: int | None, name: str, line: int) -> str:
    if outcome is None and grade is not None:
        return "graded"
    if outcome is None:
        reasons = ", ".join(OUTCOMES[1:])
        problem = f'expected a "grade", or an "outcome" that says why there is none ({reasons}); found neither.'
        raise FileError(name, line, problem)
    if not isinstance(outcome, str) or outcome not in OUTCOMES:
        raise FileError(name, line, f'expected as "outcome" one of {", ".join(OUTCOMES)}; found {shown(outcome)}.')
    if outcome == "graded" and grade is None:
        raise FileError(name, line, 'expected a "grade" with the outcome graded, found none.')
    if outcome not in ("graded", "out_of_scale") and grade is not None:
        raise FileError(name, line, f'expected no "grade" with the outcome {outcome}, found {grade}.')
    return outcome


def _probabilities(value: object, name: str, line: int) -> Mapping[int, float] | None:
    if value is None:
        return None
    problem = f'expected as "probabilities" an object of grades and numbers from 0 to 1, found {shown(value)}.'
    if not isinstance(value, dict):
        raise FileError(name, line, problem)
    probabilities = {}
    for key, probability in value.items():
        if not key.removeprefix("-").isdecimal() or not _is_number(probability) or not 0 <= probability <= 1:
            raise FileError(name, line, problem)
        probabilities[int(key)] = float(probability)
    return probabilities


def _seconds(value: object, name: str, line: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and _is_number(value) and value >= 0:
        return float(value)
    raise FileError(name, line, f'expected as "seconds" a number from 0 on, found {shown(value)}.')


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _assisted(value: object, name: str, line: int) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise FileError(name, line, f'expected true or false as "assisted", found {shown(value)}.')


def write_judgments(stream: IO[bytes], lines: Iterable[JudgmentLine]) -> None:
    """Writes JSON lines in the order given, keys in a fixed order; what is empty is left out."""
    stream.writelines(orjson.dumps(_row(line), option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def _row(line: JudgmentLine) -> dict[str, Any]:
    probabilities = line.probabilities
    row = {
        "query": line.query,
        "document": line.document,
        "outcome": line.outcome,
        "grade": line.grade,
        "probabilities": None if probabilities is None else {str(g): p for g, p in sorted(probabilities.items())},
        "raw": line.raw or None,
        "comment": line.comment or None,
        "seconds": line.seconds,
        "assisted": line.assisted or None,
        "judge": line.judge or None,
        "kind": line.kind or None,
        "fingerprint": line.fingerprint or None,
    }
    return {key: value for key, value in row.items() if value is not None}
