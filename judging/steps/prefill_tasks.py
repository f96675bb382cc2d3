"""The pairs of a pool as tasks of an LLM: queued once, claimed by workers for a time, kept with what came of them."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from judging.engines.llm.base import Answer
from judging.models import Judge, Judgment, LeaseState, Outcome, Pool, PrefillJob, PrefillTask
from judging.models.bulk import insert_rows
from judging.models.lease import LeaseQuerySet
from judging.models.prefill import worker_lease
from judging.steps.judgments import Said, say

# After so many tries a pair is kept as failed, with the reason.
ATTEMPTS = 2


def tasks_of(pool: Pool, judge: Judge) -> LeaseQuerySet[PrefillTask]:
    return PrefillTask.objects.filter(judge=judge, pair__pool=pool)


@transaction.atomic
def queue(*, pool: Pool, judge: Judge, retry_failed: bool = False) -> int:
    """Make a task of each pair that has none for this judge; how many. Pairs that it judged elsewhere are done.

    Tasks of pairs whose query or document has left the corpus since they were queued are dropped.
    ``retry_failed`` frees the pairs that were kept as failed.
    """
    # Workers that start together make the tasks one after another, not twice.
    Judge.objects.select_for_update().get(pk=judge.pk)
    tasks = tasks_of(pool, judge)
    tasks.filter(state=LeaseState.FREE).exclude(pair__in=pool.pairs.readable()).delete()
    judged = set(Judgment.objects.of(pool.collection).filter(judge=judge).values_list("query", "document"))
    known = set(tasks.values_list("pair", flat=True))
    pairs = pool.pairs.readable().values_list("pk", "query", "document")
    count = insert_rows(
        PrefillTask,
        ("judge_id", "pair_id", "state"),
        (
            (judge.pk, pk, (LeaseState.DONE if (query, document) in judged else LeaseState.FREE).value)
            for pk, query, document in pairs
            if pk not in known
        ),
    )
    said = Judgment.objects.filter(judge=judge, query=OuterRef("pair__query"), document=OuterRef("pair__document"))
    failed = said.filter(outcome=Outcome.FAILED)
    tasks.filter(Exists(said) & ~Exists(failed), state=LeaseState.FREE).update(state=LeaseState.DONE)
    if retry_failed:
        tasks.filter(Exists(failed), state=LeaseState.DONE).update(state=LeaseState.FREE, attempts=0, job=None)
    return count


def claim(tasks: LeaseQuerySet[PrefillTask], *, wanted: int, worker: str, job: PrefillJob | None) -> list[int]:
    """Claim at most ``wanted`` tasks, the most urgent first.

    For a job none beyond its limit, however many workers share it, and none once it is stopped.
    """
    ordered = tasks.order_by(*PrefillTask.ORDER)
    if job is None:
        return ordered.claim(lease=worker_lease(), limit=wanted, worker=worker, job=None)
    with transaction.atomic():
        # Locked, so that two workers do not both see room for the last pair below the limit.
        now = PrefillJob.objects.select_for_update().filter(pk=job.pk).first()
        if now is None or not now.is_wanted:
            return []
        wanted = wanted if now.limit is None else min(wanted, now.limit - now.taken())
        return ordered.claim(lease=worker_lease(), limit=wanted, worker=worker, job=job) if wanted > 0 else []


def renew(worker: str) -> None:
    """Put off the end of the lease of all that a worker holds."""
    mine = PrefillTask.objects.filter(worker=worker, state=LeaseState.LEASED)
    mine.update(leased_until=timezone.now() + worker_lease())


@transaction.atomic
def keep(*, judge: Judge, mine: QuerySet[PrefillTask], task: PrefillTask, answer: Answer) -> bool:
    """Whether the answer was kept: the judgment and the end of its task, together.

    A failure is tried once more before it is kept. A task whose lease ran out meanwhile may be another worker's now; it
    will answer.
    """
    if answer.outcome == Outcome.FAILED and task.attempts + 1 < ATTEMPTS:
        mine.update(state=LeaseState.FREE, leased_until=None, attempts=F("attempts") + 1)
        return False
    if not mine.update(state=LeaseState.DONE, leased_until=None):
        return False
    say(
        judge=judge,
        query_id=task.pair.query_id,
        document_id=task.pair.document_id,
        said=Said(
            outcome=answer.outcome,
            grade=answer.grade,
            probabilities=_keys_as_text(answer.probabilities),
            raw=answer.raw,
            seconds=answer.seconds,
            truncated=answer.truncated,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
        ),
    )
    return True


def _keys_as_text(probabilities: Mapping[int, float] | None) -> dict[str, float] | None:
    """JSON keys are text."""
    return None if probabilities is None else {str(grade): value for grade, value in probabilities.items()}
