"""Links by which people make their own account and join a pool."""

from __future__ import annotations

from hashlib import sha256

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from judging.models.pool import Pool


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self) -> InvitationQuerySet:
        """Not revoked, not expired, and with a seat left."""
        return self.filter(revoked_at__isnull=True, expires_at__gt=timezone.now(), uses__lt=F("seats"))

    def of_token(self, token: str) -> InvitationQuerySet:
        return self.filter(token_hash=hash_of(token))


def hash_of(token: str) -> str:
    """SHA-256: a token is 32 random bytes, so nothing slower is needed against guessing."""
    return sha256(token.encode()).hexdigest()


class Invitation(models.Model):
    """A link to one pool, good for some days and some people. Only the hash of its token is kept."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="invitations")
    token_hash = models.CharField(max_length=64, unique=True)
    seats = models.PositiveSmallIntegerField(_("seats"), help_text=_("How many people may use it."))
    uses = models.PositiveSmallIntegerField(_("uses"), default=0)
    expires_at = models.DateTimeField(_("expires at"))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+",
        help_text=_("Empty where it was made in the shell."),
    )  # fmt: skip
    created_at = models.DateTimeField(_("created at"), db_default=Now())

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name = _("invitation")
        constraints = [
            models.CheckConstraint(condition=Q(seats__gte=1), name="invitation_seats_from_1"),
            models.CheckConstraint(condition=Q(uses__lte=F("seats")), name="invitation_uses_within_seats"),
        ]

    def __str__(self) -> str:
        return f"{self.pool_id}: {self.uses} of {self.seats}"

    @property
    def is_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    @property
    def is_used_up(self) -> bool:
        return self.uses >= self.seats

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and not self.is_expired and not self.is_used_up
