"""How fast a pool is judged, what of it is left, and what came of it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from django.core.cache import cache
from django.db.models import Avg, Count, Max

from judging.models import Pool, Probe
from judging.steps.agree import judgments_of, sheet_of
from judging.steps.agreement.found import Found, found_in
from judging.steps.pools import PoolProgress
from judging.steps.probes import SelfAgreement, agreement_with_themselves


@dataclass(frozen=True, slots=True)
class Pace:
    """An estimate of what is left, from what was answered.

    ``recent``     answers of the last hour, ``recent_people`` who gave them
    ``seconds``    the mean time of an answer over the ``timed`` ones; None where none was timed
    ``work``       seconds that the answers left would take one person, each as long as the mean
    ``remaining``  seconds until the pool is judged, if all go on as in the last hour; None where nobody answered then
    """

    recent: int
    recent_people: int
    seconds: float | None
    timed: int
    left: int

    @property
    def work(self) -> float | None:
        return None if self.seconds is None else self.seconds * self.left

    @property
    def remaining(self) -> float | None:
        return 3_600 * self.left / self.recent if self.recent else None


def pace(pool: Pool, progress: PoolProgress) -> Pace:
    timed = judgments_of(pool).by_people().aggregate(mean=Avg("seconds"), count=Count("seconds"))
    counts = [one.recent for one in progress.annotators if one.recent]
    return Pace(sum(counts), len(counts), timed["mean"], timed["count"], progress.left)


def themselves(pool: Pool) -> list[SelfAgreement]:
    """Each person's agreement with themselves; computed once for each state of what they were asked again."""
    state = Probe.objects.filter(pair__pool=pool).aggregate(count=Count("answered_at"), latest=Max("answered_at"))
    if not state["count"]:
        return []
    key = _key("themselves", pool, state)
    known: list[SelfAgreement] | None = cache.get(key)
    if known is None:
        known = agreement_with_themselves(pool=pool)
        cache.set(key, known, timeout=3_600)
    return known


def found_so_far(pool: Pool) -> Found:
    """The share relevant with its interval and what belongs to it; computed once for each state of the judgments."""
    # Imported judgments bring times of their own, so the newest event is asked for too.
    state = judgments_of(pool).aggregate(
        count=Count("pk", distinct=True), latest=Max("updated_at"), event=Max("events")
    )
    key = _key("found", pool, state)
    found: Found | None = cache.get(key)
    if found is None:
        found = found_in(sheet_of(pool=pool), pool)
        cache.set(key, found, timeout=3_600)
    return found


def _key(what: str, pool: Pool, state: Mapping[str, object]) -> str:
    return f"{what}:{sha256(repr((pool.pk, *state.values())).encode()).hexdigest()}"
