"""Whoever grades."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judging.models.collection import Collection


def fingerprint_of(configuration: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration in canonical JSON: another determinant, another judge."""
    canonical = json.dumps(configuration, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class Judge(models.Model):
    """The original qrels of a collection, a person, an LLM configuration, or an adjudication."""

    class Kind(models.TextChoices):
        QRELS = "qrels", _("original qrels")
        PERSON = "person", _("person")
        LLM = "llm", _("LLM")
        ADJUDICATION = "adjudication", _("adjudication")

    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    name = models.CharField(_("name"), max_length=200)
    collection = models.ForeignKey(
        Collection, models.CASCADE, null=True, blank=True, related_name="qrels", help_text=_("Of original qrels only.")
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, help_text=_("Of a person with an account.")
    )
    configuration = models.JSONField(_("configuration"), default=dict, blank=True)
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True)
    prompt = models.TextField(_("prompt"), blank=True, help_text=_("Of an LLM: what it is asked, to be read."))
    created_at = models.DateTimeField(_("created at"), db_default=Now())

    class Meta:
        ordering = ["kind", "name", "pk"]
        verbose_name = _("judge")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="qrels", collection__isnull=False)
                | models.Q(~models.Q(kind="qrels"), collection__isnull=True),
                name="judge_collection_iff_qrels",
            ),
            models.CheckConstraint(
                condition=models.Q(user__isnull=True) | models.Q(kind="person"), name="judge_user_only_person"
            ),
            models.UniqueConstraint(
                fields=["collection", "name"], condition=models.Q(kind="qrels"), name="judge_qrels_once"
            ),
            models.UniqueConstraint(
                fields=["kind", "name", "fingerprint"], condition=~models.Q(kind="qrels"), name="judge_name_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_calibrated(self) -> bool:
        """Whether it is an LLM's expected grades, cut at thresholds that were fitted to people's labels."""
        return "thresholds" in self.configuration

    def has_fingerprint(self, start: str) -> bool:
        """Whether its fingerprint begins so; fewer than six characters name nobody."""
        return len(start) >= 6 and self.fingerprint.startswith(start)

    @property
    def label(self) -> str:
        """The name, with the start of the fingerprint where two judges could share it."""
        return f"{self.name} · {self.fingerprint[:8]}" if self.fingerprint else self.name
