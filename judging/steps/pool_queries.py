"""A pool query by query: which are complete, begun, untouched."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Count, F, IntegerField, Min, Q, QuerySet, Value, When

from judging.models import LeaseState, Pool, Query

COMPLETE, BEGUN, UNTOUCHED = "complete", "begun", "untouched"
STATES = (COMPLETE, BEGUN, UNTOUCHED)


@dataclass(frozen=True, slots=True)
class StateCounts:
    complete: int
    begun: int
    untouched: int

    @property
    def together(self) -> int:
        return self.complete + self.begun + self.untouched


def queries_of(pool: Pool, state: str = "") -> QuerySet[Query]:
    """The pool's queries in its order, each with ``pair_count``, ``slot_count``, ``answer_count`` and ``held_count``.

    ``state`` picks the ``complete`` ones (all answers given), the ``begun`` (some given), or the ``untouched``.
    """
    answered = Count("pairs__assignments", filter=Q(pairs__assignments__state=LeaseState.DONE), distinct=True)
    held = Count("pairs__assignments", filter=Q(pairs__assignments__state=LeaseState.LEASED), distinct=True)
    queries = (
        Query.objects.filter(pairs__pool=pool, in_corpus=True, pairs__document__in_corpus=True)
        .annotate(
            place=Min("pairs__query_position"),
            pair_count=Count("pairs", distinct=True),
            slot_count=Count("pairs__assignments", distinct=True),
            answer_count=answered,
            held_count=held,
        )
        .order_by("place")
    )
    return queries.filter(_is(state)) if state in STATES else queries


def _is(state: str) -> Q:
    complete, untouched = Q(answer_count=F("slot_count")), Q(answer_count=0)
    return {COMPLETE: complete, UNTOUCHED: untouched & ~complete, BEGUN: ~complete & ~untouched}[state]


def state_counts(pool: Pool) -> StateCounts:
    def count(state: str) -> Count:
        return Count("pk", filter=Q(state=Value(STATES.index(state))))

    number = Case(
        *(When(_is(state), then=Value(index)) for index, state in enumerate(STATES)), output_field=IntegerField()
    )
    counted = queries_of(pool).order_by().annotate(state=number).aggregate(**{state: count(state) for state in STATES})
    return StateCounts(**counted)
