"""A collection in figures: the table that a paper would print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, Max

from judging.models import Collection, Document, Judgment, Query, Run
from judging.steps.evaluate import RunScores, scores


@dataclass(frozen=True, slots=True)
class Facts:
    """``per_query``: judgments a query, as (fewest, median, most)."""

    documents: int
    queries: int
    judgments: int
    grades: dict[int, int]
    negative_grades: int
    per_query: tuple[int, int, int] | None
    empty: int
    duplicates: int
    documents_missing: int
    queries_missing: int


def facts(collection: Collection) -> Facts:
    documents = Document.objects.filter(collection=collection)
    queries = Query.objects.filter(collection=collection)
    original = Judgment.objects.original(collection).order_by()
    grades = dict(original.values("grade").annotate(count=Count("pk")).order_by("grade").values_list("grade", "count"))
    sizes = sorted(original.values("query").annotate(count=Count("pk")).values_list("count", flat=True))
    return Facts(
        documents=documents.filter(in_corpus=True).count(),
        queries=queries.filter(in_corpus=True).count(),
        judgments=sum(grades.values()),
        grades=grades,
        negative_grades=sum(count for grade, count in grades.items() if grade < 0),
        per_query=(sizes[0], sizes[len(sizes) // 2], sizes[-1]) if sizes else None,
        empty=documents.filter(in_corpus=True, is_empty=True).count(),
        duplicates=Document.objects.duplicated(collection).count(),
        documents_missing=documents.filter(in_corpus=False).count(),
        queries_missing=queries.filter(in_corpus=False).count(),
    )


def run_table(collection: Collection, measures: Sequence[str]) -> list[RunScores]:
    """Scores of every complete run; computed once for each state of run and qrels."""
    state = Judgment.objects.original(collection).aggregate(count=Count("pk"), latest=Max("pk"))
    if not state["count"]:
        return []
    table: list[RunScores] = []
    for run in collection.runs.complete():
        key = f"scores:{run.pk}:{run.completed_at}:{state['count']}:{state['latest']}:{','.join(measures)}".replace(" ", "")
        row = cache.get(key)
        if row is None:
            row = scores(collection=collection, measures=measures, runs=[run])[0]
            cache.set(key, row, timeout=None)
        table.append(row)
    return table


def next_thing(collection: Collection) -> str:
    """The command that takes the collection one step further, or nothing where people have the word."""
    slug = collection.slug
    if not Run.objects.filter(collection=collection).complete().exists():
        return f"python manage.py index {slug} && python manage.py retrieve {slug}"
    if not collection.runs.filter(kind=Run.Kind.RERANKED).exists() and not collection.pools.exists():
        return f"python manage.py rerank {slug}"
    if not collection.pools.exists():
        return f"python manage.py open_pool {slug} --run RUN"
    return ""
