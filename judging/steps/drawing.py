"""Choosing whom to ask about: pairs drawn by an LLM's uncertainty and at random, each with its probability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judging.errors import UserError
from judging.formats.scale import Scale
from judging.measures.arrays import FloatArray
from judging.measures.sampling import NO_LABEL, draw, uncertainty, uncertainty_strata
from judging.models import Judge, Judgment
from judging.steps.consensus import Key
from judging.steps.lookup import chunks


@dataclass(frozen=True, slots=True)
class ByUncertainty:
    """``budget`` pairs, ``random_share`` of them drawn from all alike, the rest where ``judge`` is least sure."""

    judge: Judge
    budget: int
    random_share: float = 0.3


@dataclass(frozen=True, slots=True)
class Chance:
    """What a pair was drawn for, and with which probability."""

    stratum: str
    probability: float


def draw_pairs(candidates: Sequence[Key], options: ByUncertainty, *, scale: Scale, seed: int) -> dict[Key, Chance]:
    """The pairs that are drawn; the same seed draws the same from the same list.

    Strata are thirds by the entropy of the LLM's probabilities, and the pairs for which it gave none. Beyond the random
    pairs, each stratum gets labels in proportion to its size times its mean uncertainty; pairs without a label count as
    the mean of the others.

    Raises: UserError where the budget or the share makes no sense, and for an LLM without probabilities.
    """
    _check(candidates, options)
    unsure = _uncertainty(candidates, options.judge, scale)
    if np.isnan(unsure).all():
        raise UserError(
            f"{options.judge.label} gave no probabilities for these pairs: have it judge a pool of them first, or "
            "import its labels with probabilities."
        )
    strata = uncertainty_strata(unsure)
    random = round(options.budget * options.random_share)
    wanted = _shared_out(options.budget - random, strata, unsure)
    drawn = draw(strata, random=random, by_stratum=wanted, seed=seed)
    return {
        candidates[at]: Chance(stratum, float(probability))
        for at, stratum, probability in zip(drawn.chosen.tolist(), drawn.strata, drawn.inclusion, strict=True)
    }


def _check(candidates: Sequence[Key], options: ByUncertainty) -> None:
    if not 0 <= options.random_share <= 1:
        raise UserError(f"--random-share: expected a share from 0 to 1, found {options.random_share:g}.")
    if not 1 <= options.budget < len(candidates):
        raise UserError(
            f"--budget: expected at least 1 pair and fewer than the {len(candidates):,} that there are to draw from, "
            f"found {options.budget:,}. To judge all of them, leave out --uncertain."
        )


def _uncertainty(candidates: Sequence[Key], judge: Judge, scale: Scale) -> FloatArray:
    """(n,), nan where the judge gave no probabilities."""
    row = {key: at for at, key in enumerate(candidates)}
    table = np.full((len(candidates), len(scale.values)), np.nan)
    for chunk in chunks(sorted({query for query, _ in candidates})):
        said = Judgment.objects.filter(judge=judge, query__in=chunk, probabilities__isnull=False)
        for query, document, probabilities in said.values_list("query", "document", "probabilities"):
            if probabilities and (at := row.get((query, document))) is not None:
                table[at] = [probabilities.get(str(grade), 0.0) for grade in scale.values]
    known = ~np.isnan(table).any(axis=1)
    unsure = np.full(len(candidates), np.nan)
    if known.any():
        unsure[known] = uncertainty(table[known])
    return unsure


def _shared_out(labels: int, strata: Sequence[str], unsure: FloatArray) -> Mapping[str, int]:
    """In whole numbers by largest remainders; no stratum gets more labels than it has pairs."""
    sizes = Counter(strata)
    names = sorted(sizes)
    typical = float(np.nanmean(unsure))
    mass = np.zeros(len(names))
    for stratum, value in zip(strata, unsure, strict=True):
        mass[names.index(stratum)] += typical if stratum == NO_LABEL else value
    mass = np.maximum(mass, 1e-9)
    given = dict.fromkeys(names, 0)
    for _ in range(min(labels, len(strata))):
        open_to = [at for at, name in enumerate(names) if given[name] < sizes[name]]
        best = max(open_to, key=lambda at: mass[at] / (given[names[at]] + 1))
        given[names[best]] += 1
    return given
