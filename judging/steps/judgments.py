"""Writing what a judge says: the judgment and its history in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from judging.models import Judge, Judgment, JudgmentEvent, Outcome
from judging.models.compiled import Compiled
from judging.models.compiled_insert import CompiledInsert

# One judgment each.
_ONCE = ("judge", "query", "document")

# What another answer replaces in a judgment.
_CONTENT = (
    "outcome", "grade", "comment", "seconds", "assisted", "probabilities", "raw", "truncated",
    "prompt_tokens", "completion_tokens", "updated_at",
)  # fmt: skip


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
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

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
    judgment = _judgment(judge, (query_id, document_id), said, timezone.now())
    # One statement: update_or_create would look first, and needs savepoints for what happens in between.
    _put.store(judgment)
    _append.store(JudgmentEvent(judgment=judgment, key=said.key, **said.values))
    return judgment


def _judgment(judge: Judge, pair: tuple[int, int], said: Said, at: datetime) -> Judgment:
    query, document = pair
    return Judgment(
        judge=judge,
        query_id=query,
        document_id=document,
        probabilities=said.probabilities,
        raw=said.raw,
        truncated=said.truncated,
        prompt_tokens=said.prompt_tokens,
        completion_tokens=said.completion_tokens,
        updated_at=at,
        **said.values,
    )


_put = CompiledInsert(Judgment, unique=_ONCE, replaced=_CONTENT)
_append = CompiledInsert(JudgmentEvent)


@transaction.atomic
def say_all(*, judge: Judge, said: Mapping[tuple[int, int], Said]) -> int:
    """As ``say``, of many pairs (query, document) at once; how many. What a pair has already, word for word, stays."""
    rows = Judgment.objects.filter(judge=judge)
    before = {(row.query_id, row.document_id): row for row in rows}
    changed = {pair: one for pair, one in said.items() if pair not in before or _differs(before[pair], one)}
    now = timezone.now()
    Judgment.objects.bulk_create(
        [_judgment(judge, pair, one, now) for pair, one in changed.items()],
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=_ONCE,
        update_fields=_CONTENT,
    )
    keys = {(query, document): pk for pk, query, document in rows.values_list("pk", "query", "document")}
    JudgmentEvent.objects.bulk_create(
        [JudgmentEvent(judgment_id=keys[pair], **one.values) for pair, one in changed.items()], batch_size=1_000
    )
    return len(changed)


def _differs(row: Judgment, said: Said) -> bool:
    now = {**said.values, "probabilities": said.probabilities, "raw": said.raw, "truncated": said.truncated}
    return any(getattr(row, name) != value for name, value in now.items())


def said_of(*, judge: Judge, query_id: int, document_id: int) -> Judgment | None:
    """What the judge says of a pair by now."""
    return _said_of.first(judge=judge.pk, query=query_id, document=document_id)


_said_of = Compiled(lambda judge, query, document: Judgment.objects.filter(judge=judge, query=query, document=document))


def said_before(key: UUID) -> Judgment | None:
    """The judgment that an answer of this key has become already."""
    event = JudgmentEvent.objects.select_related("judgment").filter(key=key).first()
    return event.judgment if event else None
