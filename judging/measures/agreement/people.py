"""People against people, one by one: each against the rest, and each against themselves at another time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from judging.measures.agreement.pairs import as_scale
from judging.measures.agreement.panel import Options, Panel, panel
from judging.measures.arrays import FloatArray, Grades, as_grades


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One person against the majority of the rest.

    ``panel``  the rest (first judge, the reference) and the person (second judge)
    ``ties``   pairs that the person graded and on which the rest is tied; they do not count
    ``alone``  pairs that the person graded and nobody else
    """

    panel: Panel
    ties: int
    alone: int


def leave_one_out(*raters: Grades, **options: Unpack[Options]) -> tuple[LeftOut, ...]:
    """Each person against the majority of the others, in the order of ``raters``; arguments as in ``ceiling``.

    This is the ceiling in the form in which an LLM is measured: one judge against the people together. A person is no
    part of the majority that they are held against. A majority is the grade that more people gave than any other.
    """
    if len(raters) < 2:
        raise ValueError(f"Leaving one out needs at least two people; found {len(raters)}.")
    table = np.stack([as_grades(rater) for rater in raters])
    scale = as_scale(options["grades"], table)
    votes = (table[:, :, None] == scale).astype(float)
    all_votes = votes.sum(axis=0)
    compared = []
    for person, own in zip(table, votes, strict=True):
        of_the_rest = all_votes - own
        rest, has_graded = _majority(of_the_rest, scale), ~np.isnan(person)
        voted = of_the_rest.any(axis=1)
        judged = panel(rest, person, **options)
        ties, alone = has_graded & voted & np.isnan(rest), has_graded & ~voted
        compared.append(LeftOut(judged, int(ties.sum()), int(alone.sum())))
    return tuple(compared)


def majority(*raters: Grades, grades: Sequence[int]) -> FloatArray:
    """The grade that most people gave to each pair, (n,); nan on a tie and where nobody graded within the scale."""
    table = np.stack([as_grades(rater) for rater in raters])
    scale = as_scale(grades, table)
    return _majority((table[:, :, None] == scale).sum(axis=0).astype(float), scale)


def self_agreement(first: Grades, again: Grades, **options: Unpack[Options]) -> Panel:
    """A person's grades against those that they gave to the same pairs when asked again; arguments as in ``panel``.

    ``bias`` is the drift: above 0, the person became more generous. Several people at once: one vector after the other.
    No judge, person or LLM, can be expected to agree with a person better than the person does.
    """
    return panel(first, again, **options)


def _majority(votes: FloatArray, scale: FloatArray) -> FloatArray:
    """(n, G) numbers of votes → (n,) grades."""
    if not scale.size:
        return np.full(votes.shape[0], np.nan)
    most = votes.max(axis=1)
    single = (most > 0) & ((votes == most[:, None]).sum(axis=1) == 1)
    return np.where(single, scale[votes.argmax(axis=1)], np.nan)
