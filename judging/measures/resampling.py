"""Drawing with replacement, and random signs: seeded, vectorised, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judging.measures.arrays import FloatArray

RESAMPLES = 2_000
SEED = 0
_CELLS_AT_ONCE = 4_000_000


def resampled_totals(statistics: FloatArray, *, resamples: int = RESAMPLES, seed: int = SEED) -> FloatArray:
    """Totals of ``resamples`` bootstrap samples of C clusters: (C, …) → (resamples, …).

    ``statistics`` holds the sufficient statistics of each cluster, such as its confusion matrix. A sample of C clusters
    drawn with replacement is a multinomial vector of counts, so all totals are one product, counts × statistics.
    The same seed and C draw the same clusters, whatever the statistics: differences between judges are paired.

    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 6; whole clusters as the unit: Davison and
    Hinkley, Bootstrap Methods and their Application, 1997, section 3.8.
    """
    clusters = statistics.shape[0]
    if clusters == 0:
        raise ValueError("There is no cluster to draw from.")
    flat = statistics.reshape(clusters, -1)
    random = np.random.default_rng(seed)
    totals = [_counts(random, size, clusters) @ flat for size in _portions(resamples, clusters)]
    return np.concatenate(totals).reshape(resamples, *statistics.shape[1:])


def sign_flipped_sums(values: FloatArray, *, resamples: int, seed: int = SEED) -> FloatArray:
    """Sums of ``values`` under random signs, (n,) → (resamples,): the null distribution of a paired randomisation."""
    random = np.random.default_rng(seed)
    sums = [
        (random.integers(0, 2, (size, values.size), dtype=np.int8) * 2.0 - 1.0) @ values
        for size in _portions(resamples, values.size)
    ]
    return np.concatenate(sums)


def _counts(random: np.random.Generator, samples: int, clusters: int) -> FloatArray:
    drawn = random.integers(0, clusters, (samples, clusters)) + np.arange(samples)[:, None] * clusters
    return np.bincount(drawn.ravel(), minlength=samples * clusters).reshape(samples, clusters).astype(float)


def _portions(resamples: int, width: int) -> Iterator[int]:
    size = max(1, _CELLS_AT_ONCE // max(width, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)
