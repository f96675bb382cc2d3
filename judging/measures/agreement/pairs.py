"""Two judges' grades lined up: which pairs count, which do not and why, and their confusion matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judging.measures.arrays import FloatArray, Grades, IntArray, as_grades, as_weights, number_clusters


@dataclass(frozen=True, slots=True)
class Pairs:
    """The n pairs that both judges graded within the scale.

    ``scale``            the G grades, rising
    ``first, second``    (n,) positions of the two grades in the scale
    ``weights``          (n,) scaled to mean 1, so that the cells of a confusion matrix add up to n
    ``clusters``         (n,) number of the query from 0; each pair its own cluster where none were given
    ``only_first`` …     counts of what was left out; ``weightless`` are pairs of weight 0
    """

    scale: FloatArray
    first: IntArray
    second: IntArray
    weights: FloatArray
    clusters: IntArray
    only_first: int
    only_second: int
    out_of_scale: int
    weightless: int = 0

    def confusion(self) -> FloatArray:
        """(G, G): row = grade of the first judge, column = grade of the second."""
        size = self.scale.size
        cells = np.bincount(self.first * size + self.second, self.weights, minlength=size * size)
        return cells.astype(float).reshape(size, size)

    def confusion_by_cluster(self) -> FloatArray:
        """(C, G, G): the confusion matrix of each cluster; they add up to ``confusion()``."""
        size, clusters = self.scale.size, int(self.clusters.max(initial=-1)) + 1
        cells = (self.clusters * size + self.first) * size + self.second
        counts = np.bincount(cells, self.weights, minlength=clusters * size * size)
        return counts.astype(float).reshape(clusters, size, size)


def pair_up(
    a: Grades,
    b: Grades,
    *,
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Pairs:
    """Line up two judges. ``grades`` is the scale; a pair with a grade outside it is left out and counted.

    Without ``grades`` the scale is made of the grades found on the shared pairs.
    """
    first, second = as_grades(a), as_grades(b)
    if first.size != second.size:
        raise ValueError(f"Expected grades of the same pairs; found {first.size} and {second.size}.")
    weights = as_weights(sample_weight, first.size)
    both = ~np.isnan(first) & ~np.isnan(second)
    scale = as_scale(grades, np.concatenate([first[both], second[both]]))
    inside = both & np.isin(first, scale) & np.isin(second, scale)
    counts = inside & (weights > 0)
    kept = weights[counts]
    return Pairs(
        scale=scale,
        first=np.searchsorted(scale, first[counts]),
        second=np.searchsorted(scale, second[counts]),
        weights=kept / kept.mean() if kept.size else kept,
        clusters=number_clusters(clusters, counts),
        only_first=int((~np.isnan(first) & np.isnan(second)).sum()),
        only_second=int((np.isnan(first) & ~np.isnan(second)).sum()),
        out_of_scale=int((both & ~inside).sum()),
        weightless=int((inside & ~counts).sum()),
    )


def as_scale(grades: Sequence[int] | None, found: FloatArray) -> FloatArray:
    """The scale as a rising vector: the grades given, or else those found."""
    return np.unique(found if grades is None else np.asarray(grades, dtype=float))
