"""The known relevant documents of a query: what the original qrels call relevant."""

from __future__ import annotations

from collections.abc import Sequence

from judging.models import Document, Judgment, Query


def known_documents(queries: Sequence[Query], *, most: int = 1) -> dict[int, list[Document]]:
    """Relevant documents of the original qrels that can be read, at most so many of each query, by its primary key.

    Best grade first, then by document id.
    """
    if not queries:
        return {}
    collection = queries[0].collection
    rows = (
        Judgment.objects.original(collection)
        .filter(query__in=queries, grade__gte=collection.scale.relevant_from)
        .filter(document__in_corpus=True, document__is_empty=False)
        .values_list("query", "grade", "document__docid", "document")
    )
    best: dict[int, list[int]] = {}
    # Sorted here, for databases order text in different ways.
    for query, _grade, _docid, document in sorted(rows, key=lambda row: (row[0], -(row[1] or 0), row[2])):
        if len(of_query := best.setdefault(query, [])) < most:
            of_query.append(document)
    # Texts of those alone: a query may have hundreds of relevant documents.
    documents = Document.objects.in_bulk(pk for of_query in best.values() for pk in of_query)
    return {query: [documents[pk] for pk in of_query] for query, of_query in best.items()}
