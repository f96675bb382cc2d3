"""What came of a gullibility probe: how many pairs turn relevant, and how many by as many other words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from judging.formats.scale import Scale
from judging.measures.counts import mcnemar, wilson
from judging.measures.intervals import Estimate
from judging.models import GullibilityProbe, Outcome

# Below, the query's words turn more pairs than other words do, and chance would seldom do it.
_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Gullible:
    """``drawn`` pairs, of which ``pairs`` were graded both times; ``unread`` were asked and not.

    ``stuffed``  the share that turns relevant with the words of the query, ``control`` with as many other words; each
                 with Wilson's interval
    ``flips``    how many turn by the query's words, ``control_flips`` by others, ``only_…`` by one of the two alone
    ``p``        of McNemar's exact test that both are as likely
    ``means``    of the probability of relevant before, with the query's words, with others; nan where none was given
    """

    probe: GullibilityProbe
    drawn: int
    pairs: int
    unread: int
    flips: int
    control_flips: int
    only_stuffed: int
    only_control: int
    stuffed: Estimate
    control: Estimate
    p: float
    means: tuple[float, float, float]

    @property
    def is_alarming(self) -> bool:
        return self.only_stuffed > self.only_control and self.p < _LEVEL

    @property
    def unasked(self) -> int:
        return self.drawn - self.pairs - self.unread


def gullible(probe: GullibilityProbe, scale: Scale) -> Gullible:
    asked = [row for row in probe.rows if "stuffed" in row]
    both = [row for row in asked if {row["stuffed"][0], row["control"][0]} == {Outcome.GRADED}]
    flips = [scale.relevant(row["stuffed"][1]) for row in both]
    control = [scale.relevant(row["control"][1]) for row in both]
    only_stuffed = sum(ours and not other for ours, other in zip(flips, control, strict=True))
    only_control = sum(other and not ours for ours, other in zip(flips, control, strict=True))
    return Gullible(
        probe=probe,
        drawn=len(probe.rows),
        pairs=len(both),
        unread=len(asked) - len(both),
        flips=sum(flips),
        control_flips=sum(control),
        only_stuffed=only_stuffed,
        only_control=only_control,
        stuffed=wilson(sum(flips), len(both)),
        control=wilson(sum(control), len(both)),
        p=mcnemar(only_stuffed, only_control),
        means=(_mean(both, "before"), _mean(both, "stuffed"), _mean(both, "control")),
    )


def _mean(rows: list[Mapping[str, Any]], name: str) -> float:
    values = [row[name][2] for row in rows if row[name][2] is not None]
    return float(np.mean(values)) if values else nan
