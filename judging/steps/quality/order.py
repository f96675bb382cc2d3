"""Whether an LLM's scale stands the right way up: do its grades rise where people's do?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judging.measures.agreement import Contrast, paired
from judging.measures.arrays import FloatArray
from judging.measures.association import correlation
from judging.measures.intervals import Estimate
from judging.steps.agreement.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Order:
    """``grades``, ``expected``  correlation with the reference of the judge's grades, and of its expected grades
    ``turned``    quadratic kappa with the scale turned round (first) and as it is (second)
    """

    grades: Estimate
    expected: Estimate
    turned: Contrast

    @property
    def is_upright(self) -> bool:
        """Whether a correlation lies above 0 with its whole interval, or is perfect, when it needs none."""
        return any(
            one.value > 1 - 1e-9 or (one.interval is not None and one.interval.low > 0)
            for one in (self.expected, self.grades)
        )

    @property
    def inverted(self) -> Estimate | None:
        """The correlation that lies below 0 with its whole interval, the expected grades' first; None where none does.

        Agreement that is settled to be better turned round counts too.
        """
        below = [one for one in (self.expected, self.grades) if one.interval is not None and one.interval.high < 0]
        if below:
            return below[0]
        return self.grades if self.turned.settled and self.turned.first > self.turned.second else None


def order_of(sheet: Sheet, grades: FloatArray, expected: FloatArray) -> Order:
    """The judge's (n,) grades and expected grades against the reference of the sheet.

    Turned agreement is quadratic kappa, which knows how far grades lie apart: of a judge that is merely off by one,
    plain kappa may be better turned round by accident.
    """
    people, scale = sheet.reference.grades, np.array(sheet.scale.values, dtype=float)

    def with_people(values: FloatArray) -> Estimate:
        return correlation(values, people, clusters=sheet.queries, sample_weight=sheet.weights)

    given = np.isin(grades, scale)
    upside_down = np.full(grades.size, np.nan)
    upside_down[given] = scale[::-1][np.searchsorted(scale, grades[given])]
    return Order(
        grades=with_people(grades),
        expected=with_people(expected),
        turned=paired(people, upside_down, grades, **sheet.options).graded["quadratic_kappa"],
    )
