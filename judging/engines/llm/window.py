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


def fit(question: Question, encode: Callable[[Question], list[int]], window: int) -> Encoded:
    """The whole question, or as many words of its document as fit into ``window`` tokens.

    A text that is one word, as in languages written without blanks, is cut at a character.
    Raises ValueError where the prompt and the query alone are too long.
    """
    whole = encode(question)
    if len(whole) <= window:
        return Encoded(whole)
    text = question.document.full_text
    ends = [match.end() for match in _WORD_END.finditer(text)]
    for cuts in (ends, range(1, ends[0]) if ends else []):
        if cut := _longest(question, cuts, encode, window):
            return Encoded(cut, truncated=True)
    raise ValueError(f"the prompt is longer than the window of {window} tokens even without the document")


def _longest(
    question: Question, cuts: Sequence[int], encode: Callable[[Question], list[int]], window: int
) -> list[int] | None:
    """The token ids with the document cut at the last of ``cuts`` that fits, by halving; None where none does."""
    best: list[int] | None = None
    low, high = 0, len(cuts) - 1
    while low <= high:
        middle = (low + high) // 2
        ids = encode(_cut(question, cuts[middle]))
        if len(ids) <= window:
            best, low = ids, middle + 1
        else:
            high = middle - 1
    return best


def _cut(question: Question, end: int) -> Question:
    document = replace(question.document, title="", text=question.document.full_text[:end])
    return replace(question, document=document)


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
