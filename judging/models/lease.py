"""Work that is handed out for a time: slots to people, pairs to workers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class LeaseState(models.TextChoices):
    FREE = "free", _("free")
    LEASED = "leased", _("leased")
    DONE = "done", _("done")


def is_held() -> models.Q:
    """Whether a row is in somebody's hands now: leased, and not let expire."""
    return models.Q(state=LeaseState.LEASED, leased_until__gte=timezone.now())


class LeaseQuerySet(models.QuerySet["_L"]):
    def available(self, at: datetime | None = None) -> LeaseQuerySet[_L]:
        """What may be handed out now, or at that time: what is free, and what a holder let expire."""
        return self.filter(
            models.Q(state=LeaseState.FREE) | models.Q(state=LeaseState.LEASED, leased_until__lt=at or timezone.now())
        )

    def claim(self, *, lease: timedelta, limit: int | None = None, **holder: Any) -> list[int]:
        """Hand rows of this query set, in its order, to a holder; the primary keys of those that were got.

        Rows are taken by a conditional UPDATE, and what it changed says which were got: two claimants may see the same
        free row, only one of them changes it. A row that the holder may not have (a constraint says so, such as one
        slot of a pair a person) is passed over.
        """
        claimed: list[int] = []
        refused: list[int] = []
        while limit is None or len(claimed) < limit:
            # As many again as are wanted, for others may be taking the first of them at this moment.
            wanted = None if limit is None else 2 * (limit - len(claimed))
            seen = list(self.available().exclude(pk__in=refused).values_list("pk", flat=True)[:wanted])
            looked_in_vain = not seen
            while seen and (limit is None or len(claimed) < limit):
                size = len(seen) if limit is None else limit - len(claimed)
                batch, seen = seen[:size], seen[size:]
                claimed += self._claim_all(batch, lease, holder, refused)
            if limit is None or looked_in_vain:
                break
        return claimed

    def _claim_all(self, pks: list[int], lease: timedelta, holder: dict[str, Any], refused: list[int]) -> list[int]:
        try:
            return self._take(pks, lease, holder)
        except IntegrityError:
            if len(pks) == 1:
                refused += pks
                return []
        return [pk for one in pks for pk in self._claim_all([one], lease, holder, refused)]

    @transaction.atomic
    def _take(self, pks: list[int], lease: timedelta, holder: dict[str, Any]) -> list[int]:
        rows = self.model._default_manager.filter(pk__in=pks)
        until = timezone.now() + lease
        # Locked in one order, or two claimants of the same rows could wait for each other for ever.
        list(rows.available().order_by("pk").select_for_update().values_list("pk", flat=True))
        taken = rows.available().update(state=LeaseState.LEASED, leased_until=until, **holder)
        if taken == len(pks):
            return pks
        mine = set(rows.filter(state=LeaseState.LEASED, leased_until=until, **holder).values_list("pk", flat=True))
        return [pk for pk in pks if pk in mine]


class Leased(models.Model):
    """A row that is free, leased until a time, or done."""

    state = models.CharField(_("state"), max_length=8, choices=LeaseState, default=LeaseState.FREE)
    leased_until = models.DateTimeField(_("leased until"), null=True, blank=True)

    objects = LeaseQuerySet.as_manager()

    class Meta:
        abstract = True


_L = TypeVar("_L", bound=Leased)
