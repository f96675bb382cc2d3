"""What an LLM's answers say beside their grades: expected grades, mass outside the scale, cut documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judging.engines.llm import distribution
from judging.measures.arrays import FloatArray
from judging.models import Outcome
from judging.steps.agreement.sheet import Answers, Sheet, judgments_of

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Readings:
    """Vectors over the n pairs of a sheet.

    ``expected``   the expected grade of what was graded; nan without a grade or without probabilities
    ``outside``    the probability of all that is no grade of the scale; nan without probabilities
    ``truncated``  whether the document was cut before it was read
    """

    expected: FloatArray
    outside: FloatArray
    truncated: Flags


def readings(sheet: Sheet, answers: Answers) -> Readings:
    """The sheet must be a pool's."""
    assert sheet.pool is not None
    row = {key: number for number, key in enumerate(sheet.keys)}
    expected, outside = (np.full(len(row), np.nan) for _ in range(2))
    truncated = np.zeros(len(row), dtype=bool)
    rows = judgments_of(sheet.pool).filter(judge=answers.judge)
    fields = rows.values_list("query", "document", "outcome", "probabilities", "truncated")
    for query, document, outcome, probabilities, was_cut in fields.iterator(chunk_size=10_000):
        number = row[query, document]
        truncated[number] = was_cut
        mass = {grade: probabilities.get(str(grade), 0.0) for grade in sheet.scale.values} if probabilities else {}
        if not mass:
            continue
        outside[number] = distribution.mass_outside(mass)
        value = distribution.expected_grade(mass)
        if outcome == Outcome.GRADED and value is not None:
            expected[number] = value
    return Readings(expected, outside, truncated)
