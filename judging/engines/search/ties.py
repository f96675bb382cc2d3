"""Ties, settled alike for every engine: score descending, then document id descending by code points.

Engines sum 32-bit floats, in an order that is theirs. Scores are therefore compared, and reported, with six
significant digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SPARE = 50
"""Hits fetched beyond the wanted ones, enough for most ties at the cut."""

RULE = "6 significant digits, then document id descending"


def rounded(score: float) -> float:
    return float(f"{score:.6g}")


def tied_at_cut(scores: Sequence[float], *, top: int, fetched: int) -> bool:
    """Whether documents that were not fetched may tie with the last wanted one.

    ``scores`` are the rounded scores of one query, best first; ``fetched`` is how many hits the engine was asked for.
    """
    return len(scores) >= fetched and scores[-1] == scores[top - 1]


def best(hits: Iterable[tuple[str, float]], *, top: int) -> tuple[tuple[str, float], ...]:
    """The first ``top`` of the (document id, rounded score), in order."""
    by_id = sorted(hits, key=lambda hit: hit[0], reverse=True)
    return tuple(sorted(by_id, key=lambda hit: hit[1], reverse=True)[:top])
