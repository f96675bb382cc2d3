"""Rankings, produced here or imported."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judging.models.collection import Collection, Document, Query


class RunQuerySet(models.QuerySet["Run"]):
    def complete(self) -> RunQuerySet:
        return self.filter(completed_at__isnull=False)


class Run(models.Model):
    """One ranking per query. A run that was interrupted has no ``completed_at`` and is used by nothing."""

    class Kind(models.TextChoices):
        RETRIEVED = "retrieved", _("retrieved")
        RERANKED = "reranked", _("reranked")
        IMPORTED = "imported", _("imported")

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="runs", db_index=False)
    name = models.CharField(_("name"), max_length=200)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    parent = models.ForeignKey("self", models.RESTRICT, null=True, blank=True, related_name="reranked")
    identity = models.JSONField(
        _("identity"), default=dict, help_text=_("Engine or model with every determinant of its scores.")
    )
    corpus_digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(_("created at"), db_default=Now())
    completed_at = models.DateTimeField(_("completed at"), null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name = _("run")
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="run_name_once"),
            models.CheckConstraint(
                condition=models.Q(kind="reranked", parent__isnull=False)
                | models.Q(~models.Q(kind="reranked"), parent__isnull=True),
                name="run_parent_iff_reranked",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Hit(models.Model):
    """One line of a run. ``rank`` counts from 1: score descending, then document id descending."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="hits", db_index=False)
    query = models.ForeignKey(Query, models.CASCADE, related_name="hits")
    document = models.ForeignKey(Document, models.CASCADE, related_name="hits")
    rank = models.PositiveIntegerField()
    score = models.FloatField()

    class Meta:
        verbose_name = _("hit")
        constraints = [
            models.UniqueConstraint(fields=["run", "query", "rank"], name="hit_rank_once"),
            models.UniqueConstraint(fields=["run", "query", "document"], name="hit_document_once"),
            models.CheckConstraint(condition=models.Q(rank__gte=1), name="hit_rank_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} {self.rank}"
