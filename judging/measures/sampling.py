"""Choosing whom to ask: pairs drawn by strata of the LLM's uncertainty and at random, each with its probability.

Asking about the pairs of which the LLM is unsure finds its errors soonest, and makes it look worse than it is: on such
a sample a plain kappa or share is biased. Weighted by 1 / inclusion probability, it estimates what all pairs would
have given. The measures of this room take these weights as ``sample_weight``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judging.errors import UserError
from judging.measures.arrays import FloatArray, Grades, IntArray, as_grades, ratio
from judging.measures.resampling import SEED

RANDOM = "random"
NO_LABEL = "no-label"


@dataclass(frozen=True, slots=True)
class Draw:
    """The n pairs that were drawn.

    ``chosen``     (n,) their positions among all pairs, rising
    ``strata``     what each was drawn for: ``random``, or the name of its stratum
    ``inclusion``  (n,) inclusion probabilities
    """

    chosen: IntArray
    strata: tuple[str, ...]
    inclusion: FloatArray

    @property
    def weights(self) -> FloatArray:
        """1 / inclusion probability."""
        return inverse_probability(self.inclusion)


def uncertainty(probabilities: npt.ArrayLike) -> FloatArray:
    """Entropy of the LLM's probabilities, (n, G) → (n,), from 0 (sure) to 1 (all grades alike); nan without them.

    Rows need not add up to 1: only their proportions count. −Σ p log p / log G: Shannon, 1948; as the rule whom to ask:
    Lewis and Gale, A sequential algorithm for training text classifiers, SIGIR 1994.
    """
    table = np.asarray(probabilities, dtype=float)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"Expected probabilities of at least two grades a pair; found an array of {table.shape}.")
    if (table < 0).any():
        raise ValueError("Probabilities are not negative.")
    shares = ratio(table, table.sum(axis=1, keepdims=True))
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: FloatArray = -(shares * logs).sum(axis=1) / np.log(table.shape[1])
    return np.clip(entropy, 0.0, 1.0)


def uncertainty_strata(values: npt.ArrayLike, *, parts: int = 3) -> tuple[str, ...]:
    """A stratum a pair: ``uncertainty-1`` (the surest) to ``uncertainty-{parts}``, as equal in size as ties allow.

    Pairs without a value, for the LLM gave no label, are the stratum ``no-label``. Equal values are never parted.
    """
    if parts < 1:
        raise UserError(f"Expected at least 1 stratum of uncertainty, found {parts}.")
    vector = np.asarray(values, dtype=float)
    known = ~np.isnan(vector)
    cuts = np.quantile(vector[known], np.arange(1, parts) / parts) if known.any() else np.zeros(0)
    numbers = np.searchsorted(cuts, vector, side="left") + 1
    return tuple(f"uncertainty-{number}" if has else NO_LABEL for number, has in zip(numbers, known, strict=True))


def at_rates(strata: Sequence[str], rates: Mapping[str, float]) -> dict[str, int]:
    """How many pairs of each stratum a rate between 0 and 1 is, rounded; at least one where the rate is above 0."""
    wrong = {name: rate for name, rate in rates.items() if not 0 <= rate <= 1}
    if wrong:
        raise UserError(
            f"A rate is a share between 0 and 1; found {', '.join(f'{k} {v:g}' for k, v in wrong.items())}."
        )
    sizes = Counter(strata)
    return {name: max(round(rate * sizes[name]), min(1, sizes[name])) for name, rate in rates.items() if rate}


def neyman(strata: Sequence[str], relevant: npt.ArrayLike, labels: int) -> dict[str, int]:
    """Share out so many labels over the strata in proportion to N_h · S_h, for the narrowest interval of a share.

    ``relevant`` is the LLM's probability that each pair is relevant (nan counts as ½) and p_h its mean in a stratum;
    S_h = √ (p_h (1 − p_h)) is the standard deviation to expect there. It is large where pairs surely relevant and
    surely not share a stratum, as in those of ``uncertainty``: they serve to find errors, strata by probability to
    narrow a share. Every stratum gets one label at least, none more than it has pairs.

    Neyman, On the two different aspects of the representative method, Journal of the Royal Statistical Society 97,
    1934; in whole numbers: Wright, The American Statistician 66(4), 2012.
    """
    p = np.nan_to_num(np.asarray(relevant, dtype=float), nan=0.5)
    names, stratum, sizes = np.unique(np.asarray(strata), return_inverse=True, return_counts=True)
    if not names.size <= labels <= sizes.sum():
        raise UserError(
            f"Expected at least one label for each of the {names.size} strata and at most one for each of the "
            f"{sizes.sum()} pairs; found {labels}."
        )
    mean = np.bincount(stratum, p, minlength=names.size) / sizes
    wanted = sizes * np.sqrt(np.maximum(mean * (1 - mean), 1e-9))
    given = np.ones(names.size, dtype=np.int64)
    for _ in range(labels - names.size):
        given[np.where(given < sizes, wanted / np.sqrt(given * (given + 1)), -1.0).argmax()] += 1
    return {str(name): int(number) for name, number in zip(names, given, strict=True)}


def draw(
    strata: Sequence[str],
    *,
    random: int,
    by_stratum: Mapping[str, int] | None = None,
    queries: npt.ArrayLike | None = None,
    whole_queries: int | None = None,
    seed: int = SEED,
) -> Draw:
    """Draw ``random`` pairs of all, then further ones ``by_stratum``; ``strata`` names the stratum of each pair.

    With ``whole_queries`` so many queries are drawn first, and pairs of these only; where these have fewer pairs of a
    stratum than wanted, all are taken. All draws are simple random ones without replacement, and the same seed draws
    the same pairs from the same list.

    The random pairs that fall into a stratum and those drawn for it are together a simple random sample of it, so
    given how many these are, π = (random ones + drawn ones) / pairs of the stratum; where none are drawn for a stratum,
    π = random / all pairs. Whole queries multiply it by queries drawn / queries. With two phases π holds given the
    first, and 1/π weights are unbiased still: Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992,
    section 9.3.

    Raises UserError where more is wanted than there is, for unknown strata, and where some pairs could never be drawn.
    """
    labels = np.asarray(strata, dtype=object)
    wanted = {name: number for name, number in (by_stratum or {}).items() if number}
    _check(random, wanted, Counter(strata))
    generator = np.random.default_rng(seed)
    candidates, of_queries = _draw_queries(labels.size, queries, whole_queries, generator)
    if random > candidates.size:
        raise UserError(f"Only {candidates.size} pairs are there to draw from; found {random} to draw at random.")
    drawn_for = np.full(labels.size, "", dtype=object)
    drawn_for[generator.choice(candidates, random, replace=False)] = RANDOM
    inclusion = np.full(labels.size, of_queries * ratio(random, candidates.size))
    for name in sorted(wanted):
        members = candidates[labels[candidates] == name]
        if not members.size:
            continue
        rest = members[drawn_for[members] == ""]
        more = generator.choice(rest, min(wanted[name], rest.size), replace=False)
        drawn_for[more] = name
        inclusion[members] = of_queries * (members.size - rest.size + more.size) / members.size
    chosen = np.flatnonzero(drawn_for != "")
    return Draw(chosen, tuple(str(name) for name in drawn_for[chosen]), inclusion[chosen])


def inverse_probability(inclusion: npt.ArrayLike) -> FloatArray:
    """Weights 1/π of pairs with these inclusion probabilities, each above 0 and at most 1."""
    probabilities = np.asarray(inclusion, dtype=float)
    if not ((probabilities > 0) & (probabilities <= 1)).all():
        raise ValueError("An inclusion probability is above 0 and at most 1: what could not be drawn has no weight.")
    return 1 / probabilities


def horvitz_thompson(values: Grades, inclusion: npt.ArrayLike) -> float:
    """Total over all pairs, from those drawn: Σ y / π; for successes it is the number of positives in the pool.

    nan (no answer) counts as 0, so the total is one of answers. Horvitz and Thompson, A generalization of sampling
    without replacement from a finite universe, JASA 47, 1952.
    """
    return float(np.nansum(as_grades(values) * inverse_probability(inclusion)))


def hajek(values: Grades, inclusion: npt.ArrayLike) -> float:
    """Mean over all pairs, from those drawn: Σ y/π / Σ 1/π over those with an answer; nan where there are none.

    ``share_interval`` is this with its interval. Hájek, comment in: Foundations of Statistical Inference, 1971.
    """
    answers, weights = as_grades(values), inverse_probability(inclusion)
    return float(ratio(np.nansum(answers * weights), weights[~np.isnan(answers)].sum()))


def effective_size(weights: npt.ArrayLike) -> float:
    """(Σ w)² / Σ w²: how many evenly drawn pairs tell as much about a share; nan without any.

    Kish, Survey Sampling, 1965, section 11.7.
    """
    vector = np.asarray(weights, dtype=float)
    return float(ratio(vector.sum() ** 2, (vector**2).sum()))


def _draw_queries(
    pairs: int, queries: npt.ArrayLike | None, whole: int | None, generator: np.random.Generator
) -> tuple[IntArray, float]:
    """Positions of the pairs of the queries drawn, and the probability with which each query was."""
    if whole is None:
        return np.arange(pairs), 1.0
    if queries is None:
        raise ValueError("Whole queries can only be drawn where the query of each pair is given.")
    labels = np.asarray(queries)
    if labels.shape != (pairs,):
        raise ValueError(f"Expected {pairs} queries, one a pair; found an array of shape {labels.shape}.")
    numbers = np.unique(labels, return_inverse=True)[1]
    available = int(numbers.max(initial=-1)) + 1
    if not 1 <= whole <= available:
        raise UserError(f"Expected between 1 and {available} queries to draw, as many as have pairs; found {whole}.")
    drawn = generator.choice(available, whole, replace=False)
    return np.flatnonzero(np.isin(numbers, drawn)), whole / available


def _check(random: int, wanted: Mapping[str, int], sizes: Mapping[str, int]) -> None:
    if RANDOM in sizes:
        raise ValueError(f"{RANDOM!r} names the pairs drawn from all: no stratum can have that name.")
    pairs = sum(sizes.values())
    if not 0 <= random <= pairs:
        raise UserError(f"Expected between 0 and {pairs} pairs to draw at random, found {random}.")
    for name, number in wanted.items():
        if name not in sizes:
            raise UserError(f"There is no stratum {name!r}; there are {', '.join(sorted(sizes)) or 'none'}.")
        if not 0 < number <= sizes[name]:
            raise UserError(f"Expected between 0 and {sizes[name]} pairs to draw for {name}, found {number}.")
    never = sorted(name for name in sizes if name not in wanted)
    if random == 0 and never:
        raise UserError(
            f"No pair of {', '.join(never)} could be drawn, so nothing could be said of these pairs: "
            "draw some pairs at random, or give every stratum a number."
        )
