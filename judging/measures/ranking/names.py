"""Measures by name: ``nDCG@10``, ``P(rel=2)@5``, ``RBP(p=0.8)``, ``judged@10``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from judging.errors import UserError
from judging.measures.arrays import FloatArray
from judging.measures.ranking import formulas
from judging.measures.ranking.graded import Graded


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its parameters; ``str()`` gives the name as ir_measures prints it.

    ``rel`` is the lowest grade that counts as relevant in binary measures, ``p`` the persistence of RBP.
    Called with graded rankings, it gives one value a query.
    """

    family: str
    cutoff: int | None = None
    rel: int = 1
    p: float = 0.8

    def __call__(self, graded: Graded) -> FloatArray:
        return _FAMILIES[self.family].compute(self, graded)

    def __str__(self) -> str:
        parameters = [f"p={self.p:g}"] if "p" in _FAMILIES[self.family].parameters else []
        if self.rel != 1:
            parameters.append(f"rel={self.rel}")
        bracket = f"({','.join(parameters)})" if parameters else ""
        return self.family + bracket + ("" if self.cutoff is None else f"@{self.cutoff}")


@dataclass(frozen=True, slots=True)
class _Family:
    example: str
    compute: Callable[[Measure, Graded], FloatArray]
    parameters: tuple[str, ...] = ()
    cutoff: str = "optional"


_FAMILIES: dict[str, _Family] = {
    "nDCG": _Family("nDCG, nDCG@10", lambda m, g: formulas.ndcg(g, m.cutoff)),
    "P": _Family("P@10, P(rel=2)@10", lambda m, g: formulas.precision(g, m.cutoff, m.rel), ("rel",), "needed"),
    "R": _Family("R@100, R(rel=2)@100", lambda m, g: formulas.recall(g, m.cutoff, m.rel), ("rel",), "needed"),
    "RR": _Family("RR, RR(rel=2)@10", lambda m, g: formulas.reciprocal_rank(g, m.cutoff, m.rel), ("rel",)),
    "AP": _Family("AP, AP(rel=2)@100", lambda m, g: formulas.average_precision(g, m.cutoff, m.rel), ("rel",)),
    "Bpref": _Family("Bpref, Bpref(rel=2)", lambda m, g: formulas.bpref(g, m.rel), ("rel",), "none"),
    "RBP": _Family(
        "RBP(p=0.8), RBP(p=0.8,rel=2)@10",
        lambda m, g: formulas.rank_biased_precision(g, m.cutoff, m.rel, m.p),
        ("rel", "p"),
    ),
    "judged": _Family("judged@10", lambda m, g: formulas.judged(g, m.cutoff), (), "needed"),
}
_BY_LOWER_CASE = {family.lower(): family for family in _FAMILIES}
_NAME = re.compile(r"(?P<family>[A-Za-z]+)(?:\((?P<parameters>[^()]*)\))?(?:@(?P<cutoff>[0-9]+))?")


def parse_measure(name: str) -> Measure:
    """The measure of that name; upper and lower case are alike. Raises UserError that lists what exists."""
    found = _NAME.fullmatch(name.strip())
    family = _BY_LOWER_CASE.get(found["family"].lower()) if found else None
    if not found or family is None:
        raise _unknown(name, "no measure of that name")
    cutoff = int(found["cutoff"]) if found["cutoff"] else None
    if cutoff == 0 or (cutoff is None and _FAMILIES[family].cutoff == "needed"):
        raise _unknown(name, f"{family} needs a cut-off of at least 1")
    if cutoff is not None and _FAMILIES[family].cutoff == "none":
        raise _unknown(name, f"{family} takes no cut-off")
    return _with_parameters(name, Measure(family, cutoff), found["parameters"] or "")


def _with_parameters(name: str, measure: Measure, text: str) -> Measure:
    rel, p = measure.rel, measure.p
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = (side.strip() for side in part.partition("="))
        if key not in _FAMILIES[measure.family].parameters:
            raise _unknown(name, f"{measure.family} has no parameter {key!r}")
        try:
            rel, p = (int(value), p) if key == "rel" else (rel, float(value))
        except ValueError:
            raise _unknown(name, f"{value!r} is no value for {key}") from None
    if not 0 < p < 1:
        raise _unknown(name, f"p must lie between 0 and 1, found {p:g}")
    return Measure(measure.family, measure.cutoff, rel, p)


def _unknown(name: str, problem: str) -> UserError:
    existing = "; ".join(family.example for family in _FAMILIES.values())
    return UserError(f"{name!r} cannot be computed: {problem}. There are (numbers are examples): {existing}.")
