"""One coefficient of two judges at a time.

``a`` and ``b`` are the grades of the first judge (the reference, such as the people) and of the second (such as an LLM)
on the same pairs; only pairs that both graded count. ``grades`` is the scale: pairs with a grade outside it are left
out; without it the scale is made of the grades found. ``sample_weight`` is 1 / inclusion probability of each pair.
A value that is undefined is nan. Formulas and sources: ``coefficients``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy.typing as npt

from judging.measures.agreement import coefficients
from judging.measures.agreement.coefficients import Weighting
from judging.measures.agreement.pairs import pair_up
from judging.measures.arrays import FloatArray, Grades


class PrecisionRecallF1(NamedTuple):
    precision: float
    recall: float
    f1: float


def confusion(a: Grades, b: Grades, *, grades: Sequence[int], sample_weight: npt.ArrayLike | None = None) -> FloatArray:
    """(G, G) numbers of pairs: row = grade by the first judge, column = grade by the second, in the order of the scale.

    Weights are scaled to mean 1, so the cells add up to the number of shared pairs in either case.
    """
    return pair_up(a, b, grades=grades, sample_weight=sample_weight).confusion()


def raw_agreement(
    a: Grades, b: Grades, *, grades: Sequence[int] | None = None, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Share of the shared pairs with equal grades; nan without a shared pair."""
    return float(coefficients.raw(pair_up(a, b, grades=grades, sample_weight=sample_weight).confusion()))


def cohen_kappa(
    a: Grades,
    b: Grades,
    *,
    weights: Weighting = None,
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Cohen's kappa, plain or with linear or quadratic weights; nan where both judges gave one and the same grade."""
    pairs = pair_up(a, b, grades=grades, sample_weight=sample_weight)
    return float(coefficients.kappa(pairs.confusion(), pairs.scale, weights))


def gwet_ac(
    a: Grades,
    b: Grades,
    *,
    weights: Weighting = None,
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Gwet's AC1, or AC2 with weights. It depends on the size of the scale, so give ``grades`` where it is known."""
    pairs = pair_up(a, b, grades=grades, sample_weight=sample_weight)
    return float(coefficients.gwet(pairs.confusion(), pairs.scale, weights))


def bias(
    a: Grades, b: Grades, *, grades: Sequence[int] | None = None, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Mean of b − a over the shared pairs: above 0, the second judge is the more generous."""
    pairs = pair_up(a, b, grades=grades, sample_weight=sample_weight)
    return float(coefficients.mean_difference(pairs.confusion(), pairs.scale))


def precision_recall_f1(
    a: Grades,
    b: Grades,
    *,
    relevant_from: int = 1,
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> PrecisionRecallF1:
    """Precision, recall and F1 of "relevant" by the second judge, with the first as the reference."""
    binary = _binary(a, b, relevant_from, grades, sample_weight)
    return PrecisionRecallF1(
        float(coefficients.precision(binary)), float(coefficients.recall(binary)), float(coefficients.f1(binary))
    )


def prevalence(
    a: Grades,
    b: Grades,
    *,
    relevant_from: int = 1,
    grades: Sequence[int] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> tuple[float, float]:
    """Share of the shared pairs that the first, and that the second judge calls relevant."""
    binary = _binary(a, b, relevant_from, grades, sample_weight)
    return float(coefficients.prevalence_first(binary)), float(coefficients.prevalence_second(binary))


def _binary(
    a: Grades,
    b: Grades,
    relevant_from: int,
    grades: Sequence[int] | None,
    sample_weight: npt.ArrayLike | None,
) -> FloatArray:
    pairs = pair_up(a, b, grades=grades, sample_weight=sample_weight)
    return coefficients.binarised(pairs.confusion(), pairs.scale, relevant_from)
