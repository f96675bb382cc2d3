"""How far a pool is, and opening, pausing and closing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Avg, Count, Max, Q
from django.utils import timezone

from judging.errors import UserError
from judging.models import Judge, LeaseState, Pool
from judging.models.judgment import JudgmentQuerySet
from judging.models.lease import is_held
from judging.steps.agree import judgments_of
from judging.steps.slots import servable

# What the pace is measured over.
RECENT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """``held_until``: when the last of what is in hand comes free.

    ``recent``: answers in the last hour; none of a person without an account, whose labels were imported.
    """

    judge: Judge
    answered: int
    in_hand: int
    held_until: datetime | None
    recent: int
    seconds: float | None
    latest: datetime | None

    @property
    def name(self) -> str:
        return self.judge.name


@dataclass(frozen=True, slots=True)
class LlmProgress:
    judge: Judge
    outcomes: dict[str, int]
    pairs: int

    @property
    def judged(self) -> int:
        return sum(self.outcomes.values())

    @property
    def waiting(self) -> int:
        return max(0, self.pairs - self.judged)


@dataclass(frozen=True, slots=True)
class PoolProgress:
    """``slots`` = pairs × people. ``complete`` pairs have all the answers that are wanted.

    ``gone`` pairs are not served any more, for their document or query left the collection; nothing else counts them.
    """

    pairs: int
    complete: int
    slots: int
    answered: int
    in_hand: int
    queries: int
    queries_complete: int
    annotators: Sequence[AnnotatorProgress]
    llms: Sequence[LlmProgress]
    gone: int = 0

    @property
    def percent(self) -> int:
        return 100 * self.answered // self.slots if self.slots else 100

    @property
    def left(self) -> int:
        return self.slots - self.answered


# Of a pair: both can still be read.
_SERVED = Q(document__in_corpus=True, query__in_corpus=True)


def pool_progress(pool: Pool) -> PoolProgress:
    assignments = servable(pool)
    done = Q(state=LeaseState.DONE)
    held = is_held()
    counts = assignments.aggregate(
        slots=Count("pk"), answered=Count("pk", filter=done), in_hand=Count("pk", filter=held)
    )
    all_pairs = pool.pairs.aggregate(
        pairs=Count("pk", filter=_SERVED),
        gone=Count("pk", filter=~_SERVED),
        queries=Count("query", filter=_SERVED, distinct=True),
    )
    waiting = assignments.exclude(done).aggregate(
        pairs=Count("pair", distinct=True), queries=Count("pair__query", distinct=True)
    )
    pairs, queries = all_pairs["pairs"], all_pairs["queries"]
    return PoolProgress(
        pairs=pairs,
        complete=pairs - waiting["pairs"],
        queries=queries,
        queries_complete=queries - waiting["queries"],
        annotators=_annotators(pool, done, held),
        llms=_llms(pool, pairs),
        gone=all_pairs["gone"],
        **counts,
    )


def _annotators(pool: Pool, done: Q, held: Q) -> list[AnnotatorProgress]:
    """Who has slots of the pool, or is on its list without any yet."""
    judgments = judgments_of(pool).by_people().order_by()
    seconds = dict(judgments.values("judge").annotate(mean=Avg("seconds")).values_list("judge", "mean"))
    recent = Q(done, answered_at__gte=timezone.now() - RECENT, annotator__user__isnull=False)
    rows = {
        row["annotator"]: row
        for row in servable(pool)
        .filter(annotator__isnull=False)
        .values("annotator")
        .annotate(
            answered=Count("pk", filter=done),
            in_hand=Count("pk", filter=held),
            held_until=Max("leased_until", filter=held),
            recent=Count("pk", filter=recent),
            latest=Max("answered_at"),
        )
        .order_by()
    }
    judges = Judge.objects.filter(Q(pk__in=list(rows)) | Q(pools=pool)).distinct().order_by("name", "pk")
    found = [_annotator(judge, rows.get(judge.pk), seconds.get(judge.pk)) for judge in judges]
    return sorted(found, key=lambda one: -one.answered)


def _annotator(judge: Judge, row: Mapping[str, Any] | None, seconds: float | None) -> AnnotatorProgress:
    if row is None:
        return AnnotatorProgress(judge, 0, 0, None, 0, seconds, None)
    return AnnotatorProgress(
        judge, row["answered"], row["in_hand"], row["held_until"], row["recent"], seconds, row["latest"]
    )


def _llms(pool: Pool, pairs: int) -> list[LlmProgress]:
    rows = (
        judgments_of(pool)
        .filter(judge__kind=Judge.Kind.LLM, document__in_corpus=True, query__in_corpus=True)
        .order_by("judge", "outcome")
        .values("judge", "outcome")
        .annotate(count=Count("pk"))
    )
    outcomes: dict[int, dict[str, int]] = {}
    for row in rows:
        outcomes.setdefault(row["judge"], {})[row["outcome"]] = row["count"]
    judges = Judge.objects.in_bulk(outcomes)
    return [LlmProgress(judges[pk], counted, pairs) for pk, counted in outcomes.items()]


def set_status(*, pool: Pool, status: str) -> None:
    if status not in Pool.Status.values:
        raise UserError(f"A pool is {', '.join(Pool.Status.values)}; found {status!r}.")
    pool.status = status
    pool.save(update_fields=["status"])


def judged_by(
    *, pool: Pool, annotator: Judge, grade: int | None = None, ungraded: bool = False, commented: bool = False
) -> JudgmentQuerySet:
    """A person's own answers in a pool, newest first; of one grade, without any, or with a comment alone."""
    mine = judgments_of(pool).filter(judge=annotator).select_related("query", "document").order_by("-updated_at", "-pk")
    if grade is not None:
        mine = mine.filter(grade=grade)
    if ungraded:
        mine = mine.filter(grade=None)
    return mine.exclude(comment="") if commented else mine
