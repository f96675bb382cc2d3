"""The grade scale of a collection: its grades, their words, and from which one on a document is relevant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from judging.errors import UserError


@dataclass(frozen=True, slots=True)
class Grade:
    value: int
    word: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """Grades in rising order; ``relevant_from`` is the lowest that counts as relevant."""

    grades: tuple[Grade, ...]
    relevant_from: int = 1

    def __post_init__(self) -> None:
        values = self.values
        if len(values) < 2 or any(b <= a for a, b in pairwise(values)):
            raise UserError(f"A scale needs at least two different grades in rising order; found {list(values)}.")
        if not values[0] < self.relevant_from <= values[-1]:
            raise UserError(
                f"relevant_from must lie above the lowest grade ({values[0]}) and not above the highest "
                f"({values[-1]}); found {self.relevant_from}."
            )

    def __iter__(self) -> Iterator[Grade]:
        return iter(self.grades)

    def __contains__(self, grade: object) -> bool:
        return grade in self.values

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(grade.value for grade in self.grades)

    @property
    def is_binary(self) -> bool:
        return len(self.grades) == 2

    def word(self, grade: int) -> str:
        """The word of a grade; the number itself for a grade outside the scale."""
        return next((g.word for g in self.grades if g.value == grade), str(grade))

    def relevant(self, grade: int) -> bool:
        return grade >= self.relevant_from

    def as_json(self) -> dict[str, Any]:
        return {
            "grades": [{"value": g.value, "word": g.word, "description": g.description} for g in self.grades],
            "relevant_from": self.relevant_from,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scale:
        grades = tuple(Grade(int(g["value"]), g["word"], g.get("description", "")) for g in data["grades"])
        return cls(grades, int(data["relevant_from"]))


_WORDS: dict[int, Sequence[tuple[str, str]]] = {
    2: (
        ("Not relevant", "Does not help to answer"),
        ("Relevant", "Answers, at least in part"),
    ),
    3: (
        ("Not relevant", "Does not help to answer"),
        ("Relevant", "Answers in part or indirectly"),
        ("Highly relevant", "Answers directly"),
    ),
    4: (
        ("Not relevant", "Does not help to answer"),
        ("Related", "On the topic, no answer"),
        ("Relevant", "Answers in part or indirectly"),
        ("Perfect", "Dedicated to the answer"),
    ),
}


def default_scale(highest: int, relevant_from: int | None = None) -> Scale:
    """The scale 0 … ``highest`` in the words commonly used for it.

    Relevant from 1 on, except on the four grades of TREC's passage tracks, where 1 means "on the topic, no answer" and
    NIST counts from 2 on.
    """
    size = max(highest, 1) + 1
    words = _WORDS.get(size) or [("Not relevant", ""), *((f"Relevance {n}", "") for n in range(1, size))]
    grades = tuple(Grade(n, *pair) for n, pair in enumerate(words))
    return Scale(grades, relevant_from if relevant_from is not None else (2 if size == 4 else 1))


def parse_scale(text: str, relevant_from: int | None = None) -> Scale:
    """A scale from ``0=Not relevant, 1=Related, 2=Relevant``; relevant from its second grade on unless said."""
    grades = []
    for part in text.split(","):
        value, equals, word = part.partition("=")
        try:
            grades.append(Grade(int(value), word.strip()))
        except ValueError:
            equals = ""
        if not equals or not word.strip():
            raise UserError(f'A scale is written as "0=Not relevant, 1=Relevant"; found {part.strip()!r} in {text!r}.')
    grades.sort(key=lambda grade: grade.value)
    return Scale(tuple(grades), relevant_from if relevant_from is not None else grades[min(1, len(grades) - 1)].value)
