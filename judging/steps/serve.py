"""people annotate: hand out pairs, take answers, put off, leave.

A person gets one query at a time, its pairs in rank order. All free pairs of the query are leased to them together, so
that two people do not share a query's reading when one would do; what they leave comes free when the lease runs out.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.models import Assignment, Judge, Judgment, LeaseState, Outcome, Pair, Pool, Skip
from judging.models.compiled import Compiled, CompiledUpdate
from judging.models.lease import LeaseQuerySet
from judging.steps import probes
from judging.steps.judgments import Said, said_before, said_of, say
from judging.steps.slots import fill_elsewhere, servable
from judging.steps.texts import has_judged_text

# Leases are renewed by each page shown, but not more often: each renewal rewrites a row for every pair in hand.
_RENEW_AFTER = timedelta(seconds=30)

# A page that is closed may be one that is loaded again, or one of two.
_GRACE = timedelta(seconds=20)


class PoolNotOpenError(UserError):
    """The pool is paused or closed."""


class LeaseLostError(UserError):
    """The pair was handed to others meanwhile, and as many have answered as were wanted."""


def _lease() -> timedelta:
    return timedelta(minutes=settings.LEASE_MINUTES)


def next_pair(*, pool: Pool, annotator: Judge) -> Pair | None:
    """The pair to be judged next by this person, leased to them; None when there is none for them now.

    First what they have in hand, then queries that they began, then queries in the pool's order; what they put off
    comes last. A text that they judged for the query already, under whatever id and in whatever pool, never comes.
    """
    return in_hand(pool=pool, annotator=annotator) or take_query(pool=pool, annotator=annotator)


def in_hand(*, pool: Pool, annotator: Judge) -> Pair | None:
    """The first of the pairs that are leased to the person."""
    require_open(pool)
    first = _first_held.first(pool=pool.pk, annotator=annotator.pk)
    if first is None:
        return None
    if first.is_known:
        # Only copies are left of what they judged since, in this pool or another: these are for others.
        release(pool=pool, annotator=annotator)
        return None
    if first.leased_until is None or first.leased_until < timezone.now() + _lease() - _RENEW_AFTER:
        renew(pool=pool, annotator=annotator)
    first.pair.query.collection = pool.collection
    return first.pair


_first_held = Compiled(
    lambda pool, annotator: (
        servable(pool)
        .filter(annotator=annotator, state=LeaseState.LEASED)
        .annotate(is_known=has_judged_text(annotator, pair="pair__"))
        .order_by("is_known", "pair__query_position", "pair__best_rank", "pair")
        .select_related("pair__query", "pair__document")[:1]
    )
)


def take_query(*, pool: Pool, annotator: Judge) -> Pair | None:
    """Lease the open pairs of the next query to a person who has nothing in hand; the first of them."""
    require_open(pool)
    of = {"pool": pool.pk, "annotator": annotator.pk}
    # Somebody else may take the query between the look and the claim; then look again.
    for _attempt in range(5):
        first = _next_query.first(**of, now=timezone.now())
        if first is None:
            return None
        query, put_off = first
        one_of_each_text: dict[bytes, int] = {}
        for pk, digest, is_put_off in _slots_of_query.all(**of, query=query, now=timezone.now()):
            if is_put_off == put_off:
                one_of_each_text.setdefault(bytes(digest), pk)
        Assignment.objects.filter(pk__in=one_of_each_text.values()).claim(lease=_lease(), annotator=annotator)
        if (pair := in_hand(pool=pool, annotator=annotator)) is not None:
            return pair
    return None


def _with_order(pool: int, annotator: int, now: datetime) -> LeaseQuerySet[Any]:
    """The open slots of a pool, each with whether its pair was ``put_off`` and its query ``begun`` by the person."""
    # Each as one set, not as a question to every slot: that looks dear to PostgreSQL, and it compiles the query.
    mine = Assignment.objects.filter(annotator=annotator, pair__pool=pool)
    return _open_slots(pool, annotator, now).annotate(
        put_off=_is(pair__in=Skip.objects.filter(annotator=annotator).values("pair")),
        begun=_is(pair__query__in=mine.values("pair__query")),
    )


_next_query = Compiled(
    lambda pool, annotator, now: (
        _with_order(pool, annotator, now)
        .order_by("put_off", "-begun", "pair__query_position", "pair__best_rank", "pair")
        .values_list("pair__query", "put_off")[:1]
    ),
    now=datetime,
)
_slots_of_query = Compiled(
    lambda pool, annotator, query, now: (
        _with_order(pool, annotator, now)
        .filter(pair__query=query)
        .order_by("pair__best_rank", "pair", "slot")
        .values_list("pk", "pair__document__digest", "put_off")
    ),
    now=datetime,
)


def _is(**condition: Any) -> ExpressionWrapper[Q]:
    return ExpressionWrapper(Q(**condition), output_field=BooleanField())


def _open_slots(pool: int, annotator: int, now: datetime) -> LeaseQuerySet[Assignment]:
    mine = Assignment.objects.filter(annotator=annotator)
    return (
        servable(pool)
        .available(now)
        .exclude(Exists(mine.filter(pair=OuterRef("pair"))))
        .exclude(has_judged_text(annotator, pair="pair__"))
    )


def renew(*, pool: Pool, annotator: Judge) -> int:
    """What the person holds stays theirs; how many pairs that are."""
    return _held(pool, annotator).update(leased_until=timezone.now() + _lease())


def keep(*, pool: Pool, annotator: Judge, shown: int | None) -> None:
    """The heartbeat of an open page, which shows a pair not answered yet.

    Where the person holds nothing any more, for they left in another tab, they get the pair back if it is free.
    """
    if renew(pool=pool, annotator=annotator) or shown is None:
        return
    slots = _open_slots(pool.pk, annotator.pk, timezone.now()).filter(pair=shown).order_by("slot")
    slots.claim(lease=_lease(), limit=1, annotator=annotator)


def release(*, pool: Pool, annotator: Judge) -> int:
    """Give back what the person holds, so that others need not wait for the lease to run out."""
    return _held(pool, annotator).update(state=LeaseState.FREE, annotator=None, leased_until=None)


def release_soon(*, pool: Pool, annotator: Judge) -> int:
    """A page of the person was closed: what they hold comes free in a moment, unless another page renews it."""
    soon = timezone.now() + _GRACE
    return _held(pool, annotator).filter(leased_until__gt=soon).update(leased_until=soon)


def _held(pool: Pool, annotator: Judge) -> LeaseQuerySet[Assignment]:
    return Assignment.objects.filter(annotator=annotator, state=LeaseState.LEASED, pair__pool=pool)


def answer(*, pair: Pair, annotator: Judge, said: Said) -> Judgment:
    """Store a person's answer and fill their slot. The same key again changes nothing and returns what was stored.

    What was answered after an LLM's label was shown is kept as assisted, and so is all that follows it.

    Raises: PoolNotOpenError, LeaseLostError, UserError for a grade outside the scale. Nothing is stored then.
    """
    before = said_of(judge=annotator, query_id=pair.query_id, document_id=pair.document_id)
    if before and said.key and before.events.filter(key=said.key).exists():
        return before
    require_open(pair.pool)
    require_grade(pair.pool, said)
    if before and (before.assisted or before.revealed_at):
        said = replace(said, assisted=True)
    try:
        return _store(pair, annotator, before, said)
    except IntegrityError:
        if not said.key or not (stored := said_before(said.key)):
            raise
    if (stored.judge_id, stored.query_id, stored.document_id) == (annotator.pk, pair.query_id, pair.document_id):
        # The same press arrived twice at the same moment; the other one stored it.
        return stored
    # A browser that restores a page puts an old form's key into a new form: that is another answer.
    return _store(pair, annotator, before, replace(said, key=None))


@transaction.atomic
def _store(pair: Pair, annotator: Judge, before: Judgment | None, said: Said) -> Judgment:
    is_first = _take_slot(pair, annotator, before)
    judgment = say(judge=annotator, query_id=pair.query_id, document_id=pair.document_id, said=said)
    if is_first:
        fill_elsewhere(pair=pair, annotator=annotator)
    if is_first and pair.pool.probe_share:
        probes.draw(pair=pair, annotator=annotator)
    return judgment


def _take_slot(pair: Pair, annotator: Judge, before: Judgment | None) -> bool:
    """Mark the person's slot of the pair as answered; whether it was not yet.

    A slot whose lease ran out is theirs until another takes it.
    """
    now = timezone.now()
    if _answer_held.run(pair=pair.pk, annotator=annotator.pk, now=now):
        return True
    if before or Assignment.objects.filter(pair=pair, annotator=annotator).exists():
        return False
    got = Assignment.objects.filter(pair=pair).order_by("slot").claim(lease=_lease(), limit=1, annotator=annotator)
    if not got:
        raise LeaseLostError(
            _("Others have judged this document meanwhile, as many as were wanted; your answer is not needed.")
        )
    Assignment.objects.filter(pk__in=got).update(**_answered(now))
    return True


def _answered(now: datetime) -> dict[str, Any]:
    return {"state": LeaseState.DONE, "leased_until": None, "answered_at": now}


_answer_held = CompiledUpdate(
    lambda pair, annotator, now: (
        Assignment.objects.filter(pair=pair, annotator=annotator, state=LeaseState.LEASED),
        _answered(now),
    ),
    now=datetime,
)


@transaction.atomic
def skip(*, pair: Pair, annotator: Judge) -> None:
    """Put a pair off: others may take it, and it comes again to this person when nothing else is left."""
    require_open(pair.pool)
    Assignment.objects.filter(pair=pair, annotator=annotator, state=LeaseState.LEASED).update(
        state=LeaseState.FREE, annotator=None, leased_until=None
    )
    Skip.objects.update_or_create(pair=pair, annotator=annotator, defaults={"at": timezone.now()})


def require_open(pool: Pool) -> None:
    if not pool.is_open:
        raise PoolNotOpenError(
            _("The pool “%(pool)s” is %(status)s: answers are not taken now.")
            % {"pool": pool.name, "status": pool.get_status_display()}
        )


def require_grade(pool: Pool, said: Said) -> None:
    scale = pool.collection.scale
    if said.outcome == Outcome.GRADED and said.grade not in scale:
        raise UserError(_("Expected one of the grades %(grades)s, found %(grade)s.") % {
            "grades": ", ".join(map(str, scale.values)), "grade": said.grade})  # fmt: skip
