"""One run against one qrels, as matrices: what every ranking measure is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from judging.errors import UserError
from judging.measures.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Graded:
    """Grades by query and rank.

    ``queries``    the Q queries of the qrels, in their order
    ``grades``     Q × depth: the grade at each rank; nan where unjudged or beyond the ranking's end
    ``retrieved``  Q: documents that the run retrieved
    ``ideal``      Q × most judged: all judged grades of the query, descending; nan beyond their end
    ``ignored``    queries of the run that the qrels lack
    """

    queries: tuple[str, ...]
    grades: FloatArray
    retrieved: IntArray
    ideal: FloatArray
    ignored: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Queries of the qrels for which the run retrieved nothing."""
        return tuple(query for query, count in zip(self.queries, self.retrieved, strict=True) if count == 0)


def grade_rankings(qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> Graded:
    """Look up the grade of every retrieved document.

    ``qrels`` maps query → document → grade; a query mapped to nothing is one without any judgment, and counts.
    ``rankings`` maps query → documents, best first, in the order of ``rank_order``.

    Raises UserError where a ranking holds a document twice.
    """
    ranked = [rankings.get(query, ()) for query in qrels]
    for query, documents in zip(qrels, ranked, strict=True):
        _refuse_repeats(query, documents)
    judged = list(qrels.values())
    grades = [[known.get(d, np.nan) for d in documents] for known, documents in zip(judged, ranked, strict=True)]
    return Graded(
        queries=tuple(qrels),
        grades=_padded(grades),
        retrieved=np.array([len(documents) for documents in ranked], dtype=np.int64),
        ideal=_padded([sorted(known.values(), reverse=True) for known in judged]),
        ignored=tuple(query for query in rankings if query not in qrels),
    )


def _refuse_repeats(query: str, documents: Sequence[str]) -> None:
    if len(set(documents)) == len(documents):
        return
    seen: set[str] = set()
    repeated = next(d for d in documents if d in seen or seen.add(d))  # type: ignore[func-returns-value]
    raise UserError(
        f"A ranking names each document once; query {query!r} has document {repeated!r} more than once. "
        "Remove the repeated lines from the run."
    )


def _padded(rows: Sequence[Sequence[float]]) -> FloatArray:
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    matrix = np.full((len(rows), lengths.max(initial=0)), np.nan)
    filled = np.arange(matrix.shape[1]) < lengths[:, None]
    matrix[filled] = np.fromiter(chain.from_iterable(rows), dtype=float, count=int(lengths.sum()))
    return matrix
