"""Coefficients with their intervals and, where there is no value, the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from judging.measures.agreement import coefficients as c
from judging.measures.arrays import FloatArray
from judging.measures.intervals import Estimate, Interval, clustered_interval, too_few_clusters, undefined
from judging.measures.resampling import resampled_totals

NO_PAIR = "no pair was graded by both"
NO_PAIR_WITHIN = "no pair was graded by both within the scale: the judges may have used different scales"
NO_WEIGHT = "every pair that was graded by both has weight 0"
_ONE_GRADE = "both gave one and the same grade to every pair, so agreement by chance is complete"
_ONE_GRADE_SCALE = "the scale has one grade only"


@dataclass(frozen=True, slots=True)
class Statistic:
    """``compute`` takes confusion matrices (…, G, G) and the scale; the reason is for where there are pairs."""

    compute: Callable[[FloatArray, FloatArray], FloatArray]
    undefined_because: str = NO_PAIR


_SHARED = {
    "raw_agreement": Statistic(lambda m, _: c.raw(m)),
    "cohen_kappa": Statistic(c.kappa, _ONE_GRADE),
    "gwet_ac1": Statistic(c.gwet, _ONE_GRADE_SCALE),
}
GRADED: Mapping[str, Statistic] = _SHARED | {
    "linear_kappa": Statistic(lambda m, scale: c.kappa(m, scale, "linear"), _ONE_GRADE),
    "quadratic_kappa": Statistic(lambda m, scale: c.kappa(m, scale, "quadratic"), _ONE_GRADE),
    "krippendorff_alpha": Statistic(lambda m, scale: c.alpha(m, scale, "ordinal"), _ONE_GRADE),
    "gwet_ac2": Statistic(lambda m, scale: c.gwet(m, scale, "quadratic"), _ONE_GRADE_SCALE),
    "bias": Statistic(c.mean_difference),
}
BINARY: Mapping[str, Statistic] = _SHARED | {
    "krippendorff_alpha": Statistic(lambda m, scale: c.alpha(m, scale, "nominal"), _ONE_GRADE),
    "precision": Statistic(lambda m, _: c.precision(m), "the second judge called nothing relevant"),
    "recall": Statistic(lambda m, _: c.recall(m), "the first judge called nothing relevant"),
    "f1": Statistic(lambda m, _: c.f1(m), "neither judge called anything relevant"),
    "prevalence_first": Statistic(lambda m, _: c.prevalence_first(m)),
    "prevalence_second": Statistic(lambda m, _: c.prevalence_second(m)),
}


@dataclass(frozen=True, slots=True)
class Resampled:
    """The confusion matrix of all pairs, (G, G), and its resamples, (resamples, G, G).

    Where ``stack`` is None, ``no_stack`` is the interval to show instead; None where no interval was asked for.
    ``no_pair`` is the reason to give where there is no pair at all.
    """

    total: FloatArray
    stack: FloatArray | None
    no_stack: Interval | None = None
    no_pair: str = NO_PAIR

    def estimates(self, statistics: Mapping[str, Statistic], scale: FloatArray) -> dict[str, Estimate]:
        return {name: self._estimate(statistic, scale) for name, statistic in statistics.items()}

    def _estimate(self, statistic: Statistic, scale: FloatArray) -> Estimate:
        value = float(statistic.compute(self.total, scale))
        if value == value:  # not nan
            return Estimate(value, "", self._interval(statistic, scale))
        reason = statistic.undefined_because if self.total.any() else self.no_pair
        wanted = self.stack is not None or self.no_stack is not None
        return Estimate(value, reason, undefined(reason) if wanted else None)

    def _interval(self, statistic: Statistic, scale: FloatArray) -> Interval | None:
        if self.stack is None:
            return self.no_stack
        return clustered_interval(statistic.compute(self.stack, scale))


def no_pair_because(*, weightless: int, out_of_scale: int) -> str:
    """Why no pair counts, from the numbers of pairs that were left out."""
    return NO_WEIGHT if weightless else NO_PAIR_WITHIN if out_of_scale else NO_PAIR


def resample(total: FloatArray, by_cluster: FloatArray | None, *, resamples: int, seed: int, no_pair: str) -> Resampled:
    """Draw whole clusters; ``by_cluster`` is (C, G, G) and adds up to ``total``, None where no interval is wanted."""
    if by_cluster is None:
        return Resampled(total, None, None, no_pair)
    if by_cluster.shape[0] < 2:
        return Resampled(total, None, too_few_clusters(by_cluster.shape[0]), no_pair)
    return Resampled(total, resampled_totals(by_cluster, resamples=resamples, seed=seed), None, no_pair)
