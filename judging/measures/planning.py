"""What would n more human labels buy? The width to expect of an interval after more queries, pairs or people.

The labels of one query are alike, so a label on a new query tells more than one on a known query; how much more follows
from the variance between queries and that within them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

import numpy as np
import numpy.typing as npt

from judging.measures.agreement.estimates import NO_PAIR
from judging.measures.agreement.linearised import linearised
from judging.measures.agreement.pairs import pair_up
from judging.measures.arrays import FloatArray, Grades, as_grades, as_weights, number_clusters, ratio
from judging.measures.intervals import NORMAL_QUANTILE
from judging.measures.sentence import Sentence

NO_NOISE = "no pair has labels of two people: their noise is unknown"
NO_NOISE_OF_COEFFICIENT = "how much of its variance is people's noise cannot be told from one grade a pair"
More = Literal["queries", "pairs", "people"]


@dataclass(frozen=True, slots=True)
class Variation:
    """Where a mean over pairs gets its variance from; nan and the reason where it cannot be told.

    ``between``     variance of the queries' own means
    ``within``      variance of the pairs of one query
    ``people``      variance of people's labels of one pair; nan where no pair has two
    ``queries``     clusters at hand, ``pairs`` pairs a query and ``labels`` labels a pair, both on average
    ``no_noise``    why ``people`` is nan, where it is
    ``unevenness``  1 where all queries have as many pairs; else 1 + (their standard deviation / mean)²
    """

    between: float
    within: float
    people: float
    queries: int
    pairs: float
    labels: float
    unevenness: float
    reason: str = ""
    no_noise: str = NO_NOISE

    @property
    def intra_cluster_correlation(self) -> float:
        """The share of the variance that lies between queries: 0 where pairs of a query are no more alike."""
        noise = 0.0 if isnan(self.people) else self.people
        return float(ratio(self.between, self.between + self.within + noise))


@dataclass(frozen=True, slots=True)
class Purchase:
    """One way to spend the labels: ``more`` of what, the design that results, and the width to expect."""

    more: More
    queries: float
    pairs: float
    labels: float
    width: float
    reason: str = ""


def variation_of_share(
    *raters: Grades, clusters: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
) -> Variation:
    """Of the share of successes: each rater's answers, 1, 0 or nan, to the same pairs. A pair counts by its mean."""
    table = np.stack([as_grades(rater) for rater in raters])
    if not np.isin(table[~np.isnan(table)], (0.0, 1.0)).all():
        raise ValueError("A success is 1, 0 or nan.")
    given = (~np.isnan(table)).sum(axis=0)
    everywhere = as_weights(sample_weight, given.size)
    kept = (given > 0) & (everywhere > 0)
    weights = everywhere[kept]
    if not kept.any():
        return _unknown(0, "no pair has an answer")
    answers = np.nansum(table[:, kept], axis=0) / given[kept]
    weights /= weights.mean()
    values = weights * (answers - np.average(answers, weights=weights))
    spread = np.nansum((table[:, kept] - answers) ** 2) / max(given[kept].sum() - kept.sum(), 1)
    noise = float(spread * (weights**2).mean()) if (given > 1).any() else nan
    return _variation(values, number_clusters(clusters, kept), given[kept], noise)


