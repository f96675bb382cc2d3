"""Agreement coefficients on stacks of confusion matrices.

Each takes ``matrix`` (…, G, G), rows = grades of the first judge, columns = grades of the second, cells = (weighted)
numbers of pairs, and gives (…): one value a matrix, nan where undefined. ``scale`` holds the G grades, rising.
p_ij is a cell's share of all pairs, p_i. and p_.j are the shares of rows and columns.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from judging.measures.arrays import FloatArray, ratio

Weighting = Literal["linear", "quadratic"] | None
Level = Literal["nominal", "ordinal", "interval"]


def shares(matrix: FloatArray) -> FloatArray:
    """Cells as shares of all pairs; nan throughout where there is no pair."""
    return ratio(matrix, matrix.sum(axis=(-2, -1), keepdims=True))


def disagreement(scale: FloatArray, weights: Weighting) -> FloatArray:
    """(G, G) from 0 (the same grade) to 1 (the two ends of the scale): 1 off the diagonal, |i − j| or (i − j)².

    Distances are those of the grades themselves, so a grade that nobody gave does not bring its neighbours together.
    """
    distance = np.abs(scale[:, None] - scale)
    if weights is None:
        return (distance > 0).astype(float)
    if weights not in ("linear", "quadratic"):
        raise ValueError(f'weights is None, "linear" or "quadratic"; found {weights!r}.')
    furthest = distance.max(initial=0.0) or 1.0
    relative: FloatArray = distance / furthest
    return relative if weights == "linear" else relative**2


def raw(matrix: FloatArray) -> FloatArray:
    """Share of pairs with equal grades, Σ p_ii."""
    return ratio(np.trace(matrix, axis1=-2, axis2=-1), matrix.sum(axis=(-2, -1)))


def kappa(matrix: FloatArray, scale: FloatArray, weights: Weighting = None) -> FloatArray:
    """Cohen's kappa, 1 − Σ v_ij p_ij / Σ v_ij p_i. p_.j with disagreement v; undefined where chance disagreement is 0.

    Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20, 1960;
    Cohen, Weighted kappa, Psychological Bulletin 70, 1968.
    """
    cells, cost = shares(matrix), disagreement(scale, weights)
    by_chance = cells.sum(axis=-1)[..., :, None] * cells.sum(axis=-2)[..., None, :]
    return 1 - ratio((cost * cells).sum(axis=(-2, -1)), (cost * by_chance).sum(axis=(-2, -1)))


def gwet(matrix: FloatArray, scale: FloatArray, weights: Weighting = None) -> FloatArray:
    """Gwet's AC1, or AC2 with weights: (p_a − p_e) / (1 − p_e).

    p_a = Σ w_ij p_ij and p_e = Σ w_ij / (G (G − 1)) · Σ_i π_i (1 − π_i), where w = 1 − disagreement, π_i is the mean of
    p_i. and p_.i, and G counts the grades of the whole scale. Undefined for a scale of one grade.

    Gwet, Computing inter-rater reliability and its variance in the presence of high agreement, British Journal of
    Mathematical and Statistical Psychology 61, 2008; AC2: Gwet, Handbook of Inter-Rater Reliability, 4th ed., 2014.
    """
    cells, weight = shares(matrix), 1 - disagreement(scale, weights)
    mean_share = (cells.sum(axis=-1) + cells.sum(axis=-2)) / 2
    agreed = (weight * cells).sum(axis=(-2, -1))
    spread = (mean_share * (1 - mean_share)).sum(axis=-1)
    by_chance = ratio(weight.sum() * spread, scale.size * (scale.size - 1))
    return ratio(agreed - by_chance, 1 - by_chance)


def alpha(matrix: FloatArray, scale: FloatArray, level: Level = "ordinal") -> FloatArray:
    """Krippendorff's alpha, 1 − D_o / D_e = 1 − (n − 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck.

    o is the coincidence matrix, matrix + matrixᵀ; n_c its row sums and n its total, the number of grades given. δ is 1
    (nominal), the distance of the grades (interval), or Σ_{g=c..k} n_g − (n_c + n_k) / 2 (ordinal), which is the
    distance of their mid-ranks. Undefined where all grades are equal.

    Krippendorff, Computing Krippendorff's alpha-reliability, University of Pennsylvania, 2011.
    """
    coincidences = matrix + np.swapaxes(matrix, -2, -1)
    total = coincidences.sum(axis=(-2, -1))
    cells = shares(coincidences)
    margins = cells.sum(axis=-1)
    squared = _squared_difference(margins, scale, level)
    expected = (margins[..., :, None] * margins[..., None, :] * squared).sum(axis=(-2, -1))
    return 1 - ratio(total - 1, total) * ratio((cells * squared).sum(axis=(-2, -1)), expected)


def _squared_difference(margins: FloatArray, scale: FloatArray, level: Level) -> FloatArray:
    if level == "nominal":
        return disagreement(scale, None)
    if level not in ("ordinal", "interval"):
        raise ValueError(f'level is "nominal", "ordinal" or "interval"; found {level!r}.')
    positions = scale if level == "interval" else margins.cumsum(axis=-1) - margins / 2
    difference: FloatArray = positions[..., :, None] - positions[..., None, :]
    return difference**2


def mean_difference(matrix: FloatArray, scale: FloatArray) -> FloatArray:
    """Mean grade of the second judge minus mean grade of the first: above 0, the second is the more generous."""
    differences = (matrix * (scale - scale[:, None])).sum(axis=(-2, -1))
    return ratio(differences, matrix.sum(axis=(-2, -1)))


def binarised(matrix: FloatArray, scale: FloatArray, relevant_from: float) -> FloatArray:
    """(…, G, G) → (…, 2, 2): not relevant, relevant."""
    relevant = scale >= relevant_from
    halves = np.stack([~relevant, relevant]).astype(float)
    table: FloatArray = halves @ matrix @ halves.T
    return table


def precision(binary: FloatArray) -> FloatArray:
    """Of what the second judge calls relevant, the share that the first does too; (…, 2, 2) → (…)."""
    return ratio(binary[..., 1, 1], binary[..., :, 1].sum(axis=-1))


def recall(binary: FloatArray) -> FloatArray:
    """Of what the first judge calls relevant, the share that the second does too; (…, 2, 2) → (…)."""
    return ratio(binary[..., 1, 1], binary[..., 1, :].sum(axis=-1))


def f1(binary: FloatArray) -> FloatArray:
    """2 · both / (relevant to the first + relevant to the second), the harmonic mean of precision and recall."""
    return ratio(2 * binary[..., 1, 1], binary[..., :, 1].sum(axis=-1) + binary[..., 1, :].sum(axis=-1))


def prevalence_first(binary: FloatArray) -> FloatArray:
    """Share of pairs that the first judge calls relevant; (…, 2, 2) → (…)."""
    return ratio(binary[..., 1, :].sum(axis=-1), binary.sum(axis=(-2, -1)))


def prevalence_second(binary: FloatArray) -> FloatArray:
    """Share of pairs that the second judge calls relevant; (…, 2, 2) → (…)."""
    return ratio(binary[..., :, 1].sum(axis=-1), binary.sum(axis=(-2, -1)))
