"""What importing files over a collection would change, counted without writing anything."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judging.formats import records
from judging.formats.diff import diff_qrels
from judging.models import Collection, Document, Judgment, Query
from judging.steps import lookup

# Long documents are held twice while they are compared.
_DOCUMENTS = 100


@dataclass(slots=True)
class Counts:
    """``changed`` are those whose text, title or metadata is another one, or whose grade; ``gone`` the keys removed."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    gone: Sequence[int] = ()


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
    collection: Collection, *, queries: Iterable[records.Query], qrels: Mapping[str, Sequence[records.Qrel]]
) -> Changes:
    """The difference between the queries and qrels that the collection holds and what these records would make of them.

    ``queries`` are those that would be kept. Of documents nothing is said: ``compared`` counts them.
    """
    changes = Changes(qrels=_qrels(collection, qrels))
    _compare_queries(collection, queries, changes.queries)
    return changes


def compared(
    collection: Collection, documents: Iterable[records.Document], counts: Counts
) -> Iterator[list[records.Document]]:
    """Those documents that the collection lacks or has otherwise, of a hundred at a time; ``counts`` tells them.

    At the end ``counts.gone`` holds the keys of what the documents no longer have. A corpus of any size fits: 16 bytes
    are kept of each.
    """
    own = Document.objects.filter(collection=collection)
    before = array("q", own.filter(in_corpus=True).values_list("pk", flat=True).iterator(chunk_size=10_000))
    still = array("q")
    for chunk in lookup.chunks(documents, _DOCUMENTS):
        rows = own.filter(in_corpus=True, docid__in=[document.id for document in chunk])
        old = {docid: rest for docid, *rest in rows.values_list("docid", "pk", "title", "text", "metadata")}
        still.extend(pk for pk, *_ in old.values())
        fresh = [new for new in chunk if new.id not in old]
        changed = [
            new for new in chunk if new.id in old and old[new.id][1:] != [new.title, new.text, dict(new.metadata)]
        ]
        counts.added += len(fresh)
        counts.changed += len(changed)
        yield fresh + changed
    counts.gone = sorted(set(before).difference(still))
    counts.removed = len(counts.gone)


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
