"""Who judged a collection, and what they are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Sum

from judging.engines.llm.prompts import FOLDER, load_prompt, prompt_names
from judging.models import Collection, Judge, Judgment
from judging.models.judgment import JudgmentQuerySet


@dataclass
class JudgeRow:
    """``outcomes``: how often each; ``seconds`` spent together on the ``timed`` ones; tokens where they are known."""

    judge: Judge
    outcomes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    timed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
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
    return _rows(Judgment.objects.of(collection))


def llm_judges() -> Sequence[JudgeRow]:
    """Every LLM judge with what it said of whatever collection, by name; those that have said nothing yet too."""
    rows = {row.judge.pk: row for row in _rows(Judgment.objects.filter(judge__kind=Judge.Kind.LLM))}
    return [rows.get(judge.pk, JudgeRow(judge)) for judge in Judge.objects.filter(kind=Judge.Kind.LLM)]


def row_of_judge(judge: Judge) -> JudgeRow:
    return next(iter(_rows(Judgment.objects.filter(judge=judge))), JudgeRow(judge))


def _rows(judgments: JudgmentQuerySet) -> Sequence[JudgeRow]:
    counted = (
        judgments.order_by("judge", "outcome")
        .values("judge", "outcome")
        .annotate(
            count=Count("pk"),
            total=Sum("seconds"),
            timed=Count("seconds"),
            read=Sum("prompt_tokens"),
            written=Sum("completion_tokens"),
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
        of_judge.prompt_tokens += row["read"] or 0
        of_judge.completion_tokens += row["written"] or 0
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


@dataclass(frozen=True, slots=True)
class Determinant:
    """One value that makes a judge, by its path in the configuration, as two judges have it; None if one lacks it."""

    name: str
    one: str | None
    other: str | None


def differences(one: Judge, other: Judge) -> list[Determinant]:
    """What differs between two judges' configurations, in their order; the texts of the prompts where these differ."""
    values, others = dict(determinants(one.configuration)), dict(determinants(other.configuration))
    found = [
        Determinant(name, values.get(name), others.get(name))
        for name in {**values, **others}
        if values.get(name) != others.get(name)
    ]
    if all(difference.name != "prompt_digest" for difference in found):
        return found
    return [*found, Determinant("prompt text", prompt_of(one), prompt_of(other))]


def determinants(configuration: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Each value of a configuration with its path, such as ``decoding.method``; a list is one value."""
    for name, value in configuration.items():
        if isinstance(value, Mapping) and value:
            yield from determinants(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
