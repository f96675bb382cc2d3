"""people annotate: hand out pairs, take answers, put off, go back.

A person gets one query at a time, its pairs in rank order. All free pairs of the query are leased to them together, so
that two people do not share a query's reading when one would do; what they leave comes free when the lease runs out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, Min, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.models import Assignment, Judge, Judgment, LeaseState, Outcome, Pair, Pool, Skip
from judging.models.lease import LeaseQuerySet
from judging.steps.judgments import Said, said_before, say


class PoolNotOpenError(UserError):
    """The pool is paused or closed."""


class LeaseLostError(UserError):
    """The pair was handed to others meanwhile, and as many have answered as were wanted."""


def _lease() -> timedelta:
    return timedelta(minutes=settings.LEASE_MINUTES)


def _assignments(pool: Pool) -> LeaseQuerySet[Assignment]:
    return Assignment.objects.filter(pair__pool=pool, pair__document__in_corpus=True, pair__query__in_corpus=True)


def next_pair(*, pool: Pool, annotator: Judge) -> Pair | None:
    """The pair to be judged next by this person, leased to them; None when there is none for them now.

    First what they have in hand, then queries that they began, then queries in the pool's order; what they put off
    comes last.
    """
    _require_open(pool)
    if (pair := _in_hand(pool, annotator)) is not None:
        return pair
    mine = Assignment.objects.filter(annotator=annotator)
    open_slots = (
        _assignments(pool)
        .available()
        .exclude(Exists(mine.filter(pair=OuterRef("pair"))))
        .annotate(
            put_off=Exists(Skip.objects.filter(pair=OuterRef("pair"), annotator=annotator)),
            begun=Exists(mine.filter(pair__pool=pool, pair__query=OuterRef("pair__query"))),
        )
    )
    # Somebody else may take the query between the look and the claim; then look again.
    for _attempt in range(5):
        first = open_slots.order_by("put_off", "-begun", "pair__query_position", "pair__best_rank", "pair").first()
        if first is None:
            return None
        slots = open_slots.filter(pair__query=first.pair.query_id, put_off=first.put_off)
        one_each = slots.values("pair").annotate(slot_pk=Min("pk")).values_list("slot_pk", flat=True)
        Assignment.objects.filter(pk__in=list(one_each)).claim(lease=_lease(), annotator=annotator)
        if (pair := _in_hand(pool, annotator)) is not None:
            return pair
    return None


def _in_hand(pool: Pool, annotator: Judge) -> Pair | None:
    held = _assignments(pool).filter(annotator=annotator, state=LeaseState.LEASED)
    first = (
        held.order_by("pair__query_position", "pair__best_rank", "pair")
        .select_related("pair__query", "pair__document")
        .first()
    )
    if first is None:
        return None
    renew(pool=pool, annotator=annotator)
    return first.pair


def renew(*, pool: Pool, annotator: Judge) -> int:
    """The heartbeat of an open page: what the person holds stays theirs; how many pairs that are."""
    held = Assignment.objects.filter(annotator=annotator, state=LeaseState.LEASED, pair__pool=pool)
    return held.update(leased_until=timezone.now() + _lease())


def release(*, pool: Pool, annotator: Judge) -> int:
    """Give back what the person holds, so that others need not wait for the lease to run out."""
    held = Assignment.objects.filter(annotator=annotator, state=LeaseState.LEASED, pair__pool=pool)
    return held.update(state=LeaseState.FREE, annotator=None, leased_until=None)


def answer(*, pair: Pair, annotator: Judge, said: Said) -> Judgment:
    """Store a person's answer and fill their slot. The same key again changes nothing and returns what was stored.

    Raises: PoolNotOpenError, LeaseLostError, UserError for a grade outside the scale. Nothing is stored then.
    """
    if said.key and (stored := said_before(said.key)):
        if (stored.judge_id, stored.query_id, stored.document_id) == (annotator.pk, pair.query_id, pair.document_id):
            return stored
        # A browser that restores a page puts an old form's key into a new form: that is another answer.
        said = replace(said, key=None)
    _require_open(pair.pool)
    scale = pair.pool.collection.scale
    if said.outcome == Outcome.GRADED and said.grade not in scale:
        raise UserError(_("Expected one of the grades %(grades)s, found %(grade)s.") % {
            "grades": ", ".join(map(str, scale.values)), "grade": said.grade})  # fmt: skip
    try:
        with transaction.atomic():
            _take_slot(pair, annotator)
            return say(judge=annotator, query_id=pair.query_id, document_id=pair.document_id, said=said)
    except IntegrityError:
        # The same press arrived twice at the same moment; the other one stored it.
        if said.key and (stored := said_before(said.key)):
            return stored
        raise


def _take_slot(pair: Pair, annotator: Judge) -> None:
    """Mark the person's slot of the pair as answered; a slot whose lease ran out is theirs until another takes it."""
    now = timezone.now()
    held = Assignment.objects.filter(pair=pair, annotator=annotator)
    if held.filter(state=LeaseState.LEASED).update(state=LeaseState.DONE, leased_until=None, answered_at=now):
        return
    said = Judgment.objects.filter(judge=annotator, query=pair.query_id, document=pair.document_id)
    if held.exists() or said.exists():
        return
    got = Assignment.objects.filter(pair=pair).order_by("slot").claim(lease=_lease(), limit=1, annotator=annotator)
    if not got:
        raise LeaseLostError(
            _("Others have judged this document meanwhile, as many as were wanted; your answer is not needed.")
        )
    Assignment.objects.filter(pk__in=got).update(state=LeaseState.DONE, leased_until=None, answered_at=now)


