"""rerank: rescore the top of a run with a model."""

from __future__ import annotations

from dataclasses import dataclass

from judging.engines.rerank import open_reranker
from judging.engines.search import ties
from judging.errors import UserError
from judging.formats import records
from judging.measures.ranking import rank_order
from judging.models import Collection, Query, Run
from judging.steps.progress import Track, quiet
from judging.steps.runs import Making, begin_run, complete, keep_hits


@dataclass
class RerankReport:
    run: Run
    unchanged: bool
    queries: int
    resumed_after: int


def rerank(
    *,
    collection: Collection,
    parent: Run,
    model: str,
    top: int = 100,
    name: str | None = None,
    dtype: str = "float32",
    replace: bool = False,
    track: Track = quiet,
) -> RerankReport:
    """Rescore the best ``top`` hits of each query of ``parent``; a run named as the model unless said otherwise.

    Each query is kept as soon as it is scored: an interrupted run goes on where it stopped.
    """
    if top < 1:
        raise UserError(f"--top: expected at least 1, found {top}.")
    hits = parent.hits.filter(rank__lte=top, document__in_corpus=True, query__in_corpus=True)
    queries = list(Query.objects.filter(pk__in=hits.values("query")).order_by("pk"))
    if not queries:
        raise UserError(f"The run {parent.name!r} has no hit with a text: there is nothing to rerank.")
    reranker = open_reranker(model, dtype=dtype)
    run = begin_run(
        collection=collection,
        name=name or _free_name(collection, reranker.name, parent),
        making=Making(Run.Kind.RERANKED, {**reranker.identity(), "top": top, "ties": ties.RULE}, parent),
        replace=replace,
    )
    if run.completed_at:
        return RerankReport(run, unchanged=True, queries=len(queries), resumed_after=len(queries))
    done = set(run.hits.values_list("query", flat=True).distinct())
    waiting = [query for query in queries if query.pk not in done]
    for query in track(waiting, len(waiting), f"queries reranked by {reranker.name}"):
        rows = list(
            hits.filter(query=query)
            .order_by("rank")
            .values_list("document", "document__docid", "document__title", "document__text")
        )
        documents = [records.Document(docid, title, text) for _, docid, title, text in rows]
        # One text under several ids would else be ordered by the last bits of its scores, which vary within a batch.
        scores = [ties.rounded(score) for score in reranker.score(records.Query(query.qid, query.text), documents)]
        order = rank_order([document.id for document in documents], scores)
        keep_hits(run, [(query.pk, [(rows[index][0], scores[index]) for index in order])])
    complete(run)
    return RerankReport(run, unchanged=False, queries=len(queries), resumed_after=len(done))


def _free_name(collection: Collection, model: str, parent: Run) -> str:
    """The model's published name; with the parent's behind it where another parent's run has taken that."""
    taken = collection.runs.filter(name=model).exclude(parent=parent).exists()
    return f"{model} < {parent.name}" if taken else model
