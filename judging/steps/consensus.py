"""What the people say of a pair: an adjudication where there is one, else their majority."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from judging.models import Judge, Judgment

# Primary keys of (query, document).
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``grade`` is None where people differ without a majority, or where nobody could judge."""

    grade: int | None
    grades: tuple[int, ...]
    cannot_judge: int = 0
    adjudicated: bool = False

    @property
    def is_tie(self) -> bool:
        return self.grade is None and bool(self.grades)

    @property
    def source(self) -> str:
        """``adjudicated``, or ``people`` with how many there were and how they split: ``people:2/3``."""
        if self.adjudicated:
            return "adjudicated"
        return f"people:{self.grades.count(self.grade)}/{len(self.grades)}" if self.grade is not None else "people:tie"


def verdicts(judgments: QuerySet[Judgment]) -> dict[Key, Verdict]:
    """The verdict on every pair that a person or an adjudication has judged, among the given judgments.

    Of several adjudications of a pair the latest holds.
    """
    grades: defaultdict[Key, list[int]] = defaultdict(list)
    without: Counter[Key] = Counter()
    adjudicated: dict[Key, int] = {}
    rows = judgments.filter(judge__kind__in=[Judge.Kind.PERSON, Judge.Kind.ADJUDICATION]).order_by("updated_at", "pk")
    for query, document, kind, grade in rows.values_list("query", "document", "judge__kind", "grade"):
        key = (query, document)
        if grade is None:
            without[key] += 1
        elif kind == Judge.Kind.ADJUDICATION:
            adjudicated[key] = grade
        else:
            grades[key].append(grade)
    keys = dict.fromkeys([*grades, *without, *adjudicated])
    return {key: _verdict(key, grades, without, adjudicated) for key in keys}


def _verdict(
    key: Key, grades: Mapping[Key, list[int]], without: Mapping[Key, int], adjudicated: Mapping[Key, int]
) -> Verdict:
    given = tuple(sorted(grades.get(key, ())))
    grade = adjudicated.get(key, majority(given))
    return Verdict(grade, given, without.get(key, 0), key in adjudicated)


def majority(grades: Iterable[int]) -> int | None:
    """The grade that more people gave than any other; None on a tie or where there is none."""
    ranked = Counter(grades).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
