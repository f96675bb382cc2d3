"""Making a question fit the model's window: the document is cut, at a word, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from judging.engines.llm.base import Question

_WORD_END = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A question as token ids. ``truncated`` says that the end of its document is missing."""

    ids: list[int]
    truncated: bool = False
    question: Question | None = None
    """As it was asked, its document perhaps cut."""


def fit(question: Question, encode: Callable[[Question], list[int]], window: int) -> Encoded:
    """The whole question, or as many words of its document as fit into ``window`` tokens.

    A text that is one word, as in languages written without blanks, is cut at a character.
    Raises ValueError where the prompt and the query alone are too long.
    """
    whole = encode(question)
    if len(whole) <= window:
        return Encoded(whole, question=question)
    text = question.document.full_text
    ends = [match.end() for match in _WORD_END.finditer(text)]
    for cuts in (ends, range(1, ends[0]) if ends else []):
        if fitting := _longest(question, cuts, encode, window):
            return fitting
    raise ValueError(f"the prompt is longer than the window of {window} tokens even without the document")


def _longest(
    question: Question, cuts: Sequence[int], encode: Callable[[Question], list[int]], window: int
) -> Encoded | None:
    """The question with its document cut at the last of ``cuts`` that fits, by halving; None where none does."""
    best: Encoded | None = None
    low, high = 0, len(cuts) - 1
    while low <= high:
        middle = (low + high) // 2
        shorter = cut(question, cuts[middle])
        ids = encode(shorter)
        if len(ids) <= window:
            best, low = Encoded(ids, truncated=True, question=shorter), middle + 1
        else:
            high = middle - 1
    return best


def cut(question: Question, end: int) -> Question:
    """The question with the document up to a character."""
    document = replace(question.document, title="", text=question.document.full_text[:end])
    return replace(question, document=document)


def cut_at_word(question: Question, characters: int) -> tuple[Question, bool]:
    """The question with at most so many characters of its document, and whether any are missing.

    For a server whose tokens cannot be counted here. A text without blanks is cut at a character.
    """
    text = question.document.full_text
    if len(text) <= characters:
        return question, False
    ends = [match.end() for match in _WORD_END.finditer(text, 0, characters + 1) if match.end() <= characters]
    return cut(question, ends[-1] if ends else characters), True


def plan_batches(lengths: list[int], budget: int) -> list[list[int]]:
    """Rows in batches of at most ``budget`` tokens, padding included, longest first; a longer row is alone."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        # The first row of a batch is its longest and sets the width.
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches
