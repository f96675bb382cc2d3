"""index and retrieve: the corpus into a search engine, and each query's best documents out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from judging.engines.search import open_engine
from judging.engines.search.analyzer import analyzer_for
from judging.engines.search.base import SearchEngine
from judging.errors import UserError
from judging.formats import records
from judging.models import Collection, Document, Query, Run
from judging.steps import lookup
from judging.steps.corpus import read_corpus
from judging.steps.progress import Track, quiet
from judging.steps.runs import Making, begin_run, complete, keep_hits, made_before


def engine_of(collection: Collection, kind: str | None = None) -> SearchEngine:
    """The engine that the settings name, opened on the collection's own index."""
    return open_engine(
        kind or settings.SEARCH_ENGINE,
        language=collection.language,
        folder=settings.INDEX_DIR / collection.slug,
        url=settings.ELASTICSEARCH_URL,
        index_name=f"unjudged-{collection.slug}",
        analyzer=settings.ELASTICSEARCH_ANALYZER or None,
    )


@dataclass
class IndexReport:
    engine: SearchEngine
    documents: int
    unchanged: bool


def index(
    *, collection: Collection, kind: str | None = None, rebuild: bool = False, track: Track = quiet
) -> IndexReport:
    """Index the corpus, unless the index that is there is of this very corpus."""
    engine = engine_of(collection, kind)
    info = engine.info()
    if info and info.corpus == collection.corpus_digest and not rebuild:
        return IndexReport(engine, info.documents, unchanged=True)
    total = Document.objects.filter(collection=collection, in_corpus=True).count()
    documents = track(_documents(collection), total, "documents")
    return IndexReport(engine, engine.build(documents, corpus=collection.corpus_digest), unchanged=False)


def _documents(collection: Collection) -> Iterator[records.Document]:
    return (records.Document(*row) for row in read_corpus(collection, ("docid", "title", "text")))


@dataclass
class RetrieveReport:
    run: Run
    unchanged: bool
    queries: int
    hits: int
    without_hits: list[str]


def retrieve(
    *,
    collection: Collection,
    top: int = 100,
    name: str = "bm25",
    kind: str | None = None,
    distinct_terms: bool = False,
    replace: bool = False,
    track: Track = quiet,
) -> RetrieveReport:
    """Keep the best ``top`` documents of each query as a run; all or nothing.

    Where the collection excludes self-matches, one more is retrieved and the document that is the query is dropped.
    A term that a query repeats counts as often as it occurs; with ``distinct_terms`` it counts once.

    Raises: UserError when there is no index, or one of another corpus.
    """
    if top < 1:
        raise UserError(f"--top: expected at least 1, found {top}.")
    engine = engine_of(collection, kind)
    _require_index(engine, collection)
    queries = [
        records.Query(qid, text)
        for qid, text in Query.objects.filter(collection=collection, in_corpus=True)
        .order_by("pk")
        .values_list("qid", "text")
    ]
    if not queries:
        raise UserError(f"{collection.slug} has no query with a text: there is nothing to retrieve for.")
    settings_of_run = {
        **engine.identity(),
        "top": top,
        "exclude_self": collection.exclude_self,
        "query_terms": "distinct" if distinct_terms else "repeated",
    }
    making = Making(Run.Kind.RETRIEVED, settings_of_run)
    if run := made_before(collection=collection, name=name, making=making, replace=replace):
        with_hits = run.hits.values("query")
        without = Query.objects.filter(collection=collection, in_corpus=True).exclude(pk__in=with_hits)
        return RetrieveReport(
            run,
            unchanged=True,
            queries=len(queries),
            hits=run.hits.count(),
            without_hits=sorted(without.values_list("qid", flat=True)),
        )
    if distinct_terms:
        analyzer = analyzer_for(collection.language)
        queries = [records.Query(query.id, analyzer.distinct(query.text)) for query in queries]
    # All is found before anything is written: a transaction that waits for a search would keep SQLite from annotators.
    rankings = _search(engine, collection, queries, top=top, track=track)
    keys = lookup.query_keys(collection)
    documents = lookup.document_keys(collection, {docid for hits in rankings.values() for docid, _ in hits})
    with transaction.atomic():
        run = begin_run(collection=collection, name=name, making=making, replace=replace)
        count = keep_hits(
            run, ((keys[qid], [(documents[docid], score) for docid, score in hits]) for qid, hits in rankings.items())
        )
        complete(run)
    empty = sorted(qid for qid, hits in rankings.items() if not hits)
    return RetrieveReport(run, unchanged=False, queries=len(queries), hits=count, without_hits=empty)


def _require_index(engine: SearchEngine, collection: Collection) -> None:
    info = engine.info()
    if info is None:
        raise UserError(f"{collection.slug} has no index yet: python manage.py index {collection.slug}")
    if info.corpus != collection.corpus_digest:
        raise UserError(
            f"The index of {collection.slug} is of another corpus than the one loaded now: "
            f"python manage.py index {collection.slug}"
        )


def _search(
    engine: SearchEngine, collection: Collection, queries: Sequence[records.Query], *, top: int, track: Track
) -> dict[str, Sequence[tuple[str, float]]]:
    """The best ``top`` (document, score) of each query, self-matches left out where the collection says so."""
    rankings: dict[str, Sequence[tuple[str, float]]] = {}
    extra = 1 if collection.exclude_self else 0
    for ranking in track(engine.search(queries, top=top + extra), len(queries), "queries"):
        hits = [hit for hit in ranking.hits if not (collection.exclude_self and hit[0] == ranking.query)]
        rankings[ranking.query] = hits[:top]
    return rankings
