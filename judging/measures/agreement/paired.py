"""Two judges against the same reference on the same pairs: by how much does one agree better than the other?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judging.measures.agreement import coefficients
from judging.measures.agreement.estimates import BINARY, GRADED, Statistic
from judging.measures.agreement.pairs import pair_up
from judging.measures.arrays import FloatArray, Grades, as_grades
from judging.measures.intervals import Estimate, Interval, clustered_interval, too_few_clusters, undefined
from judging.measures.resampling import RESAMPLES, SEED, resampled_totals
from judging.measures.sentence import Sentence

NO_COMMON_PAIR = "no pair was graded by the reference and by both judges"
_SAME_GRADES = "the two judges gave the same grade to every pair"
_FIRST_UNDEFINED = "undefined for the first judge: %(reason)s"
_SECOND_UNDEFINED = "undefined for the second judge: %(reason)s"
_BOTH_UNDEFINED = "undefined for the first and the second judge: %(reason)s"
_BINARY_SCALE = np.array([0.0, 1.0])


@dataclass(frozen=True, slots=True)
class Contrast:
    """One coefficient of the first judge and of the second, and ``difference`` = first − second with its interval."""

    first: float
    second: float
    difference: Estimate

    @property
    def settled(self) -> bool:
        """Whether the interval of the difference leaves 0 out; never where it is undefined."""
        interval = self.difference.interval
        return interval is not None and (interval.low > 0 or interval.high < 0)


@dataclass(frozen=True, slots=True)
class Paired:
    """Coefficient → contrast, on the whole scale and on every binarisation; names and order as in ``Comparison``.

    ``pairs``     pairs that the reference and both judges graded within the scale; no other counts
    ``queries``   clusters among them; None where no clusters were given, and so no intervals
    ``left_out``  pairs that the reference graded, but not both judges within the scale
    """

    pairs: int
    queries: int | None
    left_out: int
    weighted: bool
    graded: Mapping[str, Contrast]
    binary: Mapping[int, Mapping[str, Contrast]]


def paired(
    reference: Grades,
    first: Grades,
    second: Grades,
    *,
    grades: Sequence[int],
    relevant_from: int | None = None,
    clusters: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Paired:
    """Compare how two judges (LLMs) agree with one reference (the people), coefficient by coefficient.

    Arguments as in ``panel``. Only pairs with all three grades count, and both judges are resampled together: what a
    hard query costs both cancels, so the interval of the difference is narrower than two separate intervals suggest.

    Paired resampling: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 8; of kappas on the same
    subjects: Vanbelle and Albert, A bootstrap method for comparing correlated kappa coefficients, Journal of
    Statistical Computation and Simulation 78(11), 2008.
    """
    known, ours, theirs = as_grades(reference), as_grades(first), as_grades(second)
    if not known.size == ours.size == theirs.size:
        raise ValueError(f"Expected grades of the same pairs; found {known.size}, {ours.size} and {theirs.size}.")
    whole = np.all([np.isin(side, grades) for side in (known, ours, theirs)], axis=0)
    sides = [
        pair_up(np.where(whole, known, np.nan), side, grades=grades, sample_weight=sample_weight, clusters=clusters)
        for side in (ours, theirs)
    ]
    stack = None
    no_stack = None
    number = None
    if clusters is not None:
        by_cluster = np.stack([side.confusion_by_cluster() for side in sides], axis=1)
        number = by_cluster.shape[0]
        if number < 2:
            no_stack = too_few_clusters(number)
        elif (ours[whole] == theirs[whole]).all():
            no_stack = undefined(_SAME_GRADES)
        else:
            stack = resampled_totals(by_cluster, resamples=resamples, seed=seed)
    both = _Both(np.stack([side.confusion() for side in sides]), stack, no_stack)
    scale = sides[0].scale
    thresholds = sorted((int(grade) for grade in scale[1:]), key=lambda threshold: threshold != relevant_from)
    return Paired(
        pairs=int(whole.sum()),
        queries=number,
        left_out=int((~np.isnan(known) & ~whole).sum()),
        weighted=sample_weight is not None,
        graded=both.contrasts(GRADED, scale),
        binary={at: both.binarised(scale, at).contrasts(BINARY, _BINARY_SCALE) for at in thresholds},
    )


@dataclass(frozen=True, slots=True)
class _Both:
    """Confusion matrices of both judges: ``total`` (2, G, G) and its resamples (resamples, 2, G, G)."""

    total: FloatArray
    stack: FloatArray | None
    no_stack: Interval | None

    def binarised(self, scale: FloatArray, relevant_from: int) -> _Both:
        halved = None if self.stack is None else coefficients.binarised(self.stack, scale, relevant_from)
        return _Both(coefficients.binarised(self.total, scale, relevant_from), halved, self.no_stack)

    def contrasts(self, statistics: Mapping[str, Statistic], scale: FloatArray) -> dict[str, Contrast]:
        return {name: self._contrast(statistic, scale) for name, statistic in statistics.items()}

    def _contrast(self, statistic: Statistic, scale: FloatArray) -> Contrast:
        first, second = (float(value) for value in statistic.compute(self.total, scale))
        if np.isnan(first - second):
            reason = _reason(statistic, first, second) if self.total.any() else NO_COMMON_PAIR
            wanted = self.stack is not None or self.no_stack is not None
            return Contrast(first, second, Estimate(float("nan"), reason, undefined(reason) if wanted else None))
        return Contrast(first, second, Estimate(first - second, "", self._interval(statistic, scale)))

    def _interval(self, statistic: Statistic, scale: FloatArray) -> Interval | None:
        if self.stack is None:
            return self.no_stack
        values = statistic.compute(self.stack, scale)
        return clustered_interval(values[:, 0] - values[:, 1])


def _reason(statistic: Statistic, first: float, second: float) -> str:
    sides = {(True, False): _FIRST_UNDEFINED, (False, True): _SECOND_UNDEFINED}
    template = sides.get((bool(np.isnan(first)), bool(np.isnan(second))), _BOTH_UNDEFINED)
    return Sentence(template, reason=statistic.undefined_because)
