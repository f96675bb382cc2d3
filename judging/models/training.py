"""Pairs of known grade that a pool may begin with."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judging.models.collection import Document, Query
from judging.models.judge import Judge
from judging.models.judgment import Outcome
from judging.models.pool import Pool


class TrainingPair(models.Model):
    """One (query, document) whose grade is known, with the reason; never one of the pool's own pairs."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="training", db_index=False)
    position = models.PositiveIntegerField()
    query = models.ForeignKey(Query, models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    grade = models.SmallIntegerField(_("grade"))
    explanation = models.TextField(_("explanation"), blank=True)

    class Meta:
        ordering = ["position"]
        verbose_name = _("training pair")
        constraints = [
            models.UniqueConstraint(fields=["pool", "position"], name="training_position_once"),
            models.UniqueConstraint(fields=["pool", "query", "document"], name="training_once"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} {self.document_id}: {self.grade}"


class TrainingAnswer(models.Model):
    """What a person said of a training pair before they were told its grade: their first answer, and the only one."""

    pair = models.ForeignKey(TrainingPair, models.CASCADE, related_name="answers", db_index=False)
    annotator = models.ForeignKey(Judge, models.CASCADE, related_name="training_answers")
    outcome = models.CharField(max_length=16, choices=Outcome)
    grade = models.SmallIntegerField(null=True, blank=True)
    comment = models.TextField(blank=True)
    seconds = models.FloatField(null=True, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("training answer")
        constraints = [
            models.UniqueConstraint(fields=["pair", "annotator"], name="training_answer_once"),
            models.CheckConstraint(
                condition=Q(outcome="graded", grade__isnull=False) | Q(outcome="cannot_judge", grade__isnull=True),
                name="training_answer_grade_iff_graded",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pair_id} by {self.annotator_id}: {self.outcome if self.grade is None else self.grade}"
