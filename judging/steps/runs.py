"""What every step that makes a run shares: begin it, keep its hits, complete it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from judging.errors import UserError
from judging.models import Collection, Hit, Run
from judging.models.bulk import insert_rows
from judging.steps import lookup

# A query's primary key, with (document's primary key, score) in the order of the ranking.
Ranked = tuple[int, Sequence[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Making:
    """All that decides what a run holds, beside the corpus. ``identity`` is JSON."""

    kind: Run.Kind
    identity: Mapping[str, Any]
    parent: Run | None = None


def made_before(*, collection: Collection, name: str, making: Making, replace: bool = False) -> Run | None:
    """The run of that name and making, complete or interrupted; None where it is to be made, anew with ``replace``.

    Raises: UserError when a run of that name was made otherwise, or when ``replace`` would pull a run from under a
    pool or a reranked run.
    """
    lookup.refuse_long_name(name)
    run = collection.runs.filter(name=name).first()
    if run is None:
        return None
    if replace:
        _refuse_if_used(run, making)
        return None
    differing = _differences(run, making)
    if differing:
        raise UserError(
            f"{collection.slug} has a run {name!r} of another making ({', '.join(differing)}). "
            "Give --replace to make it anew, or --name to keep both."
        )
    return run


@transaction.atomic
def begin_run(*, collection: Collection, name: str, making: Making, replace: bool = False) -> Run:
    """The run to fill: that which ``made_before`` finds, or else a new one in place of what has its name."""
    if run := made_before(collection=collection, name=name, making=making, replace=replace):
        return run
    collection.runs.filter(name=name).delete()
    return Run.objects.create(
        collection=collection,
        name=name,
        kind=making.kind,
        identity=making.identity,
        parent=making.parent,
        corpus_digest=collection.corpus_digest,
    )


def _differences(run: Run, making: Making) -> list[str]:
    old, new = run.identity, dict(making.identity)
    differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    if run.kind != making.kind:
        differing.append("kind")
    if run.parent_id != (making.parent.pk if making.parent else None):
        differing.append("parent run")
    if run.corpus_digest != run.collection.corpus_digest:
        differing.append("corpus")
    return differing


def _refuse_if_used(run: Run, making: Making) -> None:
    users = [
        *(["the run that is to take its place"] if run == making.parent else []),
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
