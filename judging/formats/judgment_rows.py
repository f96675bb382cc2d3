"""A judgment as a row of named values: what JSON lines, CSV and Parquet have in common."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from judging.errors import FileError
from judging.formats.fields import json_grade, json_id, json_text, shown
from judging.formats.records import JudgmentLine

_MEND = "mend it, or leave it out"

OUTCOMES = ("graded", "cannot_judge", "out_of_scale", "unparsed", "failed")

_LARGEST_COUNT = 2**31 - 1

KEYS = (
    "query",
    "document",
    "outcome",
    "grade",
    "probabilities",
    "raw",
    "comment",
    "seconds",
    "assisted",
    "truncated",
    "prompt_tokens",
    "completion_tokens",
    "judge",
    "kind",
    "fingerprint",
    "created_at",
    "updated_at",
)
"""The names of the values, in the order in which files have them."""


def judgment_of(row: Mapping[str, Any], name: str, line: int) -> JudgmentLine:
    """The judgment that a row states; a value that is missing or None is as good as none.

    FileError for a value of another kind, and for an outcome and a grade that do not go together.
    """
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
        assisted=_flag(row.get("assisted"), "assisted", name, line),
        judge=json_text(row.get("judge"), "judge", name, line),
        kind=json_text(row.get("kind"), "kind", name, line),
        fingerprint=json_text(row.get("fingerprint"), "fingerprint", name, line),
        truncated=_flag(row.get("truncated"), "truncated", name, line),
        line=line,
        created_at=_time(row.get("created_at"), "created_at", name, line),
        updated_at=_time(row.get("updated_at"), "updated_at", name, line),
        prompt_tokens=_count(row.get("prompt_tokens"), "prompt_tokens", name, line),
        completion_tokens=_count(row.get("completion_tokens"), "completion_tokens", name, line),
    )


def _outcome(outcome: object, grade: int | None, name: str, line: int) -> str:
    if outcome is None and grade is not None:
        return "graded"
    if outcome is None:
        reasons = ", ".join(OUTCOMES[1:])
        problem = (
            f'expected a "grade", or an "outcome" that says why there is none ({reasons}); found neither; give one.'
        )
        raise FileError(name, line, problem)
    if not isinstance(outcome, str) or outcome not in OUTCOMES:
        raise FileError(
            name, line, f'expected as "outcome" one of {", ".join(OUTCOMES)}; found {shown(outcome)}; {_MEND}.'
        )
    if outcome == "graded" and grade is None:
        raise FileError(name, line, 'expected a "grade" with the outcome graded, found none; give one of them.')
    if outcome not in ("graded", "out_of_scale") and grade is not None:
        raise FileError(name, line, f'expected no "grade" with the outcome {outcome}, found {grade}; remove one.')
    return outcome


def _probabilities(value: object, name: str, line: int) -> Mapping[int, float] | None:
    if value is None:
        return None
    problem = f'expected as "probabilities" an object of grades and numbers from 0 to 1, found {shown(value)}; {_MEND}.'
    if not isinstance(value, dict):
        raise FileError(name, line, problem)
    probabilities = {}
    for key, probability in value.items():
        grade = _grade_of(key)
        if grade is None or not _is_number(probability) or not 0 <= probability <= 1:
            raise FileError(name, line, problem)
        probabilities[grade] = float(probability)
    return probabilities


def _grade_of(key: object) -> int | None:
    """The grade that a key spells in its shortest form, so that no two keys are one grade."""
    text = str(key)
    if len(text) > len("-32768") or not text.removeprefix("-").isdecimal():
        return None
    return int(text) if str(int(text)) == text else None


def _seconds(value: object, name: str, line: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and _is_number(value) and isfinite(value) and value >= 0:
        return float(value)
    raise FileError(name, line, f'expected as "seconds" a number from 0 on, found {shown(value)}; {_MEND}.')


def _count(value: object, key: str, name: str, line: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and _is_number(value) and 0 <= value <= _LARGEST_COUNT:
        return value
    raise FileError(name, line, f'expected as "{key}" a whole number from 0 on, found {shown(value)}; {_MEND}.')


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flag(value: object, key: str, name: str, line: int) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise FileError(name, line, f'expected true or false as "{key}", found {shown(value)}; {_MEND}.')


def _time(value: object, key: str, name: str, line: int) -> datetime | None:
    if value is None:
        return None
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value)  # type: ignore[arg-type]
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    problem = f'expected as "{key}" a time with its zone, such as 2026-01-31T12:00:00Z; found {shown(value)}; {_MEND}.'
    raise FileError(name, line, problem)


def row_of(line: JudgmentLine) -> dict[str, Any]:
    """The values of ``KEYS``, in that order, times in UTC."""
    row = {key: getattr(line, key) for key in KEYS}
    row["created_at"], row["updated_at"] = _utc(line.created_at), _utc(line.updated_at)
    return row


def _utc(time: datetime | None) -> datetime | None:
    if time is None or time.tzinfo is UTC:
        return time
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
