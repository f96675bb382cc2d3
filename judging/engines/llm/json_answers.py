"""Finding the answers in JSON that stands somewhere in a text, valid or not."""

from __future__ import annotations

import json
import re
from typing import Any

_KEYS = re.compile(
    r"(?P<final>final|overall)?(?:grade|score|rating|label|relevance|level|answer|verdict|judge?ment|category)"
    r"(?:grade|score|rating|label|level|value)?"
)
_MOST_TRIES = 200
"""Braces looked at in one text: a text of nothing but braces must not take minutes."""


def json_answers(text: str) -> tuple[list[tuple[str, bool]], str]:
    """([(value as text, whether it is called final)], the text without the JSON that had an answer).

    Values that are no number and no string, such as true, null or a list, are given as an empty text. A key that is
    there twice gives both values. Broken JSON is left in the text and gives nothing.
    """
    found: list[tuple[str, bool]] = []
    rest: list[str] = []
    position = 0
    for _ in range(_MOST_TRIES):
        start = text.find("{", position)
        if start < 0:
            break
        answers, end = _at(text, start)
        rest.append(text[position : start if answers else end])
        found += answers
        position = end
    return found, "".join([*rest, text[position:]])


def _at(text: str, start: int) -> tuple[list[tuple[str, bool]], int]:
    """The answers of the object that begins at ``start`` and where it ends; one character on where there is none."""
    try:
        pairs, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return [], start + 1
    answers = [
        (_as_text(value), bool(match["final"]))
        for key, value in pairs
        # What lies in an object of its own is found when that one is looked at.
        if (match := _KEYS.fullmatch(re.sub(r"[\s_-]", "", key).lower())) and not isinstance(value, tuple)
    ]
    return (answers, end) if answers else ([], start + 1)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# Objects as tuples of pairs, for a dict would hide a key that is there twice. Numbers as they are written.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str)
