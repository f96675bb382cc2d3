"""Quantiles of Student's t, for intervals from few queries."""

from __future__ import annotations

from functools import cache
from math import atan, cos, pi, sin, sqrt

import numpy as np

_STEPS = 200


@cache
def t_quantile(degrees: int, level: float = 0.95) -> float:
    """t with P(|T| ≤ t) = ``level`` for a whole number of degrees of freedom, by bisection of ``t_within``.

    Raises ValueError for degrees below 1 and for a level outside (0, 1).
    """
    if degrees < 1 or not 0 < level < 1:
        raise ValueError(f"Expected at least 1 degree of freedom and a level in (0, 1); found {degrees} and {level}.")
    low, high = 0.0, 1.0
    while t_within(high, degrees) < level:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_within(middle, degrees) < level else (low, middle)
    return (low + high) / 2


def t_within(t: float, degrees: int) -> float:
    """P(|T| ≤ t) of Student's t with whole degrees of freedom, a finite series in θ = atan(t / √degrees).

    Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
    """
    angle = atan(t / sqrt(degrees))
    if degrees == 1:
        return 2 * angle / pi
    odd = degrees % 2
    k = np.arange(1, (degrees - odd) // 2, dtype=float)
    factors = (2 * k) / (2 * k + 1) if odd else (2 * k - 1) / (2 * k)
    series = 1 + float(np.cumprod(factors * cos(angle) ** 2).sum())
    if odd:
        return 2 / pi * (angle + sin(angle) * cos(angle) * series)
    return sin(angle) * series
