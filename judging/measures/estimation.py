"""Prediction-powered inference: few queries judged by people, all of them by an LLM, one honest mean.

The unit is the query and its value any measure of it: nDCG@10, P@10, the number of judged positives. The LLM's values
are computed from its own labels (``ranking.evaluate`` with those as qrels), the people's from theirs. The queries that
people judged must be a random sample of all: then the mean correction on them holds for the rest too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from judging.measures.arrays import FloatArray, ratio
from judging.measures.intervals import Estimate, Interval, undefined
from judging.measures.sentence import Sentence
from judging.measures.student import t_quantile

Tuning = float | Literal["fitted"]
_ROUNDING = 1e-12
_WORTH = 1.02


class _Reasons(NamedTuple):
    """Why there is no interval."""

    too_few: str
    no_variation: str


_BY_PEOPLE = _Reasons(
    "too few queries judged by people to see how they vary", "the queries judged by people show no variation"
)
_BY_LLM = _Reasons(
    "too few queries judged by the LLM to see how they vary", "the queries judged by the LLM show no variation"
)
_BY_BOTH = _Reasons(
    "too few queries judged by both to see how they vary",
    "the LLM is off by the same on every query: the queries judged by both show no variation",
)


@dataclass(frozen=True, slots=True)
class Moments:
    """Estimates, their variances and the degrees of freedom of these; ``tuning`` is the λ that was used."""

    value: FloatArray
    variance: FloatArray
    degrees: int
    tuning: FloatArray

    def margin(self) -> FloatArray:
        """Half the width of the 95 % interval; nan without a degree of freedom."""
        if self.degrees < 1:
            return np.full(self.variance.shape, nan)
        half: FloatArray = t_quantile(self.degrees) * np.sqrt(self.variance)
        return half


@dataclass(frozen=True, slots=True)
class Gain:
    """What the LLM's labels add to the people's.

    ``width_ratio``        width of the people's interval / width of the joined one; below 1 the LLM does harm
    ``effective_queries``  queries that people alone would have to judge for a variance as small as the joined one
    ``says``               the same as a sentence
    """

    width_ratio: float
    effective_queries: float
    says: str


@dataclass(frozen=True, slots=True)
class Joined:
    """The mean over queries, three times: by people alone, by the LLM alone, by both.

    ``queries``     N: queries with a value by the LLM
    ``judged``      n: those of them with a value by people
    ``left_out``    queries that people judged and the LLM did not
    ``population``  M: how many queries the mean is about
    ``correction``  mean of people − LLM where both judged: how far the LLM alone is off
    ``tuning``      λ, the weight of the LLM's values
    """

    people: Estimate
    llm: Estimate
    joined: Estimate
    gain: Gain
    correction: float
    tuning: float
    queries: int
    judged: int
    left_out: int
    population: float


def join(people: npt.ArrayLike, llm: npt.ArrayLike, *, population: float | None = None, tuning: Tuning = 1.0) -> Joined:
    """Join a measure's values by people, (Q,) and nan where they did not judge the query, with the LLM's, (Q,).

    ``population`` is M, the number of queries that the mean is about: by default the N at hand, whose mean is known
    once people have judged all; ``inf`` for queries like these. ``tuning`` is λ: 1 is the plain estimator, unbiased
    whatever the LLM is like; 0 ignores the LLM; "fitted" takes it from the queries that both judged, and pays for it
    with a degree of freedom: from about ten judged queries on it loses little with a weak LLM, with fewer it costs
    more than it gains. Decide on λ before looking: the narrower of two intervals covers less than 95 %.

    The LLM's own interval is that of a mean over a sample of queries, as one would report it who took the LLM's labels
    for people's. It is there to be compared: it knows nothing of the LLM's errors. Formulas: ``people_only``,
    ``llm_only``, ``prediction_powered``.

    Raises ValueError for vectors of different length, a population smaller than N, and λ that is no number.
    """
    by_people, by_llm = np.asarray(people, dtype=float), np.asarray(llm, dtype=float)
    if by_people.ndim != 1 or by_people.shape != by_llm.shape:
        raise ValueError(f"Expected two vectors over the same queries; found {by_people.shape} and {by_llm.shape}.")
    everywhere = by_llm[~np.isnan(by_llm)]
    both = ~np.isnan(by_people) & ~np.isnan(by_llm)
    judged, queries = int(both.sum()), everywhere.size
    of = float(queries) if population is None else float(population)
    if not of >= queries:
        raise ValueError(f"The population holds the {queries} queries at hand; found {population}.")
    left_out = int((~np.isnan(by_people) & np.isnan(by_llm)).sum())
    by_llm_alone = _estimate(llm_only(everywhere), _BY_LLM) if queries else _none("no query has a value by the LLM")
    if not judged:
        nothing = _none("no query has a value by people and by the LLM")
        no_gain = Gain(nan, nan, "Without a query judged by people nothing can be said of the gain.")
        return Joined(nothing, by_llm_alone, nothing, no_gain, nan, nan, queries, 0, left_out, of)
    alone = people_only(by_people[both], population=of)
    joined = prediction_powered(by_people[both], by_llm[both], everywhere, population=of, tuning=tuning)
    return Joined(
        people=_estimate(alone, _BY_PEOPLE, known=judged == of),
        llm=by_llm_alone,
        joined=_estimate(joined, _BY_BOTH, known=judged == of),
        gain=_gain(alone, joined, population=of),
        correction=float((by_people[both] - by_llm[both]).mean()),
        tuning=float(joined.tuning),
        queries=queries,
        judged=judged,
        left_out=left_out,
        population=of,
    )


def people_only(people: FloatArray, *, population: float = inf) -> Moments:
    """The mean over n sampled queries, (…, n) → (…): variance (1/n − 1/M) s²_y, n − 1 degrees of freedom.

    1/M is the finite-population correction: Cochran, Sampling Techniques, 3rd ed., 1977, section 2.6.
    """
    n = people.shape[-1]
    return Moments(people.mean(axis=-1), (1 / n - 1 / population) * _variance(people), n - 1, np.zeros(()))


def llm_only(llm: FloatArray) -> Moments:
    """The mean of the LLM's values over all N queries, (…, N) → (…), as if they were the truth: s²_f / N, N − 1."""
    n = llm.shape[-1]
    return Moments(llm.mean(axis=-1), _variance(llm) / n, n - 1, np.ones(()))


