"""What the readers yield and the writers take: one small record a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the corpus. ``id`` is opaque: never parsed, never cast to int."""

    id: str
    title: str = ""
    text: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def full_text(self) -> str:
        """Title and text joined with one blank where both exist: what rerankers and LLMs read."""
        return f"{self.title} {self.text}" if self.title and self.text else self.title or self.text


@dataclass(frozen=True, slots=True)
class Query:
    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Qrel:
    """One line of a qrels file: the grade of one (query, document), negative grades included."""

    query: str
    document: str
    grade: int
    line: int = 0


@dataclass(frozen=True, slots=True)
class RunLine:
    """One line of a TREC run. ``rank`` is what the file says; the score decides the order."""

    query: str
    document: str
    rank: int
    score: float
    tag: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class JudgmentLine:
    """One judgment with all that a file says of it: a grade, or the reason why there is none.

    ``outcome`` is one of ``graded``, ``cannot_judge``, ``out_of_scale``, ``unparsed``, ``failed``; ``grade`` is None
    unless the outcome is ``graded`` (or ``out_of_scale``, where it is the grade that was found). ``judge``, its
    ``kind`` and ``fingerprint`` say who judged, and are empty where the file does not name the judge. ``truncated``
    says that an LLM did not get to read the whole document; the tokens are those that it read and wrote. The times are
    in UTC.
    """

    query: str
    document: str
    outcome: str
    grade: int | None = None
    probabilities: Mapping[int, float] | None = None
    raw: str = ""
    comment: str = ""
    seconds: float | None = None
    assisted: bool = False
    line: int = 0
    judge: str = ""
    kind: str = ""
    fingerprint: str = ""
    truncated: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
