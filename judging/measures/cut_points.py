"""From an LLM's expected grade to grades: cut points fitted to people, and how well they do on other queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np
import numpy.typing as npt

from judging.measures.agreement.estimates import GRADED, Statistic
from judging.measures.agreement.pairs import as_scale
from judging.measures.agreement.panel import Panel, panel
from judging.measures.arrays import FloatArray, Grades, IntArray, as_grades, as_weights, number_clusters, ratio
from judging.measures.intervals import Estimate, undefined
from judging.measures.resampling import RESAMPLES, SEED

FOLDS = 5
_NO_COMMON_PAIR = "no pair has an expected grade and a grade by people"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class CutPoints:
    """``cuts`` (G − 1) rising: an expected grade from the i-th cut on, and below the next, is the i-th grade above
    the lowest. Empty where nothing could be fitted, with the reason.

    ``coefficient``      which one was made as large as it goes, and ``fitted``, how large: on the pairs of the fit,
                         so an overstatement
    ``cross_validated``  the same on queries that the cuts were not fitted to, with interval
    ``plain``            the same with cuts half-way between grades, on the same pairs
    ``by_fold``          the cuts without the queries of each fold: how much they depend on the sample
    ``held_out``         everything else on the queries not fitted to: people (first judge), cut LLM (second)
    ``fold``             (n,) the fold whose cuts do not know the query of the pair; −1 of pairs that did not count
    """

    coefficient: str
    cuts: tuple[float, ...]
    fitted: float
    cross_validated: Estimate
    plain: Estimate
    by_fold: tuple[tuple[float, ...], ...]
    held_out: Panel | None
    reason: str = ""
    fold: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def expected_grade(probabilities: npt.ArrayLike, *, grades: Sequence[int]) -> FloatArray:
    """Σ_g p_g · g of the LLM's probabilities, (n, G) in the order of the scale → (n,); nan where a row has none."""
    table, scale = np.asarray(probabilities, dtype=float), as_scale(grades, np.zeros(0))
    if table.ndim != 2 or table.shape[1] != scale.size:
        raise ValueError(f"Expected a probability for each of the {scale.size} grades; found shape {table.shape}.")
    return ratio(table @ scale, table.sum(axis=1))


def cut(expected: Grades, cuts: Sequence[float], *, grades: Sequence[int]) -> FloatArray:
    """The grade of each expected grade, (n,) → (n,); nan stays nan."""
    values, scale = as_grades(expected), as_scale(grades, np.zeros(0))
    if len(cuts) != scale.size - 1 or list(cuts) != sorted(cuts):
        raise ValueError(f"Expected {scale.size - 1} cut points, rising; found {list(cuts)}.")
    numbers = np.searchsorted(np.asarray(cuts, dtype=float), values, side="right")
    return np.where(np.isnan(values), nan, scale[np.minimum(numbers, scale.size - 1)])


