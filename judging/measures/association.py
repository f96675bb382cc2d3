"""Whether two judges' grades rise together or against each other, whatever the grades are called."""

from __future__ import annotations

from math import nan

import numpy as np
import numpy.typing as npt

from judging.measures.agreement.estimates import NO_PAIR
from judging.measures.arrays import FloatArray, Grades, as_grades, as_weights, number_clusters, ratio
from judging.measures.intervals import Estimate, cluster_bootstrap, undefined
from judging.measures.resampling import RESAMPLES, SEED

_CONSTANT = "one of the two gave the same value to every pair"


def correlation(
    a: Grades,
    b: Grades,
    *,
    clusters: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate:
    """Pearson's correlation of two vectors over the same pairs, (n,) each and nan where there is no value.

    The interval resamples whole queries (``clusters``). Pearson, Notes on regression and inheritance in the case of two
    parents, Proceedings of the Royal Society of London 58, 1895.
    """
    x, y = as_grades(a), as_grades(b)
    if x.size != y.size:
        raise ValueError(f"Expected values of the same pairs; found {x.size} and {y.size}.")
    weights = as_weights(sample_weight, x.size)
    both = ~np.isnan(x) & ~np.isnan(y) & (weights > 0)
    if not both.any():
        return Estimate(nan, NO_PAIR, undefined(NO_PAIR))
    w = weights[both]
    # From the middle, for sums of squares of large numbers lose the small differences.
    x, y = x[both] - x[both].mean(), y[both] - y[both].mean()
    query = number_clusters(clusters, both)
    sums = np.stack([np.bincount(query, w * part) for part in (np.ones(x.size), x, y, x * x, y * y, x * y)], axis=1)
    value = float(_pearson(sums.sum(axis=0)))
    if value != value:  # nan
        return Estimate(nan, _CONSTANT, undefined(_CONSTANT))
    return Estimate(value, "", cluster_bootstrap(sums.astype(float), _pearson, resamples=resamples, seed=seed))


def _pearson(sums: FloatArray) -> FloatArray:
    """(…, 6) sums of w, wx, wy, wx², wy², wxy → (…,)."""
    total, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.maximum(total * xx - x * x, 0) * np.maximum(total * yy - y * y, 0)
    return ratio(total * xy - x * y, np.sqrt(spread))
