"""What judges say, and the history of it."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judging.models.collection import Collection, Document, Query
from judging.models.judge import Judge


class Outcome(models.TextChoices):
    """A grade, or the reason why there is none. What could not be read is never a grade."""

    GRADED = "graded", _("graded")
    CANNOT_JUDGE = "cannot_judge", _("cannot judge")
    OUT_OF_SCALE = "out_of_scale", _("out of scale")
    UNPARSED = "unparsed", _("unreadable")
    FAILED = "failed", _("failed")


def _grade_iff_graded() -> models.Q:
    return models.Q(outcome="graded", grade__isnull=False) | models.Q(~models.Q(outcome="graded"), grade__isnull=True)


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def of(self, collection: Collection) -> JudgmentQuerySet:
        return self.filter(query__collection=collection)

    def original(self, collection: Collection | int) -> JudgmentQuerySet:
        return self.filter(judge__kind=Judge.Kind.QRELS, judge__collection=collection)

    def by_people(self) -> JudgmentQuerySet:
        return self.filter(judge__kind=Judge.Kind.PERSON)

    def graded(self) -> JudgmentQuerySet:
        return self.filter(outcome=Outcome.GRADED)


class Judgment(models.Model):
    """What one judge says of one (query, document) now."""

    judge = models.ForeignKey(Judge, models.CASCADE, related_name="judgments", db_index=False)
    query = models.ForeignKey(Query, models.CASCADE, related_name="judgments")
    document = models.ForeignKey(Document, models.CASCADE, related_name="judgments")
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome)
    grade = models.SmallIntegerField(_("grade"), null=True, blank=True)
    probabilities = models.JSONField(_("probabilities"), null=True, blank=True)
    raw = models.TextField(_("raw output"), blank=True)
    comment = models.TextField(_("comment"), blank=True)
    seconds = models.FloatField(_("seconds"), null=True, blank=True)
    truncated = models.BooleanField(_("document was cut"), default=False)
    prompt_tokens = models.PositiveIntegerField(_("tokens read"), null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(_("tokens written"), null=True, blank=True)
    assisted = models.BooleanField(
        _("assisted"), default=False, help_text=_("The person saw an LLM label before giving this one.")
    )
    revealed_at = models.DateTimeField(
        _("revealed at"), null=True, blank=True, help_text=_("When the person was shown what an LLM said of the pair.")
    )
    created_at = models.DateTimeField(_("created at"), db_default=Now())
    updated_at = models.DateTimeField(_("updated at"), db_default=Now())

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        verbose_name = _("judgment")
        constraints = [
            models.UniqueConstraint(fields=["judge", "query", "document"], name="judgment_once"),
            models.CheckConstraint(condition=_grade_iff_graded(), name="judgment_grade_iff_graded"),
        ]

    def __str__(self) -> str:
        said = self.outcome if self.grade is None else self.grade
        return f"{self.judge_id} {self.query_id} {self.document_id}: {said}"


class JudgmentEvent(models.Model):
    """Append-only: each answer given to a judgment, in the order it was given.

    Original qrels have no events; their file's checksum is their history. ``key`` is made by the page for one press of
    a button: the same answer sent twice is stored once.
    """

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="events")
    key = models.UUIDField(null=True, blank=True, unique=True)
    outcome = models.CharField(max_length=16, choices=Outcome)
    grade = models.SmallIntegerField(null=True, blank=True)
    comment = models.TextField(blank=True)
    seconds = models.FloatField(null=True, blank=True)
    assisted = models.BooleanField(default=False)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        verbose_name = _("judgment event")
        constraints = [models.CheckConstraint(condition=_grade_iff_graded(), name="event_grade_iff_graded")]

    def __str__(self) -> str:
        return f"{self.judgment_id}: {self.grade if self.grade is not None else self.outcome}"
