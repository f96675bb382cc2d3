"""What an LLM must offer to be a judge, whichever serves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judging.formats.records import Document, Query


@dataclass(frozen=True, slots=True)
class Question:
    """One pair to be judged. ``known`` is the known relevant document, for prompts that show it."""

    query: Query
    document: Document
    known: Document | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one question.

    ``outcome`` is ``graded``, ``out_of_scale`` (the model's mass lies outside the grades of the scale), ``unparsed``
    or ``failed``; ``grade`` is None unless graded. ``probabilities`` are those of the grades, before any
    normalisation, so that what they lack to 1 is the mass outside the scale. ``raw`` is the text the model gave.
    """

    outcome: str
    grade: int | None = None
    probabilities: Mapping[int, float] | None = None
    raw: str = ""
    seconds: float | None = None
    truncated: bool = False


class LanguageModel(Protocol):
    """A model with a prompt and a scale: one judge."""

    name: str
    """Short and readable: the model's own name and the prompt's, such as ``Phi-3-mini-4k-instruct pointwise``."""

    def identity(self) -> dict[str, Any]:
        """Every determinant of an answer; JSON-serialisable. Its hash is the judge's fingerprint."""
        ...

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in their order."""
        ...
