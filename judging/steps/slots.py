"""Slots that existing judgments of people fill: nobody is asked what they have said already."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from judging.models import Assignment, Collection, Judge, Judgment, LeaseState, Pair, Pool
from judging.models.compiled import Compiled
from judging.models.lease import LeaseQuerySet


def servable(pool: Pool | int) -> LeaseQuerySet[Assignment]:
    """The slots of a pool whose query and document can be read."""
    return Assignment.objects.filter(pair__pool=pool, pair__document__in_corpus=True, pair__query__in_corpus=True)


@transaction.atomic
def fill_slots(collection: Collection) -> int:
    """Give free slots of the collection's pools to the people who judged their pairs elsewhere; how many.

    Elsewhere is another pool or an import. People beyond the wanted overlap keep their judgment and need no slot.
    """
    pooled = Pair.objects.filter(pool__collection=collection, query=OuterRef("query"), document=OuterRef("document"))
    # Of a million imported labels only those that some pool asks for are of any use here.
    judgments = Judgment.objects.of(collection).by_people().filter(Exists(pooled)).order_by("pk")
    said: defaultdict[tuple[int, int], list[tuple[int, datetime]]] = defaultdict(list)
    for query, document, judge, at in judgments.values_list("query", "document", "judge", "updated_at"):
        said[query, document].append((judge, at))
    if not said:
        return 0
    free: defaultdict[int, list[int]] = defaultdict(list)
    taken: defaultdict[int, set[int]] = defaultdict(set)
    slots = Assignment.objects.filter(pair__pool__collection=collection).order_by("pair", "slot")
    for pk, pair, state, annotator in slots.values_list("pk", "pair", "state", "annotator"):
        if state == LeaseState.FREE:
            free[pair].append(pk)
        else:
            taken[pair].add(annotator)
    filled = 0
    pairs = Pair.objects.filter(pool__collection=collection).values_list("pk", "query", "document")
    for pair, query, document in pairs:
        for judge, at in said.get((query, document), ()):
            if judge in taken[pair] or not free[pair]:
                continue
            filled += Assignment.objects.filter(pk=free[pair].pop(0), state=LeaseState.FREE).update(
                state=LeaseState.DONE, annotator=judge, answered_at=at
            )
    return filled


def fill_elsewhere(*, pair: Pair, annotator: Judge) -> int:
    """Give a person who has just answered a pair a slot of it in every other pool that has it; in how many."""
    pairs = _pairs_of_all_pools.all(query=pair.query_id, document=pair.document_id)
    others = [pk for (pk,) in pairs if pk != pair.pk]
    if not others:
        return 0
    same = Assignment.objects.filter(pair__in=others)
    answered = same.filter(annotator=annotator, state=LeaseState.DONE)
    slots = _to_be_had(same, annotator).exclude(pair__in=answered.values("pair")).order_by("pair", "slot")
    rows = list(slots.values_list("pk", "pair", "annotator"))
    filled: set[int] = set()
    # What the person holds there comes before what is free.
    for pk, other, _holder in sorted(rows, key=lambda row: row[2] != annotator.pk):
        if other not in filled and _give(pk, annotator):
            filled.add(other)
    return len(filled)


_pairs_of_all_pools = Compiled(
    lambda query, document: Pair.objects.filter(query=query, document=document).order_by().values_list("pk")
)


def _to_be_had(slots: LeaseQuerySet[Assignment], annotator: Judge) -> LeaseQuerySet[Assignment]:
    return slots.available() | slots.filter(annotator=annotator, state=LeaseState.LEASED)


def _give(slot: int, annotator: Judge) -> bool:
    """Whether the slot could be had; in another tab the person may have got one of the pair at this moment."""
    done = {"state": LeaseState.DONE, "annotator": annotator, "leased_until": None, "answered_at": timezone.now()}
    try:
        with transaction.atomic():
            return bool(_to_be_had(Assignment.objects.filter(pk=slot), annotator).update(**done))
    except IntegrityError:
        return False


def forget_person(judge: Judge, collection: Collection) -> None:
    """Free the slots that a person's judgments filled, before these are replaced by an import."""
    Assignment.objects.filter(annotator=judge, pair__pool__collection=collection).update(
        state=LeaseState.FREE, annotator=None, leased_until=None, answered_at=None
    )
