"""What every step that makes a run shares: begin it, keep its hits, complete it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from judging.errors import UserError
from judging.models import Collection, Hit, Run
from judging.models.bulk import insert_rows

# A query's primary key, with (document's primary key, score) in the order of the ranking.
Ranked = tuple[int, Sequence[tuple[int, float]]]


@transaction.atomic
def begin_run(
    *,
    collection: Collection,
    name: str,
    kind: Run.Kind,
    identity: Mapping[str, Any],
    parent: Run | None = None,
    replace: bool = False,
) -> Run:
    """The run to fill: a new one, or one of the same making that was interrupted or is complete already.

    Raises: UserError when a run of that name was made otherwise, or when ``replace`` would pull a run from under a
    pool or a reranked run.
    """
    run = collection.runs.select_for_update().filter(name=name).first()
    if run and replace:
        _refuse_if_used(run)
        run.delete()
        run = None
    if run is None:
        return Run.objects.create(
            collection=collection,
            name=name,
            kind=kind,
            identity=identity,
            parent=parent,
            corpus_digest=collection.corpus_digest,
        )
    differing = _differences(run, kind, identity, parent)
    if differing:
        raise UserError(
            f"{collection.slug} has a run {name!r} of another making ({', '.join(differing)}). "
            "Give --replace to make it anew, or --name to keep both."
        )
    return run


def _differences(run: Run, kind: Run.Kind, identity: Mapping[str, Any], parent: Run | None) -> list[str]:
    old, new = run.identity, dict(identity)
    differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    if run.kind != kind:
        differing.append("kind")
    if run.parent_id != (parent.pk if parent else None):
        differing.append("parent run")
    if run.corpus_digest != run.collection.corpus_digest:
        differing.append("corpus")
    return differing


def _refuse_if_used(run: Run) -> None:
    users = [
        *(f"the pool {slug}" for slug in run.pools.values_list("slug", flat=True)),
        *(f"the run {name}" for name in run.reranked.values_list("name", flat=True)),
    ]
    if users:
        raise UserError(f"The run {run.name!r} is used by {', '.join(users)}: give the new one another --name.")


def keep_hits(run: Run, rankings: Iterable[Ranked]) -> int:
    """Store rankings; ranks are given in their order, from 1. All or nothing."""
    return insert_rows(
        Hit,
        ("run_id", "query_id", "document_id", "rank", "score"),
        (
            (run.pk, query, document, rank, score)
            for query, hits in rankings
            for rank, (document, score) in enumerate(hits, 1)
        ),
    )


def complete(run: Run) -> None:
    run.completed_at = timezone.now()
    run.save(update_fields=["completed_at"])
