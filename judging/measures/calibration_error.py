"""The expected calibration error with an interval, and how much of it chance alone makes."""

from __future__ import annotations

from math import nan

import numpy as np

from judging.measures.arrays import FloatArray
from judging.measures.intervals import LEVEL, Estimate, Interval, too_few_clusters
from judging.measures.resampling import RESAMPLES, SEED, resampled_totals


def expected_error(
    gaps: FloatArray, sizes: FloatArray, *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Estimate, float]:
    """Σ_b |Σ_c gaps| / Σ_c sizes, and what it would be on average of a judge that means just what it says.

    ``gaps`` is (C, B): the sum of weight · (probability − relevant) of each query's pairs in each bin; ``sizes`` (C,)
    is the sum of their weights. Whole queries are resampled.

    Noise only adds to a sum of absolute values, and a resample adds it a second time, so the percentile interval lies
    too high: of a judge that means what it says it never holds 0. Taken is the basic interval, twice the value minus
    the percentiles (Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 5.2), from 0 on where
    noise around no gap at all reaches the value. On simulated judges with 25 or 60 queries it held the true error in 88
    to 98 % of the samples, the percentile interval in 0 to 94 %.
    """
    total = float(sizes.sum())
    in_bins = gaps.sum(axis=0)
    value = float(np.abs(in_bins).sum() / total)
    if sizes.size < 2:
        return Estimate(value, "", too_few_clusters(sizes.size)), nan
    drawn = resampled_totals(np.column_stack([gaps, sizes]), resamples=resamples, seed=seed)
    drawn_gaps, drawn_sizes = drawn[:, :-1], drawn[:, -1:]
    again = np.abs(drawn_gaps).sum(axis=1) / drawn_sizes[:, 0]
    noise = np.abs(drawn_gaps - in_bins * drawn_sizes / total).sum(axis=1) / drawn_sizes[:, 0]
    return Estimate(value, "", _interval(value, again, noise)), float(noise.mean())


def _interval(value: float, again: FloatArray, noise: FloatArray) -> Interval:
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    by_chance = value <= np.quantile(noise, (1 + LEVEL) / 2)
    return Interval(0.0 if by_chance else max(0.0, 2 * value - float(high)), max(value, 2 * value - float(low)))
