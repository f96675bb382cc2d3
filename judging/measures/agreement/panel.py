"""Everything that is shown about two judges, from one set of resamples, with the reason for each value that is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Required, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from judging.measures.agreement import coefficients
from judging.measures.agreement.estimates import BINARY, GRADED, Resampled, no_pair_because, resample
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


class Options(TypedDict, total=False):
    """What every comparison is told.

    ``grades``         the scale; grades outside it are left out and counted
    ``relevant_from``  the collection's own threshold
    ``clusters``       the query of each pair: with it there are intervals
    ``sample_weight``  1 / inclusion probability of each pair
    """

    grades: Required[Sequence[int]]
    relevant_from: int | None
    clusters: npt.ArrayLike | None
    sample_weight: npt.ArrayLike | None
    resamples: int
    seed: int


def panel(a: Grades, b: Grades, **options: Unpack[Options]) -> Panel:
    """Compare two judges on the pairs that both graded; ``a``, ``b`` and the vectors of ``Options`` run over the same.

    Pairs with a grade outside the scale are left out and counted.
    """
    weight, clusters = options.get("sample_weight"), options.get("clusters")
    pairs = pair_up(a, b, grades=options["grades"], sample_weight=weight, clusters=clusters)
    no_pair = no_pair_because(weightless=pairs.weightless, out_of_scale=pairs.out_of_scale)
    return Panel(
        pairs=pairs.first.size,
        only_first=pairs.only_first,
        only_second=pairs.only_second,
        out_of_scale=pairs.out_of_scale,
        **_shared(pairs.scale, pairs.confusion(), pairs.confusion_by_cluster, no_pair, options),
    )


def ceiling(*raters: Grades, **options: Unpack[Options]) -> Ceiling:
    """Compare people with people: every two grades of a pair are matched, whoever gave them.

    It is the ceiling next to which an LLM's agreement stands. The judges have no order, so the matrix is symmetric,
    both margins are the mean of all judges (Cohen's kappa becomes Scott's pi, bias is 0, precision equals recall), and
    a pair with m grades counts m / 2 pairs.
    """
    weight, clusters = options.get("sample_weight"), options.get("clusters")
    ratings = gather(raters, grades=options["grades"], sample_weight=weight, clusters=clusters)
    no_pair = no_pair_because(weightless=ratings.weightless, out_of_scale=ratings.out_of_scale)
    matched = ratings.matched_by_cluster()
    return Ceiling(
        pairs=ratings.counts.shape[0],
        single=ratings.single,
        out_of_scale=ratings.out_of_scale,
        **_shared(ratings.scale, matched.sum(axis=0), lambda: matched, no_pair, options),
    )


class _Shared(TypedDict):
    """The fields of ``Comparison``, but for the number of pairs."""

    queries: int | None
    weighted: bool
    grades: tuple[int, ...]
    confusion: FloatArray
    graded: Mapping[str, Estimate]
    binary: Mapping[int, Mapping[str, Estimate]]


def _shared(
    scale: FloatArray, total: FloatArray, by_cluster: Callable[[], FloatArray], no_pair: str, options: Options
) -> _Shared:
    clustered = by_cluster() if options.get("clusters") is not None else None
    resampled = resample(
        total,
        clustered,
        resamples=options.get("resamples", RESAMPLES),
        seed=options.get("seed", SEED),
        no_pair=no_pair,
    )
    return _Shared(
        queries=None if clustered is None else clustered.shape[0],
        weighted=options.get("sample_weight") is not None,
        grades=_whole(scale),
        confusion=resampled.total,
        graded=resampled.estimates(GRADED, scale),
        binary=_binary(resampled, scale, options.get("relevant_from")),
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
