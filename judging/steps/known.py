"""The known relevant documents of a query: what the original qrels call relevant."""

from __future__ import annotations

from collections.abc import Sequence

from judging.models import Document, Judgment, Query


def known_documents(queries: Sequence[Query]) -> dict[int, list[Document]]:
    """Relevant documents of the original qrels, best grade first, by the query's primary key."""
    if not queries:
        return {}
    collection = queries[0].collection
    rows = (
        Judgment.objects.original(collection)
        .filter(query__in=queries, grade__gte=collection.scale.relevant_from, document__in_corpus=True)
        .select_related("document")
        .order_by("query", "-grade", "document__docid")
    )
    known: dict[int, list[Document]] = {}
    for row in rows:
        known.setdefault(row.query_id, []).append(row.document)
    return known
