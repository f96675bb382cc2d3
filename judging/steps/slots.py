"""Slots that existing judgments of people fill: nobody is asked what they have said already."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from django.db import transaction

from judging.models import Assignment, Collection, Judge, Judgment, LeaseState, Pair


@transaction.atomic
def fill_slots(collection: Collection) -> int:
    """Give free slots of the collection's pools to the people who judged their pairs elsewhere; how many.

    Elsewhere is another pool or an import. People beyond the wanted overlap keep their judgment and need no slot.
    """
    judgments = Judgment.objects.of(collection).by_people().order_by("pk")
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


def forget_person(judge: Judge, collection: Collection) -> None:
    """Free the slots that a person's judgments filled, before these are replaced by an import."""
    Assignment.objects.filter(annotator=judge, pair__pool__collection=collection).update(
        state=LeaseState.FREE, annotator=None, leased_until=None, answered_at=None
    )
