"""Comparing runs: two of them on the same queries, many at once, and two orders of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from judging.measures.arrays import FloatArray, ratio
from judging.measures.intervals import Interval, mean_interval
from judging.measures.resampling import RESAMPLES, SEED, sign_flipped_sums

RANDOMISATIONS = 10_000


class Difference(NamedTuple):
    """Two runs compared on the same queries: mean of first − second, its interval, and the two-sided p value."""

    value: float
    interval: Interval
    p: float
    queries: int
    left_out: int


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    resamples: int = RESAMPLES,
    randomisations: int = RANDOMISATIONS,
    seed: int = SEED,
) -> Difference:
    """Compare two runs by their values on the same queries, (Q,) each; queries undefined on either side are left out.

    The interval is the paired bootstrap of the mean difference. p is that of the two-sided paired randomisation test:
    under the null hypothesis the two values of a query could be swapped, so signs are flipped at random and
    p = (1 + #{|sum| ≥ |observed sum|}) / (1 + randomisations).

    Smucker, Allan and Carterette, A comparison of statistical significance tests for information retrieval evaluation,
    CIKM 2007; the +1: Phipson and Smyth, Permutation p-values should never be zero, SAGMB 9(1), 2010.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"Expected two vectors over the same queries; found shapes {a.shape} and {b.shape}.")
    difference = (a - b)[~np.isnan(a - b)]
    left_out = a.size - difference.size
    interval = mean_interval(difference, resamples=resamples, seed=seed)
    if not difference.size:
        return Difference(float("nan"), interval, float("nan"), 0, left_out)
    sums = sign_flipped_sums(difference, resamples=randomisations, seed=seed)
    rounding = 1e-9 * np.abs(difference).sum()  # sums of the same numbers in another order are still ties
    as_far = int((np.abs(sums) >= abs(difference.sum()) - rounding).sum())
    p = (1 + as_far) / (1 + randomisations)
    return Difference(float(difference.mean()), interval, p, difference.size, left_out)


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's adjusted p values, in the order given: the i-th smallest of m is max_{j≤i} min(1, (m − j + 1) · p_j).

    An undefined p (nan) stays undefined and is no member of the family.
    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * p[order]))
    return adjusted


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Kendall's tau-b between the scores of the same n systems, (n,) each; systems undefined on a side are left out.

    tau-b = (concordant − discordant) / √((pairs − ties in first) · (pairs − ties in second)). Without ties it is
    tau-a. nan for fewer than two systems and where one side ties them all.

    Kendall, The treatment of ties in ranking problems, Biometrika 33(3), 1945.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"Expected two vectors over the same systems; found shapes {a.shape} and {b.shape}.")
    both = ~(np.isnan(a) | np.isnan(b))
    sign_a, sign_b = (np.sign(side[both][:, None] - side[both]) for side in (a, b))
    return float(ratio((sign_a * sign_b).sum(), np.sqrt((sign_a**2).sum() * (sign_b**2).sum())))
