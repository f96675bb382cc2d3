"""95 % percentile intervals, of whatever can be computed from resampled queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from judging.measures.arrays import FloatArray, Grades, as_grades, as_weights, number_clusters, ratio
from judging.measures.resampling import RESAMPLES, SEED, resampled_totals
from judging.measures.sentence import Sentence

LEVEL = 0.95
NORMAL_QUANTILE = 1.959963984540054
"""Half an interval at ``LEVEL`` in standard errors: the 97.5 % quantile of the standard normal distribution."""

_UNDEFINED_AT_MOST = 0.05
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """A 95 % interval; (nan, nan) and the reason where it is undefined.

    ``undefined_resamples`` counts the resamples in which the statistic had no value; they are left out.
    """

    low: float
    high: float
    reason: str = ""
    undefined_resamples: int = 0


class Estimate(NamedTuple):
    """A value with its interval; nan and the reason where the value is undefined.

    ``interval`` is None where none was asked for.
    """

    value: float
    reason: str = ""
    interval: Interval | None = None


def undefined(reason: str, undefined_resamples: int = 0) -> Interval:
    """The interval that does not exist, and why."""
    return Interval(float("nan"), float("nan"), reason, undefined_resamples)


def percentile_interval(resampled: FloatArray) -> Interval:
    """The 2.5 % and 97.5 % quantiles of a statistic over bootstrap resamples, (resamples,).

    Resamples without a value are left out while they are at most 5 % of all; beyond that 95 % cannot be claimed and
    the interval is undefined. Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    defined = resampled[~np.isnan(resampled)]
    lost = resampled.size - defined.size
    if lost > _UNDEFINED_AT_MOST * resampled.size:
        return undefined(
            Sentence("without a value in %(lost)s of %(all)s resamples", lost=lost, all=resampled.size), lost
        )
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), "", lost)


def cluster_bootstrap(
    statistics: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Percentile interval of a statistic when whole clusters (queries) are resampled.

    ``statistics`` is (C, …), the additive sufficient statistics of each cluster, such as its G × G confusion matrix;
    ``statistic`` maps a stack of their totals (resamples, …) to (resamples,). See ``resampled_totals``.
    """
    clusters = statistics.shape[0]
    if clusters < 2:
        return too_few_clusters(clusters)
    return clustered_interval(statistic(resampled_totals(statistics, resamples=resamples, seed=seed)))


def too_few_clusters(clusters: int) -> Interval:
    return undefined("only one query" if clusters == 1 else "no pair was graded by both")


def clustered_interval(resampled: FloatArray) -> Interval:
    """``percentile_interval``, undefined where no resample differs: a width of 0 would claim certainty.

    That happens where all pairs got one grade, or a judge gave only one: the sample shows nothing of the variation.
    """
    interval = percentile_interval(resampled)
    if interval.high - interval.low <= _ROUNDING and np.nanmax(resampled) - np.nanmin(resampled) <= _ROUNDING:
        return undefined("the same in every resample: the pairs show no variation", interval.undefined_resamples)
    return interval


def mean_interval(values: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Bootstrap interval of the mean over queries; ``values`` is (Q,), nan where a query has no value (left out)."""
    vector = np.asarray(values, dtype=float)
    defined = vector[~np.isnan(vector)]
    if defined.size < 2:
        return undefined("only one query" if defined.size else "no query has a value")
    return percentile_interval(resampled_totals(defined, resamples=resamples, seed=seed) / defined.size)


def share_interval(
    successes: Grades,
    clusters: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate:
    """The weighted share of successes and its interval, clustered by query: Σ w·s / Σ w.

    ``successes`` is 1, 0 or nan (no answer: left out) for each pair, ``clusters`` its query. Pairs chosen with unequal
    probability are weighted by 1 / inclusion probability (the ratio estimator of Hájek, 1971).
    """
    success = as_grades(successes)
    weights = as_weights(sample_weight, success.size)
    answered = ~np.isnan(success)
    if answered.any() and not weights[answered].any():
        reason = "every pair with an answer has weight 0"
        return Estimate(float("nan"), reason, undefined(reason))
    answered &= weights > 0
    if not np.isin(success[answered], (0.0, 1.0)).all():
        raise ValueError("A success is 1, 0 or nan.")
    if not answered.any():
        reason = "no pair has an answer"
        return Estimate(float("nan"), reason, undefined(reason))
    query, weight = number_clusters(clusters, answered), weights[answered]
    totals = [np.bincount(query, weight * success[answered]), np.bincount(query, weight)]
    by_cluster = np.stack(totals, axis=1).astype(float)
    interval = cluster_bootstrap(by_cluster, lambda t: ratio(t[:, 0], t[:, 1]), resamples=resamples, seed=seed)
    hits, total = by_cluster.sum(axis=0)
    return Estimate(float(hits / total), "", interval)
