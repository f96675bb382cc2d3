"""How easily an LLM is talked into "relevant": pairs asked again with the words of the query put into the document."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judging.models.judge import Judge
from judging.models.pool import Pool


class GullibilityProbe(models.Model):
    """One probe of one judge on a pool. Its answers are kept here alone: they are never judgments.

    ``rows`` holds a pair each: ``query`` and ``document`` (ids of the collection), and what the judge said ``before``,
    with the query's words (``stuffed``) and with as many other words (``control``), as [outcome, grade, probability of
    relevant]; the last two only once they were asked. ``finished_at`` is empty while some are not.
    """

    class Way(models.TextChoices):
        START = "start", _("before the first word")
        SENTENCES = "sentences", _("after every sentence")

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="gullibility", db_index=False)
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="gullibility")
    way = models.CharField(_("way of stuffing"), max_length=16, choices=Way, default=Way.START)
    wanted = models.PositiveIntegerField(_("pairs wanted"))
    seed = models.BigIntegerField(_("seed"), default=0)
    rows = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        verbose_name = _("gullibility probe")
        constraints = [
            models.UniqueConstraint(fields=["pool", "judge", "way", "wanted", "seed"], name="gullibility_once"),
            models.CheckConstraint(condition=Q(wanted__gte=1), name="gullibility_wanted_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} on {self.pool_id}, {self.way}, seed {self.seed}"
