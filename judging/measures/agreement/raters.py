"""Any number of judges who graded the same pairs, each perhaps only some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judging.measures.agreement import coefficients
from judging.measures.agreement.coefficients import Level
from judging.measures.agreement.pairs import as_scale
from judging.measures.arrays import FloatArray, Grades, IntArray, as_grades, as_weights, number_clusters, ratio


@dataclass(frozen=True, slots=True)
class Ratings:
    """The n pairs with at least two grades within the scale.

    ``scale``         the G grades, rising
    ``counts``        (n, G): how many judges gave which grade
    ``weights``       (n,) scaled to mean 1
    ``clusters``      (n,) number of the query from 0
    ``single``        pairs left out because only one judge graded them
    ``out_of_scale``  grades (not pairs) left out because the scale does not have them
    ``weightless``    pairs left out because their weight is 0
    """

    scale: FloatArray
    counts: FloatArray
    weights: FloatArray
    clusters: IntArray
    single: int
    out_of_scale: int
    weightless: int = 0

    def matched_by_cluster(self) -> FloatArray:
        """(C, G, G): each cluster's symmetric matrix of grades matched within pairs, half the coincidence matrix.

        A pair with m grades holds m (m − 1) ordered matches, each weighing 1 / (m − 1): it adds m / 2 in all, so a pair
        with two grades adds 1, as it does to a confusion matrix.
        """
        given = self.counts.sum(axis=1)
        scaled = self.counts * (self.weights / (2 * (given - 1)))[:, None]
        matches = scaled[:, :, None] * self.counts[:, None, :]
        diagonal = np.arange(self.scale.size)
        matches[:, diagonal, diagonal] -= scaled
        clusters = int(self.clusters.max(initial=-1)) + 1
        summed = np.zeros((clusters, self.scale.size, self.scale.size))
        np.add.at(summed, self.clusters, matches)
        return summed


def gather(
    raters: Sequence[Grades],
    *,
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Ratings:
    """Count the grades of each pair over all judges; pairs with fewer than two are left out and counted."""
    if len(raters) < 2:
        raise ValueError(f"Agreement needs at least two judges; found {len(raters)}.")
    table = np.stack([as_grades(rater) for rater in raters], axis=1)
    weights = as_weights(sample_weight, table.shape[0])
    given = ~np.isnan(table)
    scale = as_scale(grades, table[given])
    inside = given & np.isin(table, scale)
    counts = _count(table, inside, scale)
    shared = counts.sum(axis=1) >= 2
    kept = shared & (weights > 0)
    return Ratings(
        scale=scale,
        counts=counts[kept],
        weights=weights[kept] / weights[kept].mean() if kept.any() else weights[kept],
        clusters=number_clusters(clusters, kept),
        single=int((counts.sum(axis=1) == 1).sum()),
        out_of_scale=int((given & ~inside).sum()),
        weightless=int((shared & ~kept).sum()),
    )


def krippendorff_alpha(
    *raters: Grades,
    level: Level = "ordinal",
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Krippendorff's alpha of two or more judges; nan (or None) where a judge gave no grade.

    Pairs with a single grade cannot be matched and do not count. nan where nothing can be matched or all grades are
    equal. Formula and source: ``coefficients.alpha``.
    """
    ratings = gather(raters, grades=grades, sample_weight=sample_weight)
    return float(coefficients.alpha(ratings.matched_by_cluster().sum(axis=0), ratings.scale, level))


def fleiss_kappa(
    *raters: Grades, grades: Sequence[int] | None = None, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Fleiss' kappa, (P_o − P_e) / (1 − P_e), of two or more judges; nan where all grades are equal.

    P_o is the mean over pairs of Σ_c n_c (n_c − 1) / (m (m − 1)), where n_c of the pair's m grades are c;
    P_e = Σ_c π_c² with π_c the mean of n_c / m. Only pairs with at least two grades count. With the same m everywhere
    this is Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76, 1971; the form for
    differing m is that of Gwet, Handbook of Inter-Rater Reliability, 4th ed., 2014, ch. 2.
    """
    ratings = gather(raters, grades=grades, sample_weight=sample_weight)
    counts, given = ratings.counts, ratings.counts.sum(axis=1)
    total = ratings.weights.sum()
    by_pair = (counts * (counts - 1)).sum(axis=1) / (given * (given - 1))
    observed = ratio(ratings.weights @ by_pair, total)
    mean_shares = ratio(ratings.weights @ (counts / given[:, None]), total)
    expected = (mean_shares**2).sum() if total else np.nan
    return float(ratio(observed - expected, 1 - expected))


def _count(table: FloatArray, inside: npt.NDArray[np.bool_], scale: FloatArray) -> FloatArray:
    pair, _ = np.nonzero(inside)
    cells = pair * scale.size + np.searchsorted(scale, table[inside])
    counts = np.bincount(cells, minlength=table.shape[0] * scale.size)
    return counts.reshape(table.shape[0], scale.size).astype(float)
