"""Several measures of one run, one value a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judging.measures.arrays import FloatArray
from judging.measures.ranking.graded import grade_rankings
from judging.measures.ranking.names import parse_measure


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Values by measure; ``values[name][i]`` belongs to ``queries[i]``, nan where undefined.

    ``missing``  queries for which the run retrieved nothing; they score 0, and have no judged@k
    ``ignored``  queries of the run that the qrels lack
    """

    queries: tuple[str, ...]
    values: Mapping[str, FloatArray]
    missing: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def mean(self, name: str) -> float:
        """Mean over the queries with a value; nan where there are none."""
        values = self._of(name)
        defined = values[~np.isnan(values)]
        return float(defined.mean()) if defined.size else float("nan")

    def undefined(self, name: str) -> tuple[str, ...]:
        """The queries that have no value of this measure."""
        return tuple(q for q, value in zip(self.queries, self._of(name), strict=True) if np.isnan(value))

    def _of(self, name: str) -> FloatArray:
        return self.values[str(parse_measure(name))]


def evaluate(
    qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]], names: Iterable[str]
) -> Evaluation:
    """Measure the rankings of one run, keyed by the measures' printed names. Arguments as in ``grade_rankings``.

    Raises UserError for an unknown measure and for a ranking that holds a document twice.
    """
    measures = [parse_measure(name) for name in names]
    graded = grade_rankings(qrels, rankings)
    values = {str(measure): measure(graded) for measure in measures}
    return Evaluation(graded.queries, values, graded.missing, graded.ignored)
