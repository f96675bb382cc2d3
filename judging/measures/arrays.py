"""What all measures share: the array types, and division that leaves the undefined undefined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Grades = Sequence[float | None] | npt.NDArray[np.generic]
"""Grades of one judge, one entry a pair; None or nan where the judge gave no grade."""

_ZERO = 1e-12


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> FloatArray:
    """Element-wise quotient; nan where the denominator is 0 (or a rounding error away from it) or is nan."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    quotient = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=quotient, where=np.abs(bottom) > _ZERO)
    return quotient


def as_grades(grades: Grades) -> FloatArray:
    """One judge's grades as a float vector, nan where there is none."""
    vector = np.asarray(grades, dtype=float)
    if vector.ndim != 1:
        raise ValueError(f"Grades of one judge are a vector; found an array of shape {vector.shape}.")
    return vector


def as_weights(sample_weight: npt.ArrayLike | None, size: int) -> FloatArray:
    """Weights of ``size`` observations, all 1 where none are given; one of weight 0 counts for nothing."""
    if sample_weight is None:
        return np.ones(size)
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (size,):
        raise ValueError(f"Expected {size} weights, one an observation; found an array of shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("Weights are 1 / inclusion probability: none is negative, infinite or nan.")
    return weights


def number_clusters(clusters: npt.ArrayLike | None, kept: npt.NDArray[np.bool_]) -> IntArray:
    """Number from 0 the clusters of the kept observations; each its own where no clusters are given."""
    if clusters is None:
        return np.arange(int(kept.sum()))
    labels = np.asarray(clusters)
    if labels.shape != kept.shape:
        raise ValueError(f"Expected {kept.size} clusters, one a pair; found an array of shape {labels.shape}.")
    return np.unique(labels[kept], return_inverse=True)[1].astype(np.int64)
