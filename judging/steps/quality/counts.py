"""How often each grade was given, by the LLM and by people; how much of its probability lies outside the scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judging.formats.scale import Scale
from judging.measures.arrays import FloatArray
from judging.measures.intervals import Estimate, share_interval
from judging.steps.agreement.sheet import Sheet

OUTSIDE_BOUND = 0.1
"""More probability than this outside the scale, and the judge hardly means to give a grade."""

_OUTSIDE_ENDS = (0.01, 0.05, OUTSIDE_BOUND, 0.25, 0.5, 1.0)
_BARS = 20


@dataclass(frozen=True, slots=True)
class GradeCount:
    """How often a grade was given: by the judge and by people, on the pairs that both graded and on all of their own.

    Shares are nan where nothing was counted.
    """

    value: int
    word: str
    judge_both: int
    people_both: int
    judge_all: int
    people_all: int
    judge_both_share: float
    people_both_share: float
    judge_all_share: float
    people_all_share: float


def grade_counts(scale: Scale, judge: FloatArray, people: FloatArray) -> list[GradeCount]:
    """Plain counts, whatever the pairs' inclusion probabilities: this is what was said, not an estimate."""
    both = ~np.isnan(judge) & ~np.isnan(people)
    sides = (judge[both], people[both], judge, people)
    rows = []
    for grade in scale:
        counts = [int((side == grade.value).sum()) for side in sides]
        shares = [
            count / size if size else float("nan")
            for count, size in zip(counts, (int((~np.isnan(side)).sum()) for side in sides), strict=True)
        ]
        rows.append(GradeCount(grade.value, grade.word, *counts, *shares))
    return rows


@dataclass(frozen=True, slots=True)
class Outside:
    """The mass outside the scale of ``pairs`` answers with probabilities.

    ``parts``  (low, high, count) of the answers whose mass lies in (low, high], the first from 0 on
    ``above``  the share of answers above ``OUTSIDE_BOUND``, clustered by query
    """

    pairs: int
    median: float
    most: float
    parts: Sequence[tuple[float, float, int]]
    above: Estimate


def outside_of(sheet: Sheet, outside: FloatArray) -> Outside | None:
    """None where the judge gave no probabilities."""
    given = outside[~np.isnan(outside)]
    if not given.size:
        return None
    starts = (0.0, *_OUTSIDE_ENDS[:-1])
    numbers = np.searchsorted(_OUTSIDE_ENDS, given, side="left")
    counts = np.bincount(np.minimum(numbers, len(_OUTSIDE_ENDS) - 1), minlength=len(_OUTSIDE_ENDS))
    above = np.where(np.isnan(outside), np.nan, (outside > OUTSIDE_BOUND).astype(float))
    return Outside(
        pairs=given.size,
        median=float(np.median(given)),
        most=float(given.max()),
        parts=[(low, high, int(n)) for low, high, n in zip(starts, _OUTSIDE_ENDS, counts, strict=True)],
        above=share_interval(above, sheet.queries, sample_weight=sheet.weights),
    )


@dataclass(frozen=True, slots=True)
class ExpectedBar:
    """The pairs whose expected grade lies in [low, high), the last bar with its end, by what people say of them."""

    low: float
    high: float
    relevant: int
    other: int
    unjudged: int


def expected_bars(sheet: Sheet, expected: FloatArray) -> list[ExpectedBar]:
    """Bars of equal width over the whole scale; empty where the judge gave no probabilities."""
    given = ~np.isnan(expected)
    if not given.any():
        return []
    edges = np.linspace(sheet.scale.values[0], sheet.scale.values[-1], _BARS + 1)
    relevant = sheet.relevance(sheet.reference.grades)
    parts = [
        np.histogram(expected[given & chosen], edges)[0]
        for chosen in (relevant == 1, relevant == 0, np.isnan(relevant))
    ]
    return [ExpectedBar(float(edges[n]), float(edges[n + 1]), *(int(part[n]) for part in parts)) for n in range(_BARS)]