@transaction.atomic
def skip(*, pair: Pair, annotator: Judge) -> None:
    """Put a pair off: others may take it, and it comes again to this person when nothing else is left."""
    _require_open(pair.pool)
    Assignment.objects.filter(pair=pair, annotator=annotator, state=LeaseState.LEASED).update(
        state=LeaseState.FREE, annotator=None, leased_until=None
    )
    Skip.objects.update_or_create(pair=pair, annotator=annotator, defaults={"at": timezone.now()})


def previous_pair(*, pool: Pool, annotator: Judge, before: Pair | None) -> Pair | None:
    """The pair that this person answered just before this one, in the order in which they answered.

    Seen from a pair not answered yet, or from none, that is the one they answered last.
    """
    answered = Assignment.objects.filter(pair__pool=pool, annotator=annotator, state=LeaseState.DONE)
    if before is not None:
        current = answered.filter(pair=before).values_list("answered_at", "pk").first()
        if current is not None:
            answered = answered.filter(answered_at__lt=current[0])
    last = answered.order_by("-answered_at", "-pk").select_related("pair__query", "pair__document").first()
    return last.pair if last else None


@dataclass(frozen=True, slots=True)
class Progress:
    """Of one person in one pool. ``open`` counts the pairs that they could still judge, taken or not."""

    answered: int
    open: int
    held_by_others: int
    free_again_at: datetime | None

    @property
    def total(self) -> int:
        return self.answered + self.open

    @property
    def percent(self) -> int:
        return 100 * self.answered // self.total if self.total else 100


def progress(*, pool: Pool, annotator: Judge) -> Progress:
    assignments = _assignments(pool)
    mine = Assignment.objects.filter(annotator=annotator, pair=OuterRef("pair"))
    answered = assignments.filter(annotator=annotator, state=LeaseState.DONE).count()
    in_hand = assignments.filter(annotator=annotator, state=LeaseState.LEASED).count()
    others = assignments.exclude(state=LeaseState.DONE).exclude(Exists(mine))
    free = others.available().values("pair").distinct().count()
    held = others.filter(state=LeaseState.LEASED, leased_until__gte=timezone.now()).exclude(
        pair__in=others.available().values("pair")
    )
    held_pairs = held.values("pair").distinct().count()
    free_again_at = held.aggregate(at=Min("leased_until"))["at"]
    return Progress(answered, in_hand + free + held_pairs, held_pairs, free_again_at)


@dataclass(frozen=True, slots=True)
class QueryPair:
    """One dot of the query's row."""

    pair_id: int
    state: str


def query_pairs(*, pair: Pair, annotator: Judge) -> Sequence[QueryPair]:
    """The person's pairs of this query in rank order, each ``done``, ``current`` or ``open``."""
    mine = Assignment.objects.filter(pair__pool=pair.pool_id, pair__query=pair.query_id, annotator=annotator).order_by(
        "pair__best_rank", "pair"
    )
    return [
        QueryPair(pk, "current" if pk == pair.pk else "done" if state == LeaseState.DONE else "open")
        for pk, state in mine.values_list("pair", "state")
    ]


def _require_open(pool: Pool) -> None:
    if not pool.is_open:
        raise PoolNotOpenError(
            _("The pool “%(pool)s” is %(status)s: answers are not taken now.")
            % {"pool": pool.name, "status": pool.get_status_display()}
        )
