"""Rows of the database in the plain shapes that the measures take: ids and grades, no keys, no objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from judging.models import Collection, Judgment, Run

Qrels = dict[str, dict[str, int]]
Rankings = dict[str, list[str]]


def original_qrels(collection: Collection) -> Qrels:
    """Grades of the original qrels by query id and document id."""
    rows = Judgment.objects.original(collection).values_list("query__qid", "document__docid", "grade")
    return as_qrels((qid, docid, grade) for qid, docid, grade in rows.iterator(chunk_size=10_000) if grade is not None)


def as_qrels(rows: Iterable[tuple[str, str, int]]) -> Qrels:
    qrels: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for qid, docid, grade in rows:
        qrels[qid][docid] = grade
    return dict(qrels)


def rankings(run: Run) -> Rankings:
    """Document ids of each query in the order of their rank; queries without a hit are absent."""
    ranked: defaultdict[str, list[str]] = defaultdict(list)
    hits = run.hits.order_by("query", "rank").values_list("query__qid", "document__docid")
    for qid, docid in hits.iterator(chunk_size=10_000):
        ranked[qid].append(docid)
    return dict(ranked)
