"""Everything that is shown about two judges, from one set of resamples, with the reason for each value that is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judging.measures.agreement import coefficients
from judging.measures.agreement.estimates import BINARY, GRADED, Resampled, resample
from judging.measures.agreement.pairs import pair_up
from judging.measures.agreement.raters import gather
from judging.measures.arrays import FloatArray, Grades
from judging.measures.intervals import Estimate
from judging.measures.resampling import RESAMPLES, SEED

_BINARY_SCALE = np.array([0.0, 1.0])


@dataclass(frozen=True, slots=True)
class Comparison:
    """Coefficient → estimate, on the whole scale and on every binarisation.

    ``pairs``      pairs that count
    ``queries``    clusters among them; None where no clusters were given, and so no intervals
    ``weighted``   whether pairs were weighted by 1 / inclusion probability
    ``grades``     the scale; ``confusion`` is (G, G) in its order, rows = first judge
    ``graded``     raw_agreement, cohen_kappa, linear_kappa, quadratic_kappa, krippendorff_alpha (ordinal), gwet_ac1,
                   gwet_ac2 (quadratic weights), bias (second − first)
    ``binary``     threshold → raw_agreement, cohen_kappa, krippendorff_alpha, gwet_ac1, precision, recall, f1,
                   prevalence_first, prevalence_second of "grade ≥ threshold"; the collection's own threshold first
    """

    pairs: int
    queries: int | None
    weighted: bool
    grades: tuple[int, ...]
    confusion: FloatArray
    graded: Mapping[str, Estimate]
    binary: Mapping[int, Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Panel(Comparison):
    """Two judges compared; the counts are those of the pairs left out."""

    only_first: int
    only_second: int
    out_of_scale: int


@dataclass(frozen=True, slots=True)
class Ceiling(Comparison):
    """Several judges compared with each other; ``single`` pairs had one grade only, ``out_of_scale`` counts grades."""

    single: int
    out_of_scale: int


def panel(
    a: Grades,
    b: Grades,
    *,
    grades: Sequence[int],
    relevant_from: int | None = None,
    clusters: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Panel:
    """Compare two judges on the pairs that both graded, with intervals clustered by query where ``clusters`` is given.

    ``a``, ``b``, ``clusters`` and ``sample_weight`` run over the same pairs; ``grades`` is the scale and
    ``relevant_from`` the collection's own threshold. Pairs with a grade outside the scale are left out and counted.
    """
    pairs = pair_up(a, b, grades=grades, sample_weight=sample_weight, clusters=clusters)
    by_cluster = pairs.confusion_by_cluster() if clusters is not None else None
    resampled = resample(pairs.confusion(), by_cluster, resamples=resamples, seed=seed, out_of_scale=pairs.out_of_scale)
    return Panel(
        pairs=pairs.first.size,
        queries=None if by_cluster is None else by_cluster.shape[0],
        weighted=sample_weight is not None,
        grades=_whole(pairs.scale),
        confusion=resampled.total,
        graded=resampled.estimates(GRADED, pairs.scale),
        binary=_binary(resampled, pairs.scale, relevant_from),
        only_first=pairs.only_first,
        only_second=pairs.only_second,
        out_of_scale=pairs.out_of_scale,
    )


def ceiling(
    *raters: Grades,
    grades: Sequence[int],
    relevant_from: int | None = None,
    clusters: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Ceiling:
    """Compare people with people: every two grades of a pair are matched, whoever gave them.

    It is the ceiling next to which an LLM's agreement stands. The judges have no order, so the matrix is symmetric,
    both margins are the mean of all judges (Cohen's kappa becomes Scott's pi, bias is 0, precision equals recall), and
    a pair with m grades counts m / 2 pairs.
    """
    ratings = gather(raters, grades=grades, sample_weight=sample_weight, clusters=clusters)
    matched = ratings.matched_by_cluster()
    by_cluster = matched if clusters is not None else None
    resampled = resample(
        matched.sum(axis=0), by_cluster, resamples=resamples, seed=seed, out_of_scale=ratings.out_of_scale
    )
    return Ceiling(
        pairs=ratings.counts.shape[0],
        queries=None if by_cluster is None else by_cluster.shape[0],
        weighted=sample_weight is not None,
        grades=_whole(ratings.scale),
        confusion=resampled.total,
        graded=resampled.estimates(GRADED, ratings.scale),
        binary=_binary(resampled, ratings.scale, relevant_from),
        single=ratings.single,
        out_of_scale=ratings.out_of_scale,
    )


def _binary(resampled: Resampled, scale: FloatArray, relevant_from: int | None) -> dict[int, Mapping[str, Estimate]]:
    thresholds = _whole(scale[1:])
    own_first = sorted(thresholds, key=lambda threshold: threshold != relevant_from)
    return {
        threshold: Resampled(
            coefficients.binarised(resampled.total, scale, threshold),
            None if resampled.stack is None else coefficients.binarised(resampled.stack, scale, threshold),
            resampled.no_stack,
            resampled.no_pair,
        ).estimates(BINARY, _BINARY_SCALE)
        for threshold in own_first
    }


def _whole(scale: FloatArray) -> tuple[int, ...]:
    return tuple(int(grade) for grade in scale)
