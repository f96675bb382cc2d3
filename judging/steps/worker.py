"""What a worker does: take up what was asked for, alone or with others, and leave it so that anybody can go on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime

from django.db import DatabaseError, transaction
from django.db.models import Q
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from judging.errors import UserError
from judging.models import PrefillJob
from judging.models.lease import is_held
from judging.models.prefill import worker_lease
from judging.steps.heartbeat import beating
from judging.steps.prefill import PrefillReport, judge_pool, llm_judge
from judging.steps.prefill_options import LlmOptions, Order
from judging.steps.prefill_tasks import tasks_of
from judging.steps.progress import Track, quiet

_log = logging.getLogger(__name__)

_QUEUED, _RUNNING = PrefillJob.State.QUEUED, PrefillJob.State.RUNNING


def take(*, passed_over: Mapping[int, datetime] | None = None) -> PrefillJob | None:
    """The next job to work at: the oldest that no worker is at, else one where a pair is free; None without any.

    A job whose workers gave no sign of life for the time of a lease has nobody. ``passed_over`` are jobs that failed
    here, by their key, with the time when they were asked for: asked for again, they are taken again.
    """
    failed_here = Q(pk__in=[])
    for pk, asked_at in (passed_over or {}).items():
        failed_here |= Q(pk=pk, asked_at=asked_at)
    wanted = PrefillJob.objects.wanted().exclude(failed_here).select_related("pool__collection", "judge")
    alive = Q(state=_RUNNING, heartbeat_at__gte=timezone.now() - worker_lease())
    for job in wanted.exclude(alive):
        # Of two workers that see it at once one takes it up; the other looks further, and may come back to help.
        if _enter(job, heartbeat_at=job.heartbeat_at):
            return job
    return next((job for job in wanted.filter(alive) if _has_room(job) and _enter(job)), None)


def _enter(job: PrefillJob, **unchanged: object) -> bool:
    still = PrefillJob.objects.wanted().filter(pk=job.pk, **unchanged)
    return bool(still.update(state=_RUNNING, heartbeat_at=timezone.now(), started_at=Coalesce("started_at", Now())))


def _has_room(job: PrefillJob) -> bool:
    if job.judge is None or (job.limit is not None and job.taken() >= job.limit):
        return False
    return tasks_of(job.pool, job.judge).available().exists()


def work_at(*, job: PrefillJob, track: Track = quiet) -> PrefillReport | None:
    """Judge what is left of a job that was taken up; None where it failed, which the job says.

    Interrupted, it gives the job back. What goes wrong for this worker alone, while others go on, is logged only.
    """
    with beating(lambda: _beat(job), every=worker_lease().total_seconds() / 4):
        try:
            report = _judge(job, track)
        except UserError as error:
            _fail(job, str(error))
            return None
        except DatabaseError:
            raise
        except Exception as error:  # noqa: BLE001 (whatever a model library raises, the lead shall read it)
            _log.exception("pre-fill job %s", job.pk)
            _fail(job, f"{type(error).__name__}: {error}")
            return None
        except BaseException:
            _leave(job, finished=False)
            raise
    _leave(job, finished=True)
    return report


def _judge(job: PrefillJob, track: Track) -> PrefillReport:
    llm = LlmOptions.from_json(job.options).start(job.pool.collection.scale)
    judge = llm_judge(llm)
    PrefillJob.objects.filter(pk=job.pk).update(judge=judge)
    # As it was asked last: somebody may have changed the order since the job was taken up.
    job.refresh_from_db()
    return judge_pool(llm=llm, pool=job.pool, order=Order(job.first, job.uncertain_judge), job=job, track=track)


def _beat(job: PrefillJob) -> None:
    PrefillJob.objects.filter(pk=job.pk, state=_RUNNING).update(heartbeat_at=timezone.now())


@transaction.atomic
def _leave(job: PrefillJob, *, finished: bool) -> None:
    """What becomes of a job when a worker goes: others go on, it waits for the next one, or it is done."""
    now = PrefillJob.objects.select_for_update().filter(pk=job.pk).first()
    if now is None or now.state != _RUNNING or _others_are_at(now):
        return
    reached = now.limit is not None and now.taken() >= now.limit
    if finished and (reached or not _has_room(now)):
        now.state, now.finished_at = PrefillJob.State.DONE, timezone.now()
    else:
        now.state = _QUEUED
    now.heartbeat_at = None
    now.save(update_fields=["state", "finished_at", "heartbeat_at"])


@transaction.atomic
def _fail(job: PrefillJob, reason: str) -> None:
    now = PrefillJob.objects.select_for_update().filter(pk=job.pk).first()
    if now is None or now.state != _RUNNING:
        return
    if _others_are_at(now):
        _log.warning("pre-fill job %s goes on without this worker: %s", job.pk, reason)
        return
    now.state, now.error = PrefillJob.State.FAILED, reason
    now.finished_at, now.heartbeat_at = timezone.now(), None
    now.save(update_fields=["state", "error", "finished_at", "heartbeat_at"])


def _others_are_at(job: PrefillJob) -> bool:
    """Whether another worker has pairs of it in hand, for this one has given back its own."""
    return job.judge is not None and tasks_of(job.pool, job.judge).filter(is_held()).exists()
