"""What an LLM must offer to be a judge, whichever serves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judging.engines.llm import distribution
from judging.formats.records import Document, Query

Messages = list[dict[str, str]]
"""A chat: ``role`` (system, user, assistant) and ``content`` of each turn."""


@dataclass(frozen=True, slots=True)
class Question:
    """One pair to be judged. ``known`` is the known relevant document, for prompts that show it."""

    query: Query
    document: Document
    known: Document | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one question.

    ``outcome`` is ``graded``, ``out_of_scale`` (the model answered with a number that is no grade of the scale),
    ``unparsed`` or ``failed``; ``grade`` is None unless graded. ``probabilities`` are those of the grades, before any
    normalisation, so that what they lack to 1 is the mass outside the scale; None where the grade was read from the
    text. ``raw`` is the text the model gave, or the reason of a failure. ``truncated`` says that the model did not get
    to read the whole document. The tokens are counted as the model was sent and gave them; None where that is not
    known.
    """

    outcome: str
    grade: int | None = None
    probabilities: Mapping[int, float] | None = None
    raw: str = ""
    seconds: float | None = None
    truncated: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def expected_grade(self) -> float | None:
        return None if self.probabilities is None else distribution.expected_grade(self.probabilities)

    @property
    def entropy(self) -> float | None:
        """In bits, of the distribution over the grades."""
        return None if self.probabilities is None else distribution.entropy(self.probabilities)

    @property
    def mass_outside(self) -> float | None:
        """The probability of all that is no grade of the scale."""
        return None if self.probabilities is None else distribution.mass_outside(self.probabilities)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a model is sent for one question.

    ``text`` is the very text, through the model's chat template, where its tokenizer is at hand; else None. ``tokens``
    counts it. ``messages`` are the chat turns, with the document cut as it will be.
    """

    messages: Messages
    text: str | None = None
    tokens: int | None = None
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

    def preview(self, question: Question) -> Preview:
        """What would be sent for a question. Loads no weights and asks no server, but may load the tokenizer, and torch
        with it; in a web worker the messages alone come from ``Prompt.fill``.

        Raises ValueError for a question that cannot be asked: the prompt needs a known document or is too long.
        """
        ...
