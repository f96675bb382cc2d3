"""A collection in figures: the table that a paper would print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.core.cache import cache
from django.db.models import Count, F, Max, Sum

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
    queries = Query.objects.filter(collection=collection)
    original = Judgment.objects.original(collection).order_by()
    counted = original.values("grade").annotate(count=Count("pk")).order_by("grade").values_list("grade", "count")
    grades = {grade: count for grade, count in counted if grade is not None}
    sizes = sorted(original.values("query").annotate(count=Count("pk")).values_list("count", flat=True))
    return Facts(
        **_corpus(collection),
        queries=queries.filter(in_corpus=True).count(),
        judgments=sum(grades.values()),
        grades=grades,
        negative_grades=sum(count for grade, count in grades.items() if grade < 0),
        per_query=(sizes[0], sizes[len(sizes) // 2], sizes[-1]) if sizes else None,
        queries_missing=queries.filter(in_corpus=False).count(),
    )


def _corpus(collection: Collection) -> dict[str, int]:
    """Counts over the whole corpus, once for each state of it: millions of documents are not counted in passing."""
    newest = Document.objects.aggregate(pk=Max("pk"))["pk"]
    key = _key("corpus", collection.pk, collection.created_at, collection.corpus_digest, newest)
    counts: dict[str, int] | None = cache.get(key)
    if counts is None:
        documents = Document.objects.filter(collection=collection)
        counts = {
            "documents": documents.filter(in_corpus=True).count(),
            "empty": documents.filter(in_corpus=True, is_empty=True).count(),
            "duplicates": Document.objects.duplicated(collection).count(),
            "documents_missing": documents.filter(in_corpus=False).count(),
        }
        cache.set(key, counts, timeout=None)
    return counts


def run_table(collection: Collection, measures: Sequence[str]) -> list[RunScores]:
    """Scores of every complete run; computed once for each state of run and qrels."""
    state = _state_of_qrels(collection)
    if state is None:
        return []
    runs = list(collection.runs.complete())
    keys = {run.pk: _key("scores", run.pk, run.completed_at, state, *measures) for run in runs}
    known = cache.get_many(keys.values())
    missing = [run for run in runs if keys[run.pk] not in known]
    for row in scores(collection=collection, measures=measures, runs=missing) if missing else ():
        known[keys[row.run.pk]] = row.before
        cache.set(keys[row.run.pk], row.before, timeout=None)
    return [RunScores(run, known[keys[run.pk]], {}) for run in runs]


def _state_of_qrels(collection: Collection) -> tuple[object, ...] | None:
    """Differs when any grade of the original qrels does; None where there are none."""
    rows = Judgment.objects.original(collection).order_by()
    state = rows.aggregate(count=Count("pk"), rows=Sum("pk"), grades=Sum(F("grade") * F("pk")))
    return tuple(state.values()) if state["count"] else None


def _key(what: str, *state: object) -> str:
    """A key of the cache, which takes neither blanks nor long names."""
    return f"{what}:{sha256(repr(state).encode()).hexdigest()}"


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
