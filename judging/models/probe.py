"""Pairs that a person is asked a second time, to see how far they agree with themselves."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judging.models.judge import Judge
from judging.models.judgment import Outcome
from judging.models.pool import Pair


def _answered() -> Q:
    graded = Q(outcome=Outcome.GRADED, grade__isnull=False)
    ungraded = Q(outcome=Outcome.CANNOT_JUDGE, grade__isnull=True)
    return (graded | ungraded) & ~Q(first_outcome="") & Q(answered_at__isnull=False)


class Probe(models.Model):
    """A person is asked a pair again, blind to their first answer. The second answer never touches the judgment.

    ``after`` is how many answers the person had given in the pool when the pair was drawn. ``first_outcome`` and
    ``first_grade`` are what their judgment said when they were asked again.
    """

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="probes", db_index=False)
    annotator = models.ForeignKey(Judge, models.CASCADE, related_name="probes")
    after = models.PositiveIntegerField()
    first_outcome = models.CharField(max_length=16, choices=Outcome, blank=True)
    first_grade = models.SmallIntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome, blank=True)
    grade = models.SmallIntegerField(null=True, blank=True)
    comment = models.TextField(blank=True)
    seconds = models.FloatField(null=True, blank=True)
    drawn_at = models.DateTimeField(db_default=Now())
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["after", "pk"]
        verbose_name = _("probe")
        constraints = [
            models.UniqueConstraint(fields=["pair", "annotator"], name="probe_once"),
            models.CheckConstraint(
                condition=_answered() | Q(outcome="", grade__isnull=True, answered_at__isnull=True),
                name="probe_grade_iff_answered",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pair_id} again by {self.annotator_id}: {self.outcome or 'open'}"
