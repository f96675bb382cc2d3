"""LLMs that were asked, mostly on a page, to judge a pool: asking, stopping, trying again, and how far each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from judging.errors import UserError
from judging.models import First, LeaseState, Outcome, Pool, PrefillJob, PrefillTask
from judging.models.lease import is_held
from judging.steps import prompts
from judging.steps.agree import judgments_of
from judging.steps.examples import refuse_known_pairs
from judging.steps.prefill_options import LlmOptions, Order
from judging.steps.prefill_tasks import queue, tasks_of
from judging.steps.urgency import arrange, who_is_uncertain

# What the rate is measured over.
RECENT = timedelta(minutes=5)


def ask(
    *, pool: Pool, llm: LlmOptions, order: Order | None = None, limit: int | None = None, by: User | None = None
) -> PrefillJob:
    """Queue a pool for an LLM. Asked again it is the same job: with the new order and limit, and once more in the queue
    where it had ended. The prompt is given by its name.

    Raises: UserError for what can be told to be wrong before a worker looks at the model.
    """
    order = order or Order()
    if limit is not None and limit < 1:
        raise UserError(f"Expected a limit of at least 1, found {limit}.")
    llm = replace(llm, model=llm.model.strip(), revision=(llm.revision or "").strip() or None)
    _check(pool, llm, order)
    with transaction.atomic():
        job, is_new = PrefillJob.objects.get_or_create(
            pool=pool, key=llm.key(), defaults={"options": llm.as_json(), "asked_by": by}
        )
        if not is_new:
            job = PrefillJob.objects.select_for_update().get(pk=job.pk)
        job.options, job.asked_by = llm.as_json(), by
        job.first, job.uncertain_judge, job.limit = order.first, order.uncertain_judge, limit
        if is_new or not job.is_wanted:
            _begin(job)
        elif job.judge is not None:
            arrange(pool=pool, judge=job.judge, first=order.first, uncertain_judge=order.uncertain_judge)
        job.save()
    return job


def _check(pool: Pool, llm: LlmOptions, order: Order) -> None:
    prompt = prompts.named(llm.prompt).prompt
    llm.open(pool.collection.scale)
    refuse_known_pairs(prompt=prompt, pool=pool)
    if order.first not in First.values:
        raise UserError(f"Expected as first one of {', '.join(First.values)}, found {order.first!r}.")
    if order.first == First.UNCERTAIN:
        before = PrefillJob.objects.filter(pool=pool, key=llm.key()).select_related("judge").first()
        who_is_uncertain(pool=pool, judge=before.judge if before else None, named=order.uncertain_judge)


def _begin(job: PrefillJob) -> None:
    """In the queue, with nothing counted towards its limit."""
    PrefillTask.objects.filter(job=job).update(job=None)
    job.state, job.error = PrefillJob.State.QUEUED, ""
    job.asked_at = timezone.now()
    job.started_at = job.heartbeat_at = job.finished_at = None


@transaction.atomic
def stop(*, job: PrefillJob) -> None:
    """Have workers leave a job after the batch that they have in hand. What was judged stays."""
    PrefillJob.objects.wanted().filter(pk=job.pk).update(
        state=PrefillJob.State.STOPPED, finished_at=timezone.now(), heartbeat_at=None
    )


@transaction.atomic
def go_on(*, job: PrefillJob, retry_failed: bool = False) -> int:
    """Put a job into the queue again, perhaps with the pairs that were kept as failed; how many of these.

    Raises: UserError where nothing failed that could be tried again.
    """
    job = PrefillJob.objects.select_for_update(of=("self",)).select_related("pool__collection", "judge").get(pk=job.pk)
    freed = 0
    if retry_failed:
        if job.judge is not None:
            before = _open_tasks(job)
            queue(pool=job.pool, judge=job.judge, retry_failed=True)
            freed = _open_tasks(job) - before
        if not freed:
            raise UserError("No pair of this LLM is kept as failed.")
    if not job.is_wanted:
        _begin(job)
        job.save()
    return freed


def _open_tasks(job: PrefillJob) -> int:
    return 0 if job.judge is None else tasks_of(job.pool, job.judge).exclude(state=LeaseState.DONE).count()


@dataclass(frozen=True, slots=True)
class JobProgress:
    """``judged`` of ``pairs`` by whatever worker; ``rate`` a minute in the last minutes, ``remaining`` in seconds.

    ``workers`` have pairs in hand now.
    """

    job: PrefillJob
    pairs: int
    judged: int
    failed: int
    workers: int
    rate: float | None
    remaining: float | None

    @property
    def is_waiting(self) -> bool:
        """Whether no worker is at it: none has come yet, or the last one has gone without a word."""
        return self.job.is_wanted and not (self.job.state == PrefillJob.State.RUNNING and self.job.is_alive)

    @property
    def percent(self) -> int:
        return 100 * self.judged // self.pairs if self.pairs else 0


def jobs_of(pool: Pool) -> Sequence[JobProgress]:
    """What was asked for of a pool, the latest first."""
    jobs = list(pool.prefill_jobs.select_related("judge", "asked_by").order_by("-asked_at", "-pk"))
    if not jobs:
        return []
    pairs = pool.pairs.readable().count()
    known = [job.judge_id for job in jobs if job.judge_id]
    tasks = _by_judge(
        PrefillTask.objects.filter(pair__pool=pool, judge__in=known),
        waiting=Count("pk", filter=~Q(state=LeaseState.DONE)),
        workers=Count("worker", distinct=True, filter=is_held()),
        counted=Count("pk", filter=Q(job__isnull=False, state=LeaseState.DONE)),
    )
    said = _by_judge(
        judgments_of(pool).filter(judge__in=known, document__in_corpus=True, query__in_corpus=True),
        judged=Count("pk"),
        failed=Count("pk", filter=Q(outcome=Outcome.FAILED)),
        recent=Count("pk", filter=Q(updated_at__gte=timezone.now() - RECENT)),
    )
    return [_progress(job, pairs, tasks.get(job.judge_id, {}), said.get(job.judge_id, {})) for job in jobs]


def _by_judge(rows: Any, **counts: Count) -> dict[int | None, Mapping[str, int]]:
    return {row["judge"]: row for row in rows.order_by("judge").values("judge").annotate(**counts)}


def _progress(job: PrefillJob, pairs: int, tasks: Mapping[str, int], said: Mapping[str, int]) -> JobProgress:
    waiting = tasks.get("waiting", pairs)
    if job.limit is not None:
        waiting = min(waiting, max(0, job.limit - tasks.get("counted", 0)))
    rate = _rate(job, said.get("recent", 0)) if job.state == PrefillJob.State.RUNNING else None
    return JobProgress(
        job=job,
        pairs=pairs,
        judged=said.get("judged", 0),
        failed=said.get("failed", 0),
        workers=tasks.get("workers", 0),
        rate=rate,
        remaining=60 * waiting / rate if rate else None,
    )


def _rate(job: PrefillJob, recent: int) -> float | None:
    if job.started_at is None or not recent:
        return None
    seconds = min(timezone.now() - job.started_at, RECENT).total_seconds()
    return 60 * recent / max(seconds, 1.0)
