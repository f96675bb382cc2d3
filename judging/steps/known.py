"""The known relevant documents of a query: what the original qrels call relevant."""

from __future__ import annotations

from collections.abc import Sequence

from judging.models import Document, Judgment, Query


def known_documents(queries: Sequence[Query]) -> dict[int, list[Document]]:
    """Relevant documents of the original qrels that can be read, by the query's primary key.

    Best grade first, then by document id.
    """
    if not queries:
        return {}
    collection = queries[0].collection
    rows = (
        Judgment.objects.original(collection)
        .filter(query__in=queries, grade__gte=collection.scale.relevant_from)
        .filter(document__in_corpus=True, document__is_empty=False)
        .select_related("document")
    )
    known: dict[int, list[Document]] = {}
    # Sorted here, for databases order text in different ways.
    for row in sorted(rows, key=lambda row: (-(row.grade or 0), row.document.docid)):
        known.setdefault(row.query_id, []).append(row.document)
    return known