def fit_cut_points(
    expected: Grades,
    people: Grades,
    *,
    grades: Sequence[int],
    clusters: npt.ArrayLike,
    coefficient: str = "cohen_kappa",
    sample_weight: npt.ArrayLike | None = None,
    folds: int = FOLDS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> CutPoints:
    """Choose the cuts at which the LLM agrees best with people, and say how well such cuts do on other queries.

    ``coefficient`` is one of the panel's on the whole scale. Folds are of whole queries (``clusters``), shuffled by the
    seed, each query as its own fold where there are fewer queries than folds: pairs of one query in the fit and in the
    test would make the cuts look better than they are. The cross-validated interval takes the cuts as they are; that
    other labels would have given others, it does not show.

    The search moves one cut at a time over all places between two values, from two starts (half-way between the grades,
    and where the LLM gives each grade as often as people do) until nothing improves; the better end is taken.

    Stone, Cross-validatory choice and assessment of statistical predictions, JRSS B 36, 1974.
    """
    if coefficient not in GRADED or coefficient == "bias":
        raise ValueError(f"{coefficient!r} cannot be made as large as it goes; expected a coefficient of the panel.")
    if folds < 2:
        raise ValueError(f"Expected at least 2 folds; found {folds}.")
    values, known, scale = as_grades(expected), as_grades(people), as_scale(grades, np.zeros(0))
    if values.size != known.size:
        raise ValueError(f"Expected grades of the same pairs; found {values.size} and {known.size}.")
    weights = as_weights(sample_weight, values.size)
    kept = ~np.isnan(values) & np.isin(known, scale) & (weights > 0)
    data = _Data(values[kept], np.searchsorted(scale, known[kept]), weights[kept], scale)
    reason = _why_not(data)
    if reason:
        nothing = Estimate(nan, reason, undefined(reason))
        return CutPoints(coefficient, (), nan, nothing, nothing, (), None, reason)
    statistic, queries = GRADED[coefficient], number_clusters(clusters, kept)
    cuts, fitted = data.fit(statistic)

    def judged(given: FloatArray) -> Panel:
        weight = None if sample_weight is None else data.weights
        return panel(
            known[kept], given, grades=grades, clusters=queries, sample_weight=weight, resamples=resamples, seed=seed
        )

    plain = judged(cut(data.values, tuple(_half_way(scale)), grades=grades)).graded[coefficient]
    number = int(queries.max()) + 1
    if number < 2:
        one = "only one query: there is no other to test the cut points on"
        return CutPoints(coefficient, cuts, fitted, Estimate(nan, one, undefined(one)), plain, (), None)
    fold = (np.random.default_rng(seed).permutation(number) % min(folds, number))[queries]
    by_fold, held_out = [], np.full(data.values.size, nan)
    for part in range(fold.max() + 1):
        elsewhere = data.of(fold != part)
        own = tuple(_half_way(scale)) if _why_not(elsewhere) else elsewhere.fit(statistic)[0]
        by_fold.append(own)
        held_out[fold == part] = cut(data.values[fold == part], own, grades=grades)
    tested = judged(held_out)
    folds_of_pairs = np.full(values.size, -1, dtype=np.int64)
    folds_of_pairs[kept] = fold
    return CutPoints(
        coefficient, cuts, fitted, tested.graded[coefficient], plain, tuple(by_fold), tested, fold=folds_of_pairs
    )


@dataclass(frozen=True, slots=True)
class _Data:
    """``values`` (n,) expected grades, ``known`` (n,) positions of people's grades in the scale, ``weights`` (n,)."""

    values: FloatArray
    known: IntArray
    weights: FloatArray
    scale: FloatArray

    def of(self, kept: npt.NDArray[np.bool_]) -> _Data:
        return _Data(self.values[kept], self.known[kept], self.weights[kept], self.scale)

    def fit(self, statistic: Statistic) -> tuple[tuple[float, ...], float]:
        """The best cuts that the search finds, and their coefficient on these data."""
        distinct, place = np.unique(self.values, return_inverse=True)
        below = self._below(place, distinct.size)
        starts = [np.searchsorted(distinct, _half_way(self.scale)), self._as_often(below)]
        at, best = max((_climb(start, below, self.scale, statistic) for start in starts), key=lambda end: end[1])
        middle = (distinct[1:] + distinct[:-1]) / 2
        between = np.where(middle > distinct[:-1], middle, distinct[1:])  # neighbouring floats have nothing between
        edges = np.concatenate([[distinct[0] - 1], between, [distinct[-1] + 1]])
        return tuple(float(edge) for edge in edges[at]), best

    def _below(self, place: IntArray, distinct: int) -> FloatArray:
        """(K + 1, G): weight of people's grades among the pairs with fewer than k of the K distinct values below."""
        size = self.scale.size
        cells = np.bincount(place * size + self.known, self.weights, minlength=distinct * size).reshape(-1, size)
        return np.concatenate([np.zeros((1, size)), cells.cumsum(axis=0)])

    def _as_often(self, below: FloatArray) -> IntArray:
        """Cuts below which lie as many expected grades as people's."""
        people = below[-1].cumsum()[:-1]
        given = below.sum(axis=1)
        return np.asarray(np.abs(given[:, None] - people).argmin(axis=0), dtype=np.int64)


def _climb(start: IntArray, below: FloatArray, scale: FloatArray, statistic: Statistic) -> tuple[IntArray, float]:
    at, best, improved = start.copy(), -np.inf, True
    while improved:
        improved = False
        for number in range(at.size):
            low = at[number - 1] if number else 0
            high = at[number + 1] if number + 1 < at.size else below.shape[0] - 1
            places = np.arange(low, high + 1)
            tried = np.repeat(at[None], places.size, axis=0)
            tried[:, number] = places
            values = np.nan_to_num(statistic.compute(_matrices(tried, below), scale), nan=-np.inf)
            if values.max() > best + _ROUNDING:
                at, best, improved = tried[values.argmax()], float(values.max()), True
    return at, best


def _matrices(at: IntArray, below: FloatArray) -> FloatArray:
    """(T, G − 1) cuts → (T, G, G) confusion matrices: row = people's grade, column = the LLM's."""
    tried = at.shape[0]
    zero, all_of_them = np.zeros((tried, 1, below.shape[1])), np.repeat(below[-1][None, None], tried, axis=0)
    edges = np.concatenate([zero, below[at], all_of_them], axis=1)
    return np.swapaxes(np.diff(edges, axis=1), -2, -1)


def _half_way(scale: FloatArray) -> FloatArray:
    between: FloatArray = (scale[1:] + scale[:-1]) / 2
    return between


def _why_not(data: _Data) -> str:
    if data.scale.size < 2:
        return "the scale has one grade only: there is nothing to cut"
    if not data.values.size:
        return _NO_COMMON_PAIR
    if np.unique(data.known).size < 2:
        return "people gave one and the same grade to every pair: every cut does as well"
    if np.unique(data.values).size < 2:
        return "the expected grade is the same for every pair: no cut parts them"
    return ""