def prediction_powered(
    people: FloatArray, llm: FloatArray, everywhere: FloatArray, *, population: float, tuning: Tuning = 1.0
) -> Moments:
    """mean_n(y) + λ (mean_N(f) − mean_n(f)): ``people`` y, ``llm`` f (…, n), ``everywhere`` f over all (…, N).

    The n queries are among the N, so the variance is that of the difference estimator in two phases,
    (1/n − 1/N) s²_e + (1/N − 1/M) s²_y with e = y − λ f and n − 1 degrees of freedom. A fitted λ is the slope of y on
    f; then s²_e is the residual variance with n − 2 degrees of freedom, and the uncertainty of the slope adds
    s²_e (mean_N(f) − mean_n(f))² / Σ (f − mean_n(f))². Where the LLM's values do not vary there is no slope: λ is 0.

    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-powered inference, Science 382, 2023; λ: Angelopoulos,
    Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023 (arXiv 2311.01453); for retrieval measures:
    Oosterhuis, Jagerman, Qin, Wang and Bendersky, Reliable confidence intervals for information retrieval evaluation
    using generative A.I., KDD 2024. In sampling theory it is the difference and the regression estimator: Cochran,
    Sampling Techniques, 3rd ed., 1977, ch. 7 and 12; the slope's part: Royall and Cumberland, JASA 76, 1981.
    """
    n, size = people.shape[-1], everywhere.shape[-1]
    shift = everywhere.mean(axis=-1) - llm.mean(axis=-1)
    phases = 1 / n - 1 / size
    beyond = (1 / size - 1 / population) * _variance(people)
    if tuning != "fitted":
        slope = np.asarray(float(tuning))
        if not np.isfinite(slope):
            raise ValueError(f'tuning is a number or "fitted"; found {tuning}.')
        error = _variance(people - slope * llm)
        return Moments(people.mean(axis=-1) + slope * shift, phases * error + beyond, n - 1, slope)
    centred = llm - llm.mean(axis=-1, keepdims=True)
    spread = (centred**2).sum(axis=-1)
    slope = np.nan_to_num(ratio((centred * people).sum(axis=-1), spread))
    residuals = people - people.mean(axis=-1, keepdims=True) - slope[..., None] * centred
    error = (residuals**2).sum(axis=-1) / (n - 2) if n > 2 else np.full(slope.shape, nan)
    variance = error * (phases + np.nan_to_num(ratio(shift**2, spread))) + beyond
    return Moments(people.mean(axis=-1) + slope * shift, variance, n - 2, slope)


def _variance(values: FloatArray) -> FloatArray:
    """(…, n) → (…), nan for a single value."""
    if values.shape[-1] < 2:
        return np.full(values.shape[:-1], nan)
    return np.asarray(values.var(axis=-1, ddof=1))


def _none(reason: str) -> Estimate:
    return Estimate(nan, reason, undefined(reason))


def _estimate(moments: Moments, reasons: _Reasons, *, known: bool = False) -> Estimate:
    value, margin = float(moments.value), float(moments.margin())
    if known:
        return Estimate(value, "", undefined("people judged every query: the value is known, not estimated"))
    if moments.degrees < 1:
        return Estimate(value, "", undefined(reasons.too_few))
    if margin <= _ROUNDING:
        return Estimate(value, "", undefined(reasons.no_variation))
    return Estimate(value, "", Interval(value - margin, value + margin))


def _gain(alone: Moments, joined: Moments, *, population: float) -> Gain:
    widths, variances = float(ratio(alone.margin(), joined.margin())), float(ratio(joined.variance, alone.variance))
    if isnan(widths) or isnan(variances):
        return Gain(nan, nan, "The gain cannot be told: one of the two intervals is undefined.")
    judged = alone.degrees + 1
    effective = 1 / (variances * (1 / judged - 1 / population) + 1 / population)
    return Gain(widths, effective, _says(widths, effective, judged))


def _says(widths: float, effective: float, judged: int) -> str:
    if widths < 1 / _WORTH:
        return Sentence(
            "The LLM does harm: its labels make the interval %(percent)s %% wider than people alone give.",
            percent=f"{100 * (1 / widths - 1):.0f}",
        )
    if widths < _WORTH:
        return "The LLM adds nothing: people alone give as narrow an interval."
    return Sentence(
        "The LLM makes the interval %(percent)s %% narrower: %(judged)s queries judged by people tell as much as "
        "%(effective)s would without it.",
        percent=f"{100 * (1 - 1 / widths):.0f}",
        judged=judged,
        effective=f"{effective:.0f}",
    )
