"""What LLMs are to judge: work that was asked for, and each pair of it as a task of its own."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from judging.models.judge import Judge
from judging.models.lease import Leased, LeaseState, is_held
from judging.models.pool import Pair, Pool


class First(models.TextChoices):
    """Which pairs of a pool an LLM judges first."""

    QUERIES = "queries", _("whole queries, in the order in which people get them")
    JUDGED = "judged", _("pairs that people have judged")
    UNCERTAIN = "uncertain", _("pairs of which another LLM was least certain")
    RANK = "rank", _("the best ranked documents of all queries")


def worker_lease() -> timedelta:
    """How long what a worker has in hand stays its own without a sign of life."""
    return timedelta(seconds=settings.WORKER_LEASE_SECONDS)


class PrefillJobQuerySet(models.QuerySet["PrefillJob"]):
    def wanted(self) -> PrefillJobQuerySet:
        """What workers may take up, or help with."""
        return self.filter(state__in=(PrefillJob.State.QUEUED, PrefillJob.State.RUNNING))


class PrefillJob(models.Model):
    """An LLM that was asked to judge a pool, for workers to take up; any number of them may share it.

    ``key`` is the hash of what makes the judge, so that asking twice is asking once. ``judge`` is who that is, known
    when a worker has looked at the model. A worker at work renews ``heartbeat_at``.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting for a worker")
        RUNNING = "running", _("at work")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        FAILED = "failed", _("failed")

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="prefill_jobs", db_index=False)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    key = models.CharField(max_length=64)
    options = models.JSONField(help_text="Model, prompt, revision, number type and server, as they were given.")
    judge = models.ForeignKey(Judge, models.CASCADE, null=True, blank=True, related_name="prefill_jobs")
    first = models.CharField(_("first"), max_length=16, choices=First, default=First.QUERIES)
    uncertain_judge = models.ForeignKey(
        Judge, models.SET_NULL, null=True, blank=True, related_name="+", help_text="Whose uncertainty sets the order."
    )
    limit = models.PositiveIntegerField(_("limit"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.QUEUED)
    error = models.TextField(_("error"), blank=True)
    asked_at = models.DateTimeField(_("asked at"), db_default=Now())
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    heartbeat_at = models.DateTimeField(_("last sign of life"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    objects = PrefillJobQuerySet.as_manager()

    class Meta:
        ordering = ["asked_at", "pk"]
        verbose_name = _("pre-fill job")
        constraints = [
            models.UniqueConstraint(fields=["pool", "key"], name="prefill_job_once"),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running"], finished_at__isnull=True)
                | Q(state__in=["done", "stopped", "failed"], finished_at__isnull=False),
                name="prefill_job_finished",
            ),
            models.CheckConstraint(condition=Q(state="failed") | Q(error=""), name="prefill_job_error_iff_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.options.get('model')} {self.options.get('prompt')} of {self.pool_id}: {self.state}"

    @property
    def asker(self) -> str:
        """Who asked, by name; empty for somebody whose account is gone, and for the shell."""
        return self.asked_by.get_username() if self.asked_by else ""

    @property
    def is_wanted(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def is_alive(self) -> bool:
        """Whether a worker gave a sign of life lately."""
        return self.heartbeat_at is not None and self.heartbeat_at >= timezone.now() - worker_lease()

    def taken(self) -> int:
        """How many pairs count towards the limit: what was judged for this job, and what is in hand."""
        return self.tasks.filter(Q(state=LeaseState.DONE) | is_held()).count()


class PrefillTask(Leased):
    """One pair to be read by one LLM, claimed by a worker for a time. What came of it is the judgment.

    The most urgent first, then in the order in which people get the pairs.
    """

    judge = models.ForeignKey(Judge, models.CASCADE, related_name="prefill_tasks", db_index=False)
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="prefill_tasks")
    job = models.ForeignKey(
        PrefillJob, models.SET_NULL, null=True, blank=True, related_name="tasks", help_text="For which it was claimed."
    )
    worker = models.CharField(max_length=200, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    urgency = models.FloatField(default=0.0, db_default=0.0)

    ORDER = ("-urgency", "pair__query_position", "pair__best_rank", "pair")

    class Meta:
        verbose_name = _("pre-fill task")
        constraints = [
            models.UniqueConstraint(fields=["judge", "pair"], name="prefill_once"),
            models.CheckConstraint(
                condition=Q(state="leased", leased_until__isnull=False)
                | Q(state__in=["free", "done"], leased_until__isnull=True),
                name="prefill_state",
            ),
        ]
        # Serves the search for what may be claimed next.
        indexes = [models.Index(fields=["judge", "state", "leased_until"], name="prefill_claim")]

    def __str__(self) -> str:
        return f"{self.judge_id} {self.pair_id}: {self.state}"
