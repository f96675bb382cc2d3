"""Where a person stands in a pool: how far, what came before, and why there may be nothing for them now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from judging.models import Assignment, Judge, Judgment, LeaseState, Pair, Pool, TrainingAnswer, TrainingPair
from judging.models.compiled import Compiled
from judging.models.lease import is_held
from judging.steps import probes
from judging.steps.slots import servable
from judging.steps.texts import has_judged_text


def previous_pair(*, pool: Pool, annotator: Judge, before: datetime | None = None) -> Assignment | None:
    """The slot that this person answered last, or last before that time, with its pair."""
    if before is None:
        return _latest.first(pool=pool.pk, annotator=annotator.pk)
    return _answered(pool.pk, annotator.pk).filter(answered_at__lt=before).first()


def _answered(pool: int, annotator: int) -> QuerySet[Assignment]:
    """The slots that this person answered, the latest first."""
    answered = Assignment.objects.filter(pair__pool=pool, annotator=annotator, state=LeaseState.DONE)
    return answered.order_by("-answered_at", "-pk").select_related("pair")


_latest = Compiled(lambda pool, annotator: _answered(pool, annotator)[:1])


def answered_at(*, pair: Pair, annotator: Judge) -> datetime | None:
    """When the person answered the pair; None where they have not."""
    done = Assignment.objects.filter(pair=pair, annotator=annotator, state=LeaseState.DONE)
    return done.values_list("answered_at", flat=True).first()


@dataclass(frozen=True, slots=True)
class Progress:
    """Of one person in one pool, in answers.

    ``open``           what they could still be asked, taken by others or not, with what they will be asked again
    ``held_by_others`` pairs of which others hold all that is open; counted for somebody with nothing in hand, for
                       nobody else waits for it
    ``copies``         pairs left to others, for the person has judged the same text for that query; counted likewise
    ``beyond``         what is open beyond the pairs in hand
    """

    answered: int
    open: int
    held_by_others: int = 0
    free_again_at: datetime | None = None
    copies: int = 0
    beyond: int = 0

    @property
    def total(self) -> int:
        return self.answered + self.open

    @property
    def percent(self) -> int:
        return 100 * self.answered // self.total if self.total else 100

    @property
    def free(self) -> int:
        """What they could be asked now."""
        return self.open - self.held_by_others


def progress(*, pool: Pool, annotator: Judge, beyond: int | None = None) -> Progress:
    """How far the person is.

    ``beyond`` is what was counted when they took what they have in hand. Given it, only their own pairs are counted, so
    that an answer costs the same in a pool of any size.
    """
    answered, in_hand = _own.first(pool=pool.pk, annotator=annotator.pk) or (0, 0)
    if in_hand and beyond is not None:
        still, copies = in_hand + beyond, 0
    else:
        still, copies = _open(pool, annotator)
    again = _asked_again(pool, annotator, answered, still)
    held, free_again_at = (0, None) if in_hand else _held_by_others(pool, annotator)
    return Progress(
        answered=answered + again.answered,
        open=still + again.drawn - again.answered,
        held_by_others=held,
        free_again_at=free_again_at,
        copies=0 if in_hand else copies,
        beyond=max(0, still - in_hand),
    )


def _open(pool: Pool, annotator: Judge) -> tuple[int, int]:
    """How many pairs the person could still be asked, and how many more are left to others as copies."""
    not_mine, copies = _not_mine_counts.first(pool=pool.pk, annotator=annotator.pk) or (0, 0)
    return not_mine - copies, copies


def _not_mine(pool: int, annotator: int) -> QuerySet[Pair]:
    """The pairs that want more answers, and none of this person yet."""
    wanted = Assignment.objects.filter(pair=OuterRef("pk")).exclude(state=LeaseState.DONE)
    mine = Assignment.objects.filter(annotator=annotator, state=LeaseState.DONE)
    pairs = Pair.objects.readable().filter(Exists(wanted), pool=pool)
    return pairs.exclude(pk__in=mine.values("pair"))


# Of all of them, and of those that are copies of what the person has judged. Texts are compared for the queries that
# they know, not for all of the pool.
_not_mine_counts = Compiled(
    lambda pool, annotator: (
        _not_mine(pool, annotator)
        .order_by()
        .values("pool")
        .annotate(
            pairs=Count("pk"),
            copies=Count(
                "pk",
                filter=Q(query__in=Judgment.objects.filter(judge=annotator).values("query"))
                & Q(has_judged_text(annotator)),
            ),
        )
        .values_list("pairs", "copies")
    )
)


# How many pairs a person has answered, and how many they have in hand; no row where there is neither.
_own = Compiled(
    lambda pool, annotator: (
        servable(pool)
        .filter(annotator=annotator)
        .order_by()
        .values("annotator")
        .annotate(
            answered=Count("pk", filter=Q(state=LeaseState.DONE)),
            in_hand=Count("pk", filter=Q(state=LeaseState.LEASED)),
        )
        .values_list("answered", "in_hand")
    )
)


@dataclass(frozen=True, slots=True)
class OpenPool:
    """An open pool as one person sees it. ``training`` pairs come before all others."""

    pool: Pool
    progress: Progress
    latest: datetime | None
    training: int


def open_pools(annotator: Judge) -> list[OpenPool]:
    """The pools in which this person may judge: first where they stopped, last where nothing is left."""
    pools = list(Pool.objects.open_to(annotator).filter(status=Pool.Status.OPEN).select_related("collection"))
    done = Assignment.objects.filter(pair__pool__in=pools, annotator=annotator, state=LeaseState.DONE)
    latest = dict(done.values_list("pair__pool").annotate(Max("answered_at")))
    answered = TrainingAnswer.objects.filter(pair=OuterRef("pk"), annotator=annotator)
    left = TrainingPair.objects.filter(~Exists(answered), pool__in=pools).order_by()
    training = dict(left.values_list("pool").annotate(Count("pk")))
    found = [
        OpenPool(pool, progress(pool=pool, annotator=annotator), latest.get(pool.pk), training.get(pool.pk, 0))
        for pool in pools
    ]
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(found, key=lambda one: (one.progress.free > 0, one.latest or never), reverse=True)


def _asked_again(pool: Pool, annotator: Judge, answered: int, still: int) -> probes.Asked:
    """What the person was and will be asked again.

    Those still to be drawn are counted from the start: a total that grew with an answer would tell which was drawn.
    """
    if not pool.probe_share:
        return probes.Asked(0, 0)
    asked = probes.asked(pool=pool, annotator=annotator)
    if not still:
        return asked
    seed = probes.seed_of(pool, annotator)
    expected = probes.expected(answered + still, share=pool.probe_share, seed=seed)
    return probes.Asked(max(asked.drawn, expected), asked.answered)


def _held_by_others(pool: Pool, annotator: Judge) -> tuple[int, datetime | None]:
    """How many pairs this person cannot have now for others hold all that is open of them; when one may come free."""
    slots = Assignment.objects.filter(pair=OuterRef("pair"))
    held = (
        servable(pool)
        .filter(is_held())
        .exclude(Exists(slots.filter(annotator=annotator)))
        .exclude(Exists(slots.available()))
        .exclude(has_judged_text(annotator, pair="pair__"))
        .aggregate(pairs=Count("pair", distinct=True), at=Min("leased_until"))
    )
    return held["pairs"], held["at"]


@dataclass(frozen=True, slots=True)
class QueryPair:
    """One dot of the query's row."""

    pair_id: int
    state: str


def query_pairs(*, pair: Pair, annotator: Judge) -> Sequence[QueryPair]:
    """The person's pairs of this query in rank order, each ``done``, ``current`` or ``open``."""
    mine = _own_of_query.all(pool=pair.pool_id, query=pair.query_id, annotator=annotator.pk)
    return [
        QueryPair(pk, "current" if pk == pair.pk else "done" if state == LeaseState.DONE else "open")
        for pk, state in mine
    ]


_own_of_query = Compiled(
    lambda pool, query, annotator: (
        Assignment.objects.filter(pair__pool=pool, pair__query=query, annotator=annotator)
        .order_by("pair__best_rank", "pair")
        .values_list("pair", "state")
    )
)
