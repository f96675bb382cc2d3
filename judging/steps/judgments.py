"""Writing what a judge says: the judgment and its history in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from judging.models import Judge, Judgment, JudgmentEvent, Outcome


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge says of one pair; ``key`` names one press of a button, so that it is stored once."""

    outcome: str
    grade: int | None = None
    comment: str = ""
    seconds: float | None = None
    assisted: bool = False
    key: UUID | None = None
    probabilities: dict[str, float] | None = None
    raw: str = ""
    truncated: bool = False

    @property
    def values(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "grade": self.grade if self.outcome == Outcome.GRADED else None,
            "comment": self.comment,
            "seconds": self.seconds,
            "assisted": self.assisted,
        }


@transaction.atomic(savepoint=False)
def say(*, judge: Judge, query_id: int, document_id: int, said: Said) -> Judgment:
    """Store what a judge says of a pair, in place of what they said before; the event keeps both."""
    content = {
        **said.values,
        "probabilities": said.probabilities,
        "raw": said.raw,
        "truncated": said.truncated,
        "updated_at": timezone.now(),
    }
    # One statement: update_or_create would look first, and needs savepoints for what happens in between.
    (judgment,) = Judgment.objects.bulk_create(
        [Judgment(judge=judge, query_id=query_id, document_id=document_id, **content)],
        update_conflicts=True,
        unique_fields=["judge", "query", "document"],
        update_fields=list(content),
    )
    JudgmentEvent.objects.create(judgment=judgment, key=said.key, **said.values)
    return judgment


def said_before(key: UUID) -> Judgment | None:
    """The judgment that an answer of this key has become already."""
    event = JudgmentEvent.objects.select_related("judgment").filter(key=key).first()
    return event.judgment if event else None
