"""Where a judge agrees with the reference and where not: by query, topic, rank, length, time, annotator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models.functions import Length
from django.utils import timezone

from judging.measures.agreement import Panel, panel
from judging.measures.agreement.estimates import NO_PAIR
from judging.measures.arrays import FloatArray
from judging.measures.sentence import Sentence
from judging.models import Document, Query
from judging.steps import lookup
from judging.steps.agreement.sheet import Answers, Sheet

TOO_FEW = 10
_RANKS = (1, 2, 3, 5, 10, 20, 50, 100)
_PARTS = 4


@dataclass(frozen=True, slots=True)
class Group:
    """``query`` is the primary key where the group is a query, 0 elsewhere.

    ``relevant`` is the share of its pairs that the reference calls relevant, ``said`` that which the judge does.
    """

    label: str
    panel: Panel
    relevant: float
    said: float
    query: int = 0

    @property
    def is_small(self) -> bool:
        """Too few pairs for a coefficient that means anything."""
        return self.panel.pairs < TOO_FEW


@dataclass(frozen=True, slots=True)
class Breakdown:
    """``reason`` says why there is no group; ``note`` what one must know of those that are there."""

    by: str
    groups: Sequence[Group] = ()
    reason: str = ""
    note: str = ""


# A group's label, its pairs (rows of the sheet), and the query where it is one.
_Part = tuple[str, list[int], int]


def breakdown(sheet: Sheet, answers: Answers, by: str) -> Breakdown:
    """``by`` is one of ``WAYS``. Groups without a pair that both graded are left out."""
    if by == "annotator":
        return _by_annotator(sheet, answers)
    both = ~np.isnan(sheet.reference.grades) & ~np.isnan(answers.grades)
    if not both.any():
        return Breakdown(by, reason=NO_PAIR)
    parts, note = _WAYS[by](sheet, np.flatnonzero(both).tolist())
    if isinstance(parts, str):
        return Breakdown(by, reason=parts)
    groups = [_group(sheet, answers, part) for part in parts]
    if by == "query":  # The ones to look at come first.
        groups.sort(key=lambda group: (group.panel.graded["raw_agreement"].value, -group.panel.pairs, group.label))
    return Breakdown(by, groups, note=note)


def _group(sheet: Sheet, answers: Answers, part: _Part) -> Group:
    label, rows, query = part
    return _compared(sheet, label, rows, sheet.reference.grades, answers.grades, query)


def _compared(
    sheet: Sheet, label: str, rows: Sequence[int], first: FloatArray, second: FloatArray, query: int = 0
) -> Group:
    at = np.asarray(rows, dtype=np.int64)
    weights = sheet.weights
    options: dict[str, Any] = sheet.options | {
        "clusters": sheet.queries[at],
        "sample_weight": None if weights is None else weights[at],
    }
    compared = panel(first[at], second[at], **options)
    own = compared.binary[sheet.scale.relevant_from]
    return Group(label, compared, own["prevalence_first"].value, own["prevalence_second"].value, query)


def _by_annotator(sheet: Sheet, answers: Answers) -> Breakdown:
    """Each person's own grades, not the people's majority."""
    rows = list(range(len(sheet.keys)))
    groups = [_compared(sheet, one.judge.name, rows, one.grades, answers.grades) for one in sheet.people]
    groups = [group for group in groups if group.panel.pairs]
    if not groups:
        return Breakdown("annotator", reason="no person and this judge graded the same pair")
    return Breakdown("annotator", groups, note="Each person's own labels, not the majority.")


_Parts = tuple[Iterable[_Part] | str, str]


def _by_query(sheet: Sheet, rows: Sequence[int]) -> _Parts:
    of = _collect(rows, lambda row: sheet.keys[row][0])
    texts = {query.pk: query.text or query.qid for query in Query.objects.filter(pk__in=list(of))}
    parts = [(texts[query], numbers, query) for query, numbers in of.items()]
    return parts, "A query is one cluster, so there are no intervals here."


def _by_topic(sheet: Sheet, rows: Sequence[int]) -> _Parts:
    topics = dict(Query.objects.filter(pk__in={sheet.keys[row][0] for row in rows}).values_list("pk", "topic"))
    if not any(topics.values()):
        return "the queries of this collection have no topic", ""
    of = _collect(rows, lambda row: topics[sheet.keys[row][0]])
    return [(topic or "no topic", numbers, 0) for topic, numbers in sorted(of.items())], ""


def _by_rank(sheet: Sheet, rows: Sequence[int]) -> _Parts:
    if sheet.pool is None:
        return "only the pairs of a pool have a best rank", ""

    def limit(row: int) -> int:
        return next((end for end in _RANKS if sheet.best_rank[row] <= end), _RANKS[-1] + 1)

    of = _collect(rows, limit)
    return [(_rank_label(end), of[end], 0) for end in sorted(of)], "The best rank that any of the pool's runs gave."


def _rank_label(end: int) -> str:
    if end > _RANKS[-1]:
        return Sentence("beyond %(rank)s", rank=_RANKS[-1])
    start = ([0, *_RANKS][_RANKS.index(end)]) + 1
    return str(end) if start == end else Sentence("%(first)s to %(last)s", first=start, last=end)


def _by_length(sheet: Sheet, rows: Sequence[int]) -> _Parts:
    lengths: dict[int, int] = {}
    for chunk in lookup.chunks({sheet.keys[row][1] for row in rows}):
        sized = Document.objects.filter(pk__in=chunk).annotate(size=Length("text"))
        lengths.update(sized.values_list("pk", "size"))
    sizes = np.array([lengths[sheet.keys[row][1]] for row in rows])
    ends = sorted(
        set(np.quantile(sizes, np.arange(1, _PARTS + 1) / _PARTS, method="inverted_cdf").astype(int).tolist())
    )
    of = _collect(range(len(rows)), lambda number: next(end for end in ends if sizes[number] <= end))
    starts = [int(sizes.min()), *(end + 1 for end in ends)]
    parts = [
        (_characters(start, end), [rows[number] for number in of[end]], 0)
        for start, end in zip(starts, ends, strict=False)
        if end in of
    ]
    return parts, "Quarters of the pairs by the length of the document's text."


def _characters(start: int, end: int) -> str:
    return Sentence("%(first)s to %(last)s characters", first=f"{start:,}", last=f"{end:,}")


def _by_time(sheet: Sheet, rows: Sequence[int]) -> _Parts:
    """When people gave their label: the last of them, where there are several."""
    when = [max((t for person in sheet.people if (t := person.at[row]) is not None), default=None) for row in rows]
    timed = sorted((time, row) for time, row in zip(when, rows, strict=True) if time is not None)
    if not timed:
        return "the reference has no time", ""
    parts = []
    for part in np.array_split(np.arange(len(timed)), min(_PARTS, len(timed))):
        inside = [timed[number] for number in part]
        parts.append((_span(inside[0][0], inside[-1][0]), [row for _, row in inside], 0))
    return parts, "Quarters of the pairs in the order in which people answered."


def _span(start: datetime, end: datetime) -> str:
    first, last = timezone.localtime(start), timezone.localtime(end)
    if first.date() == last.date():
        return Sentence("%(first)s to %(last)s", first=f"{first:%Y-%m-%d %H:%M}", last=f"{last:%H:%M}")
    return Sentence("%(first)s to %(last)s", first=f"{first:%Y-%m-%d}", last=f"{last:%Y-%m-%d}")


def _collect(rows: Iterable[int], key: Callable[[int], Any]) -> dict[Any, list[int]]:
    of: defaultdict[Any, list[int]] = defaultdict(list)
    for row in rows:
        of[key(int(row))].append(int(row))
    return dict(of)


_WAYS: dict[str, Callable[[Sheet, Sequence[int]], _Parts]] = {
    "rank": _by_rank,
    "query": _by_query,
    "topic": _by_topic,
    "length": _by_length,
    "time": _by_time,
}
WAYS = ("rank", "query", "topic", "length", "time", "annotator")
