"""What a distribution over grades says beside its likeliest grade.

``probabilities`` map each grade of the scale to its probability as the model gave it, not normalised: what they lack to
1 is the mass outside the scale. Expected grade and entropy are those of the distribution given that a grade is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

Probabilities = Mapping[int, float]


def expected_grade(probabilities: Probabilities) -> float | None:
    """The mean grade, None where no grade has any probability."""
    mass = sum(probabilities.values())
    return sum(grade * value for grade, value in probabilities.items()) / mass if mass > 0 else None


def entropy(probabilities: Probabilities) -> float | None:
    """Shannon's entropy in bits: 0 for one certain grade, log2(n) for n equally likely ones, None without any."""
    mass = sum(probabilities.values())
    if mass <= 0:
        return None
    shares = [value / mass for value in probabilities.values() if value > 0]
    # Where one grade has everything the sum is -0.0.
    return abs(sum(share * math.log2(share) for share in shares))


def mass_outside(probabilities: Probabilities) -> float:
    """The probability of all that is no grade of the scale, between 0 and 1."""
    return min(1.0, max(0.0, 1.0 - sum(probabilities.values())))
