"""Work that is handed out for a time: slots to people, pairs to workers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class LeaseState(models.TextChoices):
    FREE = "free", _("free")
    LEASED = "leased", _("leased")
    DONE = "done", _("done")


class LeaseQuerySet(models.QuerySet["_L"]):
    def available(self) -> LeaseQuerySet[_L]:
        """What may be handed out: what is free, and what a holder let expire."""
        return self.filter(
            models.Q(state=LeaseState.FREE) | models.Q(state=LeaseState.LEASED, leased_until__lt=timezone.now())
        )

    def claim(self, *, lease: timedelta, limit: int | None = None, **holder: Any) -> list[int]:
        """Hand rows of this query set, in its order, to a holder; the primary keys of those that were got.

        Each row is taken by one conditional UPDATE, and its row count says whether it was got: two claimants may see
        the same free row, only one of them changes it. A row that the holder may not have (a constraint says so, such
        as one slot of a pair a person) is passed over.
        """
        claimed: list[int] = []
        refused: list[int] = []
        while limit is None or len(claimed) < limit:
            # As many again as are wanted, for others may be taking the first of them at this moment.
            wanted = None if limit is None else 2 * (limit - len(claimed))
            seen = list(self.available().exclude(pk__in=refused).values_list("pk", flat=True)[:wanted])
            for pk in seen:
                try:
                    if self._claim_one(pk, lease, holder):
                        claimed.append(pk)
                except IntegrityError:
                    refused.append(pk)
                if len(claimed) == limit:
                    break
            if limit is None or not seen:
                break
        return claimed

    @transaction.atomic
    def _claim_one(self, pk: int, lease: timedelta, holder: dict[str, Any]) -> bool:
        row = self.model._default_manager.filter(pk=pk).available()
        return bool(row.update(state=LeaseState.LEASED, leased_until=timezone.now() + lease, **holder))


class Leased(models.Model):
    """A row that is free, leased until a time, or done."""

    state = models.CharField(_("state"), max_length=8, choices=LeaseState, default=LeaseState.FREE)
    leased_until = models.DateTimeField(_("leased until"), null=True, blank=True)

    objects = LeaseQuerySet.as_manager()

    class Meta:
        abstract = True


_L = TypeVar("_L", bound=Leased)
