"""A coefficient as a mean over pairs, to first order: what each pair adds to it."""

from __future__ import annotations

import numpy as np

from judging.measures.agreement import coefficients
from judging.measures.agreement.estimates import BINARY, GRADED, Statistic
from judging.measures.agreement.pairs import Pairs
from judging.measures.arrays import FloatArray

_STEP = 1e-4


def linearised(pairs: Pairs, name: str, *, relevant_from: int | None = None) -> FloatArray:
    """(n,) values z with coefficient ≈ its value + mean of z when the pairs were drawn anew; nan where undefined.

    ``name`` is that of a coefficient of the panel, on the whole scale or, with ``relevant_from``, binarised. z is the
    influence value n · ∂T/∂n_ij of the pair's cell times its weight, the derivative taken numerically.

    Hampel, The influence curve and its role in robust estimation, JASA 69, 1974; for variances of nonlinear statistics
    from surveys: Deville, Variance estimation for complex statistics and estimators, Survey Methodology 25, 1999.
    """
    statistics = GRADED if relevant_from is None else BINARY
    if name not in statistics:
        raise ValueError(f"{name!r} is no coefficient here; there are {', '.join(statistics)}.")
    influence = _influence(pairs.confusion(), pairs.scale, statistics[name], relevant_from)
    values: FloatArray = influence[pairs.first, pairs.second] * pairs.weights
    return values


def _influence(matrix: FloatArray, scale: FloatArray, statistic: Statistic, relevant_from: int | None) -> FloatArray:
    """(G, G): derivative of the coefficient along (1 − ε) · matrix + ε · total · cell, by central differences."""
    size, total = scale.size, matrix.sum()
    cells = np.eye(size * size).reshape(size * size, size, size) * total
    step = _STEP * (cells - matrix)
    stack = np.stack([matrix - step, matrix + step])
    if relevant_from is None:
        below, above = statistic.compute(stack, scale)
    else:
        below, above = statistic.compute(coefficients.binarised(stack, scale, relevant_from), np.array([0.0, 1.0]))
    slopes: FloatArray = (above - below) / (2 * _STEP)
    return slopes.reshape(size, size)
