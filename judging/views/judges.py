"""Who judged a collection: people and LLM configurations, with what they said and what made it."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from judging.models import Collection, Judge, Outcome
from judging.steps.judges import differences, judges_of_collection, prompt_of
from judging.views.access import Request, staff_only
from judging.views.answers import number_in


@require_GET
@never_cache
@staff_only
def judges(request: Request, slug: str) -> HttpResponse:
    collection = get_object_or_404(Collection, slug=slug)
    rows = judges_of_collection(collection)
    context = {
        "collection": collection,
        "kinds": [
            (label, found) for kind, label in _kinds() if (found := [row for row in rows if row.judge.kind == kind])
        ],
        "outcomes": Outcome.choices,
        "llms": [row.judge for row in rows if row.judge.kind == Judge.Kind.LLM],
    }
    return render(request, "judges.html", context)


def _kinds() -> list[tuple[str, str]]:
    return [
        (Judge.Kind.QRELS.value, _("Original qrels")),
        (Judge.Kind.PERSON.value, _("People")),
        (Judge.Kind.LLM.value, _("LLMs")),
        (Judge.Kind.ADJUDICATION.value, _("Adjudications")),
    ]


@require_GET
@never_cache
@staff_only
def judge(request: Request, slug: str, judge_id: int) -> HttpResponse:
    """One judge: every determinant of what it says, and the prompt to be read."""
    collection = get_object_or_404(Collection, slug=slug)
    row = next((row for row in judges_of_collection(collection) if row.judge.pk == judge_id), None)
    found = row.judge if row else get_object_or_404(Judge, pk=judge_id)
    configuration = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
        for name, value in found.configuration.items()
    ]
    context = {
        "collection": collection,
        "judge": found,
        "row": row,
        "outcomes": Outcome.choices,
        "configuration": configuration,
        "prompt": prompt_of(found),
    }
    return render(request, "judge_details.html", context)


@require_GET
@never_cache
@staff_only
def compare(request: Request, slug: str) -> HttpResponse:
    """Two LLM judges side by side: which determinants differ."""
    collection = get_object_or_404(Collection, slug=slug)
    one, other = (_chosen(request, name) for name in ("one", "other"))
    context = {
        "collection": collection,
        "llms": [row.judge for row in judges_of_collection(collection) if row.judge.kind == Judge.Kind.LLM],
        "one": one,
        "other": other,
        "differences": differences(one, other) if one and other else [],
    }
    return render(request, "judges_compare.html", context)


def _chosen(request: Request, name: str) -> Judge | None:
    number = number_in(request.GET.get(name, ""))
    return None if number is None else get_object_or_404(Judge, kind=Judge.Kind.LLM, pk=number)
