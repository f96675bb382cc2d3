"""What importing files over a collection would change, counted without writing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judging.formats import records
from judging.formats.diff import diff_qrels
from judging.models import Collection, Document, Judgment, Query
from judging.steps import lookup

# Long documents are held twice while they are compared.
_DOCUMENTS = 100


@dataclass(slots=True)
class Counts:
    """``changed`` are those whose text, title or metadata is another one, or whose grade."""

    added: int = 0
    removed: int = 0
    changed: int = 0


@dataclass(slots=True)
class Changes:
    documents: Counts = field(default_factory=Counts)
    queries: Counts = field(default_factory=Counts)
    qrels: Counts = field(default_factory=Counts)

    def __str__(self) -> str:
        parts = [
            _phrase("documents", self.documents, "changed"),
            _phrase("queries", self.queries, "changed"),
            _phrase("qrels", self.qrels, "regraded"),
        ]
        return "; ".join(filter(None, parts)) or "no document, query or grade"


def _phrase(what: str, counts: Counts, changed: str) -> str:
    numbers = ((counts.added, "added"), (counts.removed, "removed"), (counts.changed, changed))
    told = [f"{number:,} {how}" for number, how in numbers if number]
    return f"{what} {', '.join(told)}" if told else ""


def changes_of(
    collection: Collection,
    *,
    documents: Iterable[records.Document],
    queries: Iterable[records.Query],
    qrels: Mapping[str, Sequence[records.Qrel]],
) -> Changes:
    """The difference between what the collection holds and what these records would make of it.

    Documents are compared a hundred at a time, so that a corpus of any size fits. ``queries`` are those that would
    be kept.
    """
    changes = Changes(qrels=_qrels(collection, qrels))
    _compare_documents(collection, documents, changes.documents)
    _compare_queries(collection, queries, changes.queries)
    return changes


def _compare_documents(collection: Collection, documents: Iterable[records.Document], counts: Counts) -> None:
    own = Document.objects.filter(collection=collection, in_corpus=True)
    there = 0
    for chunk in lookup.chunks(documents, _DOCUMENTS):
        rows = own.filter(docid__in=[document.id for document in chunk])
        old = {docid: rest for docid, *rest in rows.values_list("docid", "title", "text", "metadata")}
        there += len(old)
        counts.added += len(chunk) - len(old)
        counts.changed += sum(
            old[new.id] != [new.title, new.text, dict(new.metadata)] for new in chunk if new.id in old
        )
    counts.removed = own.count() - there


def _compare_queries(collection: Collection, queries: Iterable[records.Query], counts: Counts) -> None:
    own = Query.objects.filter(collection=collection, in_corpus=True)
    old = {qid: rest for qid, *rest in own.values_list("qid", "text", "metadata")}
    for new in queries:
        before = old.pop(new.id, None)
        if before is None:
            counts.added += 1
        elif before != [new.text, dict(new.metadata)]:
            counts.changed += 1
    counts.removed = len(old)


def _qrels(collection: Collection, qrels: Mapping[str, Sequence[records.Qrel]]) -> Counts:
    rows = Judgment.objects.original(collection).values_list("query__qid", "document__docid", "grade")
    before = (records.Qrel(query, document, grade) for query, document, grade in rows if grade is not None)
    diff = diff_qrels(before, (row for split in qrels.values() for row in split))
    return Counts(diff.added, diff.removed, diff.regraded)