def variation_of_coefficient(
    a: Grades,
    b: Grades,
    name: str = "cohen_kappa",
    *,
    grades: Sequence[int],
    clusters: npt.ArrayLike,
    relevant_from: int | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> Variation:
    """Of an agreement coefficient of two judges, named as in the panel; to first order it is a mean (``linearised``).

    How much of the variance is people's noise cannot be told from one grade a pair, so ``people`` is nan.
    """
    pairs = pair_up(a, b, grades=grades, sample_weight=sample_weight, clusters=clusters)
    if not pairs.first.size:
        return _unknown(0, NO_PAIR)
    values = linearised(pairs, name, relevant_from=relevant_from)
    if np.isnan(values).any():
        return _unknown(
            int(pairs.clusters.max()) + 1,
            Sentence("%(coefficient)s is undefined on these pairs, or next to being so", coefficient=name),
        )
    return replace(_variation(values, pairs.clusters, np.ones(values.size), nan), no_noise=NO_NOISE_OF_COEFFICIENT)


def expected_width(
    variation: Variation, *, queries: npt.ArrayLike, pairs: npt.ArrayLike, labels: npt.ArrayLike = 1.0
) -> FloatArray:
    """Width of the 95 % interval to expect from a design; the three are numbers or arrays that broadcast.

    2 · 1.96 · √((σ²_between · u + σ²_within / pairs + σ²_people / (pairs · labels)) / queries), where u is the
    unevenness. With u = 1 and no noise it is σ² (1 + (pairs − 1) ρ) / (queries · pairs), Kish's design effect with the
    intra-cluster correlation ρ. Labels between two whole numbers are a mixture of pairs with so many and one more.

    Kish, Survey Sampling, 1965, section 5.4; uneven clusters: Eldridge, Ashby and Kerry, Sample size for cluster
    randomized trials, International Journal of Epidemiology 35, 2006.
    """
    q, m, r = (np.asarray(number, dtype=float) for number in (queries, pairs, labels))
    noise = 0.0 if isnan(variation.people) else variation.people
    whole = np.floor(r)
    per_label = (1 - (r - whole)) / whole + (r - whole) / (whole + 1)
    variance = (variation.between * variation.unevenness + (variation.within + noise * per_label) / m) / q
    return np.asarray(2 * NORMAL_QUANTILE * np.sqrt(variance))


def width_now(variation: Variation) -> float:
    """The width that the design at hand gives; the bootstrap's interval is about as wide."""
    v = variation
    return float(expected_width(v, queries=v.queries, pairs=v.pairs, labels=v.labels)) if v.queries else nan


def buy(variation: Variation, labels: int) -> tuple[Purchase, ...]:
    """Spend so many more labels on new queries, on new pairs of the queries at hand, or on second opinions.

    The narrowest comes first; a way whose outcome cannot be told comes last, with the reason.
    """
    if labels < 1:
        raise ValueError(f"Expected at least 1 label to spend; found {labels}.")
    v = variation
    if v.reason:
        return tuple(Purchase(more, nan, nan, nan, nan, v.reason) for more in ("queries", "pairs", "people"))
    designs: dict[More, tuple[float, float, float]] = {
        "queries": (v.queries + labels / (v.pairs * v.labels), v.pairs, v.labels),
        "pairs": (v.queries, v.pairs + labels / (v.queries * v.labels), v.labels),
        "people": (v.queries, v.pairs, v.labels + labels / (v.queries * v.pairs)),
    }
    bought = [_purchase(v, more, *design) for more, design in designs.items()]
    return tuple(sorted(bought, key=lambda purchase: (isnan(purchase.width), purchase.width)))


def _purchase(variation: Variation, more: More, queries: float, pairs: float, labels: float) -> Purchase:
    if more == "people" and isnan(variation.people):
        return Purchase(more, queries, pairs, labels, nan, variation.no_noise)
    width = float(expected_width(variation, queries=queries, pairs=pairs, labels=labels))
    return Purchase(more, queries, pairs, labels, width)


def _variation(values: FloatArray, clusters: npt.NDArray[np.int64], given: FloatArray, noise: float) -> Variation:
    """Variance components of (n,) values by the analysis of variance for uneven classes, negative ones taken as 0.

    Searle, Casella and McCulloch, Variance Components, 1992, section 3.6.
    """
    sizes = np.bincount(clusters).astype(float)
    queries, n = sizes.size, values.size
    if queries < 2:
        return _unknown(queries, "only one query: how queries differ cannot be told")
    if n == queries:
        return _unknown(queries, "no query has two pairs: how the pairs of a query differ cannot be told")
    means = np.bincount(clusters, values) / sizes
    within = ((values - means[clusters]) ** 2).sum() / (n - queries)
    between = (sizes * (means - values.mean()) ** 2).sum() / (queries - 1)
    typical_size = (n - (sizes**2).sum() / n) / (queries - 1)
    if within == between == 0:
        return _unknown(queries, "all pairs are the same: they show no variation")
    of_noise = 0.0 if isnan(noise) else noise * float((1 / given).mean())
    return Variation(
        between=max(float((between - within) / typical_size), 0.0),
        within=max(float(within) - of_noise, 0.0),
        people=noise,
        queries=queries,
        pairs=n / queries,
        labels=float(given.mean()),
        unevenness=queries * float((sizes**2).sum()) / n**2,
    )


def _unknown(queries: int, reason: str) -> Variation:
    return Variation(nan, nan, nan, queries, nan, nan, nan, reason)
