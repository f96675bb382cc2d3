"""The known relevant documents of a query: what the original qrels call relevant."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Collate

from judging.models import Document, Judgment, Query
from judging.models.compiled import Compiled


def known_documents(queries: Sequence[Query], *, most: int = 1) -> dict[int, list[Document]]:
    """Relevant documents of the original qrels that can be read, at most so many of each query, by its primary key.

    Best grade first, then by document id.
    """
    if not queries:
        return {}
    collection = queries[0].collection
    rows = _relevant(collection.pk, collection.scale.relevant_from).filter(query__in=queries)
    best: dict[int, list[int]] = {}
    for query, document in rows.values_list("query", "document"):
        if len(of_query := best.setdefault(query, [])) < most:
            of_query.append(document)
    # Texts of those alone: a query may have hundreds of relevant documents.
    documents = Document.objects.in_bulk(pk for of_query in best.values() for pk in of_query)
    return {query: [documents[pk] for pk in of_query] for query, of_query in best.items()}


def known_of(query: Query) -> list[Document]:
    """The first two of one query."""
    collection = query.collection
    found = _two_of.all(collection=collection.pk, relevant_from=collection.scale.relevant_from, query=query.pk)
    return [judgment.document for judgment in found]


def _relevant(collection: int, relevant_from: int) -> QuerySet[Judgment]:
    # By code points: databases order text in different ways.
    docid = Collate("document__docid", "BINARY" if connection.vendor == "sqlite" else "C")
    readable = Judgment.objects.filter(document__in_corpus=True, document__is_empty=False)
    return readable.original(collection).filter(grade__gte=relevant_from).order_by("query", "-grade", docid)


_two_of = Compiled(
    lambda collection, relevant_from, query: (
        _relevant(collection, relevant_from).filter(query=query).select_related("document")[:2]
    )
)
