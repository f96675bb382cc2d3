"""Texts that a person has judged: a copy of one under another id is not asked again for the same query."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from judging.models import Judge, Judgment


def has_judged_text(annotator: Judge | int, *, pair: str = "") -> Exists:
    """Whether the person has judged the pair's document, or one of the same text, for its query in any pool.

    ``pair`` is the prefix that leads to the pair from the rows that are filtered, such as ``pair__``.
    """
    return Exists(
        Judgment.objects.filter(
            judge=annotator,
            query=OuterRef(f"{pair}query"),
            document__digest=OuterRef(f"{pair}document__digest"),
        )
    )
