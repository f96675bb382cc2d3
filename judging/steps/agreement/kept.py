"""What was computed of an agreement, kept for as long as nothing changes that it was computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeVar, cast

from django.core.cache import caches
from django.db.models import Count, Max, QuerySet, Sum
from django.utils import timezone, translation

import judging
from judging.models import Collection, Judge, Judgment, Pool

T = TypeVar("T")


def state_of(of: Pool | Collection) -> str:
    """A hash of the state of a pool or a collection; another one as soon as a judgment, a judge or a pair changes.

    It is asked at every request, so it counts and sums in the database and reads no judgment.
    """
    collection = of.collection if isinstance(of, Pool) else of
    judgments = Judgment.objects.of(collection)
    parts: list[object] = [
        (collection.pk, collection.created_at, collection.scale_json, collection.checksums, collection.corpus_digest),
        list(Judge.objects.values_list("pk", "name", "fingerprint")),
    ]
    if isinstance(of, Pool):
        judgments = judgments.filter(query__in=of.pairs.order_by().values("query"))
        parts += [(of.pk, of.created_at), _pairs(of), list(of.runs.values_list("pk", "name", "completed_at"))]
    return sha256(repr([*parts, _said(judgments)]).encode()).hexdigest()


def kept(state: str, *what: object, make: Callable[[], T]) -> T:
    """What ``make`` gives, computed once for each state, each ``what`` and each language; it must be picklable.

    It lies in a folder that all workers share. Another version of the software finds nothing of an earlier one.
    """
    told = (_software(), state, what, translation.get_language(), timezone.get_current_timezone_name())
    key = sha256(repr(told).encode()).hexdigest()
    found = caches["figures"].get(key)
    if found is None:
        found = (make(),)  # In a tuple: that there is nothing to show may be the answer, too.
        caches["figures"].set(key, found)
    return cast("tuple[T]", found)[0]


def _said(judgments: QuerySet[Judgment]) -> dict[str, object]:
    # Imported judgments bring times of their own, so the newest event is asked for too; original qrels have no events.
    said: dict[str, object] = judgments.aggregate(
        count=Count("pk"), grades=Sum("grade"), latest=Max("updated_at"), newest=Max("pk")
    )
    return said | judgments.aggregate(event=Max("events"))


def _pairs(pool: Pool) -> dict[str, object]:
    counted: dict[str, object] = pool.pairs.aggregate(
        count=Count("pk"), newest=Max("pk"), chances=Sum("inclusion_probability"), ranks=Sum("best_rank")
    )
    return counted


@cache
def _software() -> str:
    """A hash of this software's files as they lie there: names, sizes and times."""
    root = Path(judging.__file__).parent
    files = [(path.relative_to(root).as_posix(), path.stat()) for path in sorted(root.rglob("*.py"))]
    return sha256(repr([(name, at.st_size, at.st_mtime_ns) for name, at in files]).encode()).hexdigest()
