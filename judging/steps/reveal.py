"""Showing what LLMs said of a pair once a person has answered it, where the pool says so."""

from __future__ import annotations

from django.utils import timezone

from judging.models import Judge, Judgment, Outcome, Pool


def reveal(*, pool: Pool, judgment: Judgment) -> list[Judgment]:
    """The LLMs' grades of the pair that was just judged, and that the person is shown them now is kept.

    Whatever they change of this pair from here on is assisted. Empty where the pool reveals nothing.
    """
    labels = _labels(judgment) if pool.reveal else []
    if labels and judgment.revealed_at is None:
        judgment.revealed_at = timezone.now()
        Judgment.objects.filter(pk=judgment.pk, revealed_at=None).update(revealed_at=judgment.revealed_at)
    return labels


def revealed(*, pool: Pool, judgment: Judgment) -> list[Judgment]:
    """The LLMs' grades that the person was shown after their answer."""
    return _labels(judgment) if pool.reveal and judgment.revealed_at else []


def _labels(judgment: Judgment) -> list[Judgment]:
    labels = Judgment.objects.filter(
        judge__kind=Judge.Kind.LLM, outcome=Outcome.GRADED, query=judgment.query_id, document=judgment.document_id
    )
    return list(labels.select_related("judge").order_by("judge__name", "judge"))
