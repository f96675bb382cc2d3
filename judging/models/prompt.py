"""Prompts of one's own, brought in on a page."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class StoredPrompt(models.Model):
    """A prompt file as it was brought in, header included. It never changes: another text is another prompt."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    text = models.TextField(_("text"))
    digest = models.CharField(_("digest"), max_length=64, help_text=_("SHA-256 of the text."))
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="prompts"
    )
    created_at = models.DateTimeField(_("created at"), db_default=Now())

    class Meta:
        ordering = ["name"]
        verbose_name = _("prompt")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("prompt", args=[self.name])

    @property
    def author(self) -> str:
        """Who brought it in, by name; empty where that is not known any more."""
        return self.added_by.get_username() if self.added_by else ""
