"""Words put into a document that has nothing to do with them: those of the query, or as many others."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from judging.models import GullibilityProbe

Way = GullibilityProbe.Way

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)")


def words_of(text: str) -> list[str]:
    """In lower case, in their order."""
    return [word.lower() for word in _WORD.findall(text)]


def stuffed(text: str, words: str, way: str) -> str:
    """``words`` before the text, or after each of its sentences (at its end, where it has but one)."""
    if way == Way.START:
        return f"{words} {text}"
    return " ".join(f"{sentence.strip()} {words}" for sentence in _SENTENCE_END.split(text) if sentence.strip())


def other_words(query: str, vocabulary: Sequence[str], *, seed: str) -> str:
    """As many words as the query has, drawn from the vocabulary without those of the query; empty where none is left.

    ``vocabulary`` may repeat words: one that is common there is drawn as often.
    """
    own = words_of(query)
    others = [word for word in vocabulary if word not in set(own)]
    if not others:
        return ""
    return " ".join(random.Random(seed).choices(others, k=len(own)))  # noqa: S311 (a draw that can be repeated)
