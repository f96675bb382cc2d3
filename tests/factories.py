"""Rows in one line each: what a test does not name is plain and valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from django.contrib.auth.models import User
from django.utils import timezone

from judging.formats.scale import Scale, default_scale
from judging.formats.text import digest, is_empty
from judging.models import Collection, Document, Hit, Judge, Judgment, Pool, Query, Run
from judging.steps.lookup import judge_of
from judging.steps.pooling import PoolOptions, open_pool

_numbers = count(1)


def make_collection(
    slug: str = "",
    *,
    documents: Mapping[str, str] | Sequence[str] = ("d1", "d2", "d3"),
    queries: Mapping[str, str] | Sequence[str] = ("q1",),
    qrels: Mapping[tuple[str, str], int] | None = None,
    scale: Scale | None = None,
    exclude_self: bool = False,
) -> Collection:
    """A collection of documents and queries (id → text), with original qrels ((query, document) → grade)."""
    slug = slug or f"c{next(_numbers)}"
    collection = Collection.objects.create(
        slug=slug,
        name=slug,
        scale_json=(scale or default_scale(1)).as_json(),
        corpus_digest=f"corpus of {slug}",
        exclude_self=exclude_self,
        splits=["test"],
    )
    for docid, text in _with_texts(documents, "text of").items():
        make_document(collection, docid, text)
    for qid, text in _with_texts(queries, "query").items():
        Query.objects.create(collection=collection, qid=qid, text=text)
    if qrels:
        judge = Judge.objects.create(kind="qrels", name="qrels/test", collection=collection)
        for (qid, docid), grade in qrels.items():
            make_judgment(judge, collection, qid, docid, grade)
    return collection


def _with_texts(rows: Mapping[str, str] | Sequence[str], word: str) -> Mapping[str, str]:
    return rows if isinstance(rows, Mapping) else {row: f"{word} {row}" for row in rows}


def make_document(collection: Collection, docid: str, text: str = "some text", *, title: str = "") -> Document:
    return Document.objects.create(
        collection=collection,
        docid=docid,
        title=title,
        text=text,
        digest=digest(title, text),
        is_empty=is_empty(title, text),
    )


def make_run(
    collection: Collection, rankings: Mapping[str, Sequence[str]], *, name: str = "bm25", complete: bool = True
) -> Run:
    """A run that ranks documents (by id, best first) for queries (by id)."""
    run = Run.objects.create(
        collection=collection,
        name=name,
        kind=Run.Kind.IMPORTED,
        corpus_digest=collection.corpus_digest,
        completed_at=timezone.now() if complete else None,
    )
    for qid, docids in rankings.items():
        query = collection.queries.get(qid=qid)
        for rank, docid in enumerate(docids, 1):
            document = collection.documents.get(docid=docid)
            Hit.objects.create(run=run, query=query, document=document, rank=rank, score=100.0 - rank)
    return run


def make_pool(collection: Collection, run: Run | None = None, *, name: str = "holes", **options: object) -> Pool:
    """A pool over a run; without one, over a run that ranks all documents for every query."""
    docids = list(collection.documents.order_by("docid").values_list("docid", flat=True))
    run = run or make_run(collection, {query.qid: docids for query in collection.queries.all()})
    return open_pool(collection=collection, runs=[run], name=name, options=PoolOptions(**options))  # type: ignore[arg-type]


def make_person(name: str = "", *, is_staff: bool = False) -> Judge:
    """An annotator with an account (password ``secret``), as the judge that they are."""
    user = User.objects.create_user(name or f"person{next(_numbers)}", password="secret", is_staff=is_staff)
    return judge_of(user)


def make_llm(name: str = "llm", **configuration: object) -> Judge:
    fingerprint = f"{next(_numbers):064x}"
    return Judge.objects.create(kind="llm", name=name, configuration=configuration, fingerprint=fingerprint)


def make_judgment(
    judge: Judge, collection: Collection, qid: str, docid: str, grade: int | None, **fields: object
) -> Judgment:
    """A judgment; ``grade`` None is one without a grade (``outcome`` cannot_judge unless said)."""
    outcome = "graded" if grade is not None else fields.pop("outcome", "cannot_judge")
    return Judgment.objects.create(
        judge=judge,
        query=collection.queries.get(qid=qid),
        document=collection.documents.get(docid=docid),
        outcome=outcome,
        grade=grade,
        **fields,
    )
