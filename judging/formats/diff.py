"""What changed between two qrels files, query by query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from judging.formats.fields import Warn
from judging.formats.records import Qrel
from judging.formats.single_file import qrels_of


@dataclass(slots=True)
class QueryDiff:
    """The changes of one query. ``added`` and ``removed``: document and grade; ``regraded``: document, old and new."""

    query: str
    added: list[tuple[str, int]] = field(default_factory=list)
    removed: list[tuple[str, int]] = field(default_factory=list)
    regraded: list[tuple[str, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class QrelsDiff:
    """The queries with changes, by id, the documents of each likewise; and how many pairs stayed as they were."""

    queries: list[QueryDiff]
    unchanged: int

    @property
    def added(self) -> int:
        return sum(len(query.added) for query in self.queries)

    @property
    def removed(self) -> int:
        return sum(len(query.removed) for query in self.queries)

    @property
    def regraded(self) -> int:
        return sum(len(query.regraded) for query in self.queries)


def diff_qrels(before: Iterable[Qrel], after: Iterable[Qrel]) -> QrelsDiff:
    """What must be done to ``before`` to have ``after``. Each pair comes once in each of them."""
    old, new = _by_query(before), _by_query(after)
    changed, unchanged = [], 0
    for query in sorted(old.keys() | new.keys()):
        was, now = old.get(query, {}), new.get(query, {})
        both = sorted(was.keys() & now.keys())
        diff = QueryDiff(
            query,
            added=sorted((document, grade) for document, grade in now.items() if document not in was),
            removed=sorted((document, grade) for document, grade in was.items() if document not in now),
            regraded=[(document, was[document], now[document]) for document in both if was[document] != now[document]],
        )
        unchanged += len(both) - len(diff.regraded)
        if diff.added or diff.removed or diff.regraded:
            changed.append(diff)
    return QrelsDiff(changed, unchanged)


def _by_query(qrels: Iterable[Qrel]) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        grades.setdefault(qrel.query, {})[qrel.document] = qrel.grade
    return grades


def diff_qrels_files(before: Path, after: Path, *, warn: Warn) -> QrelsDiff:
    """The same of two files of any form. FileError for a bad line in either."""
    return diff_qrels(qrels_of(before, warn=warn), qrels_of(after, warn=warn))
