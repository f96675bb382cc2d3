"""Who judged a collection, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Max, Min, Sum

from judging.engines.llm.prompts import FOLDER, load_prompt, prompt_names
from judging.models import Collection, Judge, Judgment


@dataclass
class JudgeRow:
    """``outcomes``: how often each; ``seconds`` spent together on the ``timed`` ones."""

    judge: Judge
    outcomes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    timed: int = 0
    first: datetime | None = None
    latest: datetime | None = None

    @property
    def judged(self) -> int:
        return sum(self.outcomes.values())

    @property
    def seconds_each(self) -> float | None:
        return self.seconds / self.timed if self.timed else None


def judges_of_collection(collection: Collection) -> Sequence[JudgeRow]:
    """Everybody who judged something of the collection, by kind and name."""
    counted = (
        Judgment.objects.of(collection)
        .order_by("judge", "outcome")
        .values("judge", "outcome")
        .annotate(
            count=Count("pk"),
            total=Sum("seconds"),
            timed=Count("seconds"),
            first=Min("created_at"),
            latest=Max("updated_at"),
        )
    )
    rows: dict[int, JudgeRow] = {}
    judges = Judge.objects.in_bulk({row["judge"] for row in counted})
    for row in counted:
        of_judge = rows.setdefault(row["judge"], JudgeRow(judges[row["judge"]]))
        of_judge.outcomes[row["outcome"]] = row["count"]
        of_judge.seconds += row["total"] or 0.0
        of_judge.timed += row["timed"]
        of_judge.first = min(filter(None, [of_judge.first, row["first"]]))
        of_judge.latest = max(filter(None, [of_judge.latest, row["latest"]]))
    return sorted(rows.values(), key=lambda one: (one.judge.kind, one.judge.name, one.judge.pk))


def prompt_of(judge: Judge) -> str:
    """What an LLM judge is asked: as it was kept, or the prompt of that digest which comes with the program.

    Empty where the text is not known, as with labels that were made elsewhere.
    """
    if judge.prompt:
        return judge.prompt
    digest = judge.configuration.get("prompt_digest")
    name = next((name for name in prompt_names() if load_prompt(name).digest == digest), None)
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8") if name and digest else ""
