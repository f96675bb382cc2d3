"""How far a pool is, and opening, pausing and closing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Avg, Count, Max, Q
from django.utils import timezone

from judging.errors import UserError
from judging.models import Assignment, Judge, LeaseState, Pool
from judging.models.judgment import JudgmentQuerySet
from judging.steps.agree import judgments_of


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    name: str
    answered: int
    in_hand: int
    seconds: float | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class LlmProgress:
    judge: Judge
    outcomes: dict[str, int]
    pairs: int

    @property
    def judged(self) -> int:
        return sum(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class PoolProgress:
    """``slots`` = pairs × people. ``complete`` pairs have all the answers that are wanted."""

    pairs: int
    complete: int
    slots: int
    answered: int
    in_hand: int
    queries: int
    queries_complete: int
    annotators: Sequence[AnnotatorProgress]
    llms: Sequence[LlmProgress]

    @property
    def percent(self) -> int:
        return 100 * self.answered // self.slots if self.slots else 100


def pool_progress(pool: Pool) -> PoolProgress:
    assignments = Assignment.objects.filter(pair__pool=pool)
    done = Q(state=LeaseState.DONE)
    held = Q(state=LeaseState.LEASED, leased_until__gte=timezone.now())
    counts = assignments.aggregate(
        slots=Count("pk"), answered=Count("pk", filter=done), in_hand=Count("pk", filter=held)
    )
    pairs = pool.pairs.count()
    waiting = assignments.exclude(done)
    queries = pool.pairs.aggregate(count=Count("query", distinct=True))["count"]
    queries_waiting = waiting.aggregate(count=Count("pair__query", distinct=True))["count"]
    return PoolProgress(
        pairs=pairs,
        complete=pairs - waiting.aggregate(count=Count("pair", distinct=True))["count"],
        queries=queries,
        queries_complete=queries - queries_waiting,
        annotators=_annotators(pool, done, held),
        llms=_llms(pool, pairs),
        **counts,
    )


def _annotators(pool: Pool, done: Q, held: Q) -> list[AnnotatorProgress]:
    judgments = judgments_of(pool).by_people().order_by()
    seconds = dict(judgments.values("judge").annotate(mean=Avg("seconds")).values_list("judge", "mean"))
    rows = (
        Assignment.objects.filter(pair__pool=pool, annotator__isnull=False)
        .values("annotator", "annotator__name")
        .annotate(answered=Count("pk", filter=done), in_hand=Count("pk", filter=held), latest=Max("answered_at"))
        .order_by("-answered", "annotator__name")
    )
    return [
        AnnotatorProgress(
            row["annotator__name"], row["answered"], row["in_hand"], seconds.get(row["annotator"]), row["latest"]
        )
        for row in rows
    ]


def _llms(pool: Pool, pairs: int) -> list[LlmProgress]:
    rows = (
        judgments_of(pool)
        .filter(judge__kind=Judge.Kind.LLM)
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


def judged_by(*, pool: Pool, annotator: Judge, grade: int | None = None, commented: bool = False) -> JudgmentQuerySet:
    """A person's own answers in a pool, newest first."""
    mine = judgments_of(pool).filter(judge=annotator).select_related("query", "document").order_by("-updated_at", "-pk")
    if grade is not None:
        mine = mine.filter(grade=grade)
    return mine.exclude(comment="") if commented else mine
