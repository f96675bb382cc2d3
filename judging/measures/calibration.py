"""Whether an LLM's probability that a document is relevant means what it says."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from judging.measures.arrays import FloatArray, Grades, as_grades, as_weights, number_clusters, ratio
from judging.measures.calibration_error import expected_error
from judging.measures.intervals import Estimate, cluster_bootstrap, share_interval, undefined
from judging.measures.resampling import RESAMPLES, SEED

NO_PAIR = "no pair has a probability and an answer by people"
BINS = 10
_ROUNDING = 1e-9  # 0.07 · 100 is 7.000000000000001


@dataclass(frozen=True, slots=True)
class Bin:
    """The pairs whose probability lies in (low, high], the first bin from 0 on.

    ``mean_probability``  what the LLM says, nan in an empty bin
    ``relevant``          the share that people call relevant, with its interval where clusters were given
    """

    low: float
    high: float
    pairs: int
    mean_probability: float
    relevant: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """``pairs`` count; ``no_probability`` and ``no_answer`` pairs have one side only and do not.

    ``expected_error``  Σ_b (share of pairs in bin b) · |share relevant − mean probability|
    ``error_by_chance`` what it would be on average of a judge that means just what it says: never quite 0; nan where no
                        clusters were given, or only one
    ``brier``           mean of (probability − relevant)²; 0 is perfect
    ``brier_constant``  what the share relevant, said of every pair, would score: above it the LLM knows nothing
    ``bias``            mean probability − share relevant: above 0, the LLM claims too much relevance
    """

    bins: tuple[Bin, ...]
    expected_error: Estimate
    error_by_chance: float
    brier: Estimate
    brier_constant: float
    bias: Estimate
    pairs: int
    no_probability: int
    no_answer: int
    weighted: bool


def calibrate(
    probability: Grades,
    relevant: Grades,
    *,
    bins: int = BINS,
    clusters: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Calibration:
    """Hold the LLM's probabilities of "relevant" against people's labels (1, 0), (n,) each and nan where there is none.

    Bins are of equal width. Intervals are clustered by query where ``clusters`` is given.

    Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78, 1950; bins: DeGroot
    and Fienberg, The comparison and evaluation of forecasters, The Statistician 32, 1983; expected calibration error:
    Naeini, Cooper and Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.
    """
    said, truth = as_grades(probability), as_grades(relevant)
    _check(said, truth, bins)
    weights = as_weights(sample_weight, said.size)
    has_said, has_truth = ~np.isnan(said), ~np.isnan(truth)
    both = has_said & has_truth & (weights > 0)
    groups = None if clusters is None else number_clusters(clusters, both)
    p, y, w = said[both], truth[both], weights[both]
    options = _Options(groups, resamples, seed)
    share = float(ratio(w @ y, w.sum()))
    numbers = np.clip(np.ceil(p * bins - _ROUNDING).astype(np.int64) - 1, 0, bins - 1)
    in_bins = [_bin(number, bins, p, y, w, numbers == number, options) for number in range(bins)]
    error, by_chance = _expected_error(numbers, bins, w * (p - y), w, options)
    return Calibration(
        bins=tuple(in_bins),
        expected_error=error,
        error_by_chance=by_chance,
        brier=_mean((p - y) ** 2, w, options),
        brier_constant=share * (1 - share),
        bias=_mean(p - y, w, options),
        pairs=p.size,
        no_probability=int((~has_said & has_truth).sum()),
        no_answer=int((has_said & ~has_truth).sum()),
        weighted=sample_weight is not None,
    )


@dataclass(frozen=True, slots=True)
class _Options:
    groups: npt.NDArray[np.int64] | None
    resamples: int
    seed: int


def _bin(
    number: int,
    bins: int,
    p: FloatArray,
    y: FloatArray,
    w: FloatArray,
    inside: npt.NDArray[np.bool_],
    options: _Options,
) -> Bin:
    low, high, pairs = number / bins, (number + 1) / bins, int(inside.sum())
    if not pairs:
        reason = "no pair has such a probability"
        return Bin(low, high, 0, nan, Estimate(nan, reason, None if options.groups is None else undefined(reason)))
    mean = float(np.average(p[inside], weights=w[inside]))
    if options.groups is None:
        return Bin(low, high, pairs, mean, Estimate(float(np.average(y[inside], weights=w[inside]))))
    share = share_interval(
        y[inside],
        options.groups[inside],
        sample_weight=w[inside],
        resamples=options.resamples,
        seed=options.seed,
    )
    return Bin(low, high, pairs, mean, share)


def _expected_error(
    numbers: npt.NDArray[np.int64], bins: int, gaps: FloatArray, weights: FloatArray, options: _Options
) -> tuple[Estimate, float]:
    """The error and what chance alone makes of it; ``gaps`` is (n,), the weighted gap of each pair."""
    if not gaps.size:
        return Estimate(nan, NO_PAIR, None if options.groups is None else undefined(NO_PAIR)), nan
    if options.groups is None:
        return Estimate(float(np.abs(np.bincount(numbers, gaps)).sum() / weights.sum())), nan
    clusters = int(options.groups.max()) + 1
    by_cluster = np.bincount(options.groups * bins + numbers, gaps, minlength=clusters * bins).reshape(clusters, bins)
    sizes = np.bincount(options.groups, weights, minlength=clusters)
    return expected_error(by_cluster.astype(float), sizes.astype(float), resamples=options.resamples, seed=options.seed)


def _mean(values: FloatArray, weights: FloatArray, options: _Options) -> Estimate:
    """Weighted mean over pairs with its clustered interval."""
    if not values.size:
        return Estimate(nan, NO_PAIR, None if options.groups is None else undefined(NO_PAIR))
    value = float(np.average(values, weights=weights))
    if options.groups is None:
        return Estimate(value)
    totals = np.stack(
        [np.bincount(options.groups, weights * values), np.bincount(options.groups, weights)], axis=1
    ).astype(float)
    interval = cluster_bootstrap(
        totals, lambda t: ratio(t[:, 0], t[:, 1]), resamples=options.resamples, seed=options.seed
    )
    return Estimate(value, "", interval)


def _check(said: FloatArray, truth: FloatArray, bins: int) -> None:
    if said.size != truth.size:
        raise ValueError(f"Expected one probability and one answer a pair; found {said.size} and {truth.size}.")
    if ((said < 0) | (said > 1)).any():
        raise ValueError("A probability lies between 0 and 1.")
    if not np.isin(truth[~np.isnan(truth)], (0.0, 1.0)).all():
        raise ValueError("An answer is 1 (relevant), 0 or nan.")
    if bins < 1:
        raise ValueError(f"Expected at least 1 bin; found {bins}.")
