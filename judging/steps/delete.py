"""Deleting a pool or a collection with all that hangs on it, also where that is millions of rows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import models, router, transaction

from judging.models import (
    Collection,
    Document,
    Hit,
    Invitation,
    Judge,
    Judgment,
    Pair,
    Pool,
    PrefillTask,
    Query,
    Run,
)
from judging.steps.agree import judgments_of

# What would go or stay, by what it is called.
Counts = dict[str, int]


def pool_contents(pool: Pool) -> tuple[Counts, Counts]:
    """What goes with a pool, and what stays: judgments are of queries and documents, not of a pool."""
    said = judgments_of(pool)
    goes = {
        "pairs": pool.pairs.count(),
        "pre-fill tasks": PrefillTask.objects.filter(pair__pool=pool).count(),
        "invitations": Invitation.objects.filter(pool=pool).count(),
    }
    stays = {
        "judgments of people": said.by_people().count(),
        "judgments of LLMs": said.filter(judge__kind=Judge.Kind.LLM).count(),
        "adjudications": said.filter(judge__kind=Judge.Kind.ADJUDICATION).count(),
    }
    return goes, stays


def collection_contents(collection: Collection) -> Counts:
    said = Judgment.objects.of(collection)
    return {
        "documents": Document.objects.filter(collection=collection).count(),
        "queries": Query.objects.filter(collection=collection).count(),
        "runs": Run.objects.filter(collection=collection).count(),
        "hits": Hit.objects.filter(run__collection=collection).count(),
        "pools": Pool.objects.filter(collection=collection).count(),
        "pairs": Pair.objects.filter(pool__collection=collection).count(),
        "original judgments": said.filter(judge__kind=Judge.Kind.QRELS).count(),
        "judgments of people": said.by_people().count(),
        "judgments of LLMs": said.filter(judge__kind=Judge.Kind.LLM).count(),
        "adjudications": said.filter(judge__kind=Judge.Kind.ADJUDICATION).count(),
    }


@transaction.atomic
def delete_pool(*, pool: Pool) -> None:
    """Delete a pool with its pairs, slots and invitations. What anybody said of the pairs is kept."""
    _delete(Pool.objects.filter(pk=pool.pk))


def delete_collection(*, collection: Collection) -> None:
    """Delete a collection with its corpus, runs, pools and every judgment of them, and its embedded search index.

    People and LLM judges stay: they may judge elsewhere.
    """
    folder = settings.INDEX_DIR / collection.slug
    with transaction.atomic():
        _delete(Collection.objects.filter(pk=collection.pk))
    shutil.rmtree(folder, ignore_errors=True)


def _delete(rows: models.QuerySet[Any]) -> None:
    """Delete rows and whatever depends on them, the last in line first, each table in one statement.

    Django's own ``delete`` reads every row that has dependants into memory first.
    """
    for relation in _dependants(rows.model):
        column = relation.field.name
        dependants = relation.related_model._base_manager.filter(**{f"{column}__in": rows.order_by().values("pk")})
        if relation.on_delete is models.SET_NULL:
            dependants.update(**{column: None})
        else:
            _delete(dependants)
    rows.order_by()._raw_delete(using=router.db_for_write(rows.model))


def _dependants(model: type[models.Model]) -> Iterator[models.ManyToOneRel]:
    """Keys to this table, those of many-to-many tables included.

    Not a table's keys to itself: runs point at runs of the same collection only, and all of them go at once.
    """
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, models.ManyToOneRel) and relation.related_model is not model:
            yield relation
