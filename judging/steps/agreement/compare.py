"""One judge against the reference: the panel, the counts, what was left out, and several judges side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judging.formats.scale import Grade, Scale
from judging.measures.agreement import LeftOut, Paired, Panel, confusion, leave_one_out, paired, panel
from judging.measures.agreement.panel import Ceiling, ceiling
from judging.measures.arrays import FloatArray
from judging.models import Judge, Outcome
from judging.steps.agreement.sheet import Answers, Sheet

# Kappa below and agreement above: nearly all pairs are of one kind, so chance alone would agree as often.
_HIGH, _LOW = 0.8, 0.4

# Of a calibrated judge (see steps/calibrate.py), wherever its agreement is shown.
CROSS_FITTED = (
    "A calibrated judge: what it says of queries with people's labels comes from thresholds fitted without the query."
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A count, and how dark its field is: 0 to 4."""

    count: int
    shade: int
    grade: int = 0


@dataclass(frozen=True, slots=True)
class LlmAgreement:
    """One LLM against the people.

    ``counts``    (G, G) pairs by the people's grade and the LLM's, never weighted
    ``left_out``  pairs that only one side graded, by the reason
    ``clipped``   pairs with a grade outside the scale, taken as its nearest end
    """

    judge: Judge
    scale: Scale
    panel: Panel
    counts: FloatArray
    outcomes: dict[str, int]
    left_out: dict[str, int]
    clipped: int = 0

    @property
    def confusion_rows(self) -> list[tuple[Grade, list[Cell]]]:
        """The counts as a table: a row for each of the people's grades, a cell for each of the LLM's."""
        most = max(self.counts.max(), 1)
        return [
            (
                grade,
                [
                    Cell(int(count), round(4 * count / most), column.value)
                    for column, count in zip(self.scale, row, strict=True)
                ],
            )
            for grade, row in zip(self.scale, self.counts, strict=True)
        ]

    @property
    def hides_low_kappa(self) -> bool:
        """Whether the share that agrees looks better than it is."""
        graded = self.panel.graded
        return graded["raw_agreement"].value >= _HIGH and graded["cohen_kappa"].value < _LOW

    @property
    def relevant_difference(self) -> int:
        """How many more pairs the LLM calls relevant than the reference does."""
        relevant = np.array(self.scale.values) >= self.scale.relevant_from
        return int(self.counts[:, relevant].sum() - self.counts[relevant].sum())

    @property
    def unread(self) -> int:
        """Pairs that the judge was asked about and gave no grade of the scale for."""
        return sum(count for outcome, count in self.outcomes.items() if outcome != Outcome.GRADED)


def compare(sheet: Sheet, answers: Answers) -> LlmAgreement:
    """A judge against the sheet's reference."""
    reference = sheet.reference
    asked = (answers.outcomes != "") & (~np.isnan(reference.grades) | (reference.why_not != ""))
    left_out: Counter[str] = Counter()
    for why, outcome in zip(reference.why_not[asked], answers.outcomes[asked], strict=True):
        if why:
            left_out[str(why)] += 1
        elif outcome != Outcome.GRADED:
            left_out[str(Outcome(outcome).label)] += 1
    outcomes = Counter(str(outcome) for outcome in answers.outcomes if outcome)
    return LlmAgreement(
        judge=answers.judge,
        scale=sheet.scale,
        panel=panel(reference.grades, answers.grades, **sheet.options),
        counts=confusion(reference.grades, answers.grades, grades=sheet.scale.values),
        outcomes=dict(outcomes),
        left_out=dict(left_out),
        clipped=answers.clipped,
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """A judge of the table of judges; ``difference`` is this judge − the first, on the pairs that both graded."""

    compared: LlmAgreement
    difference: Paired | None


def side_by_side(sheet: Sheet, compared: Sequence[LlmAgreement], first: Judge) -> list[Beside]:
    """All judges, each with its paired difference to ``first``."""
    ours = sheet.answers_of(first.pk)
    return [
        Beside(
            one,
            None
            if one.judge == first
            else paired(sheet.reference.grades, sheet.answers_of(one.judge.pk).grades, ours.grades, **sheet.options),
        )
        for one in compared
    ]


def human_ceiling(sheet: Sheet) -> Ceiling | None:
    """People with people, on the pairs that two or more of them graded; None where there are none."""
    if not sheet.people:
        return None
    table = np.stack([answers.grades for answers in sheet.people])
    shared = (~np.isnan(table)).sum(axis=0) > 1
    if not shared.any():
        return None
    options = sheet.options
    weights = options.pop("sample_weight")
    options |= {"clusters": sheet.queries[shared], "sample_weight": None if weights is None else weights[shared]}
    return ceiling(*table[:, shared], **options)


@dataclass(frozen=True, slots=True)
class Person:
    """One person against the majority of the others."""

    judge: Judge
    graded: int
    rest: LeftOut | None


def each_person(sheet: Sheet) -> list[Person]:
    """Every person's labels, and how they agree with the majority of the others (a ceiling as the LLM meets it)."""
    rests: Sequence[LeftOut | None] = [None] * len(sheet.people)
    if len(sheet.people) > 1:
        rests = leave_one_out(*(answers.grades for answers in sheet.people), **sheet.options)
    return [
        Person(answers.judge, int((~np.isnan(answers.grades)).sum()), rest)
        for answers, rest in zip(sheet.people, rests, strict=True)
    ]
