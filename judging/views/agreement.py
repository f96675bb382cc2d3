"""Agreement, for the lead: the panel, its plots, the pairs behind a number, what people found, the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from judging.errors import UserError
from judging.models import Collection, Judge
from judging.steps.agree import sheet_of
from judging.steps.agreement import cells, figures
from judging.steps.agreement.breakdown import WAYS
from judging.steps.agreement.compare import LlmAgreement
from judging.steps.agreement.evidence import as_json, as_markdown, queries_with_found, read_evidence
from judging.steps.agreement.found import found_in
from judging.steps.agreement.look import Look
from judging.steps.probes import agreement_with_themselves
from judging.steps.report import as_html as report_as_html
from judging.steps.report import as_markdown as report_as_markdown
from judging.steps.report import report_of
from judging.views.access import Request, mistakes_shown_at, pool_at, redirect_of, staff_only
from judging.views.answers import number_in
from judging.views.plots import ShownPlot, plot_response, shown_plot
from judging.views.words import in_language

_PAIRS_A_PAGE = 10
_QUERIES_A_PAGE = 10
_MORE_LABELS = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address asks for: what is looked at, and broken down by what."""

    of: str
    slug: str
    look: Look
    by: str
    query: dict[str, str]

    @property
    def chosen(self) -> LlmAgreement | None:
        return self.look.chosen

    def address(self, page: str, *arguments: str, **changed: str) -> str:
        name = page if self.of == "pool" else f"collection-{page}"
        query = urlencode(self.query | changed)
        return reverse(name, args=[self.slug, *arguments]) + (f"?{query}" if query else "")


def _choice(request: Request, slug: str, of: str) -> Choice:
    wanted = request.GET
    reference, judge, by = (wanted.get(name, "") for name in ("reference", "judge", "by"))
    number = _number(request, "judge")
    if judge and number is None:
        raise Http404
    one = _number(request, "reference")
    try:
        look = Look(
            pool_at(slug) if of == "pool" else get_object_or_404(Collection, slug=slug),
            reference=reference if reference in {"people", "qrels"} else one,
            clip="clip" in wanted,
            judge=number,
        )
    except UserError as error:
        raise Http404(str(error)) from None
    query = {name: wanted[name] for name in ("reference", "clip") if name in wanted}
    if look.chosen and judge:
        query["judge"] = str(look.chosen.judge.pk)
    return Choice(of, slug, look, by if by in WAYS else WAYS[0] if look.pool else "query", query)


def _shown_plot(choice: Choice, name: str, **query: str) -> ShownPlot | None:
    drawn = choice.look.plot(name, by=choice.by)
    if drawn is None:
        return None
    if choice.chosen:
        query["judge"] = str(choice.chosen.judge.pk)
    return shown_plot(drawn, lambda form, **look: choice.address("agreement-plot", name, form, **query, **look))


@require_GET
@never_cache
@staff_only
def agreement(request: Request, slug: str, of: str = "pool") -> HttpResponse:
    if request.GET.get("reference") and request.GET.get("reference") == request.GET.get("judge"):
        messages.error(request, _("A judge cannot be compared with itself: choose two different ones."))
        return redirect_of(request, reverse("agreement" if of == "pool" else "collection-agreement", args=[slug]))
    choice = _choice(request, slug, of)
    look, chosen, pool = choice.look, choice.chosen, choice.look.pool
    summary, scale, names = look.summary, look.collection.scale, _names(look)
    context: dict[str, Any] = {
        "of": of,
        "pool": pool,
        "collection": look.collection,
        "result": summary,
        "scale": scale,
        "chosen": chosen,
        "persons": look.persons(),
        **names,
        "reference": _number(request, "reference"),
        "clip": "clip" in request.GET,
        "may_clip": "clip" in request.GET or any("out_of_scale" in one.outcomes for one in summary.llms),
        "ceiling_lines": figures.lines(summary.people, None, scale) if summary.people else [],
        "selves": agreement_with_themselves(pool=pool) if pool else [],
        "purchases": look.purchases(_MORE_LABELS) if pool else [],
        "more_labels": _MORE_LABELS,
    }
    if chosen:
        context |= _of_judge(choice, chosen, names)
    return render(request, "agreement.html", context)


def _names(look: Look) -> dict[str, str]:
    """The two sides as they stand in headings (name) and in sentences (side)."""
    summary, chosen = look.summary, look.chosen
    name = summary.reference
    first = {"people": (_("People"), _("the people")), "qrels": (_("Qrels"), _("the qrels"))}
    second = (_("LLM"), _("the LLM"))
    if chosen and (summary.side == "judge" or chosen.judge.kind == Judge.Kind.PERSON):
        second = (chosen.judge.name, chosen.judge.name)
    names = [*first.get(summary.side, (name, name)), *second]
    return dict(zip(("first_name", "first_side", "second_name", "second_side"), names, strict=True))


def _of_judge(choice: Choice, chosen: LlmAgreement, names: Mapping[str, str]) -> dict[str, Any]:
    look, judge = choice.look, str(chosen.judge.pk)
    parts = look.breakdown(choice.by)
    return {
        "coefficients": figures.lines(chosen.panel, look.summary.people, chosen.scale),
        "scales": figures.scales(chosen.panel, chosen.scale, first=names["first_side"], second=names["second_side"]),
        "coefficients_plot": _shown_plot(choice, "coefficients"),
        "cells": [
            (
                grade,
                [
                    (cell, choice.address("agreement-pairs", judge=judge, first=str(grade.value), said=str(cell.grade)))
                    for cell in row
                ],
            )
            for grade, row in chosen.confusion_rows
        ],
        "judges": [
            (beside, choice.address("agreement", judge=str(beside.compared.judge.pk))) for beside in look.beside()
        ],
        "judges_plot": _shown_plot(choice, "judges"),
        "breakdown": parts,
        "groups": [
            (group, choice.address("agreement-pairs", judge=judge, query=str(group.query)) if group.query else "")
            for group in parts.groups
        ],
        "breakdown_plot": _shown_plot(choice, "breakdown", by=choice.by),
        "ways": [(way, choice.address("agreement", judge=judge, by=way) + "#by") for way in WAYS],
        "by": choice.by,
        "calibration": look.calibration(),
        "calibration_plot": _shown_plot(choice, "calibration"),
        "estimates": look.estimates() if look.pool else None,
    }


@require_GET
@never_cache
@staff_only
def plot(request: Request, slug: str, name: str, form: str, of: str = "pool") -> HttpResponse:
    """One plot: an SVG of a theme and a size, a PNG, or the CSV of its data."""
    choice = _choice(request, slug, of)
    drawn = choice.look.plot(name, by=choice.by)
    if drawn is None:
        raise Http404
    return plot_response(request, drawn, form, f"{slug}-{name}")


@require_GET
@never_cache
@staff_only
def pairs(request: Request, slug: str, of: str = "pool") -> HttpResponse:
    """The very pairs of a cell of the confusion matrix, or of a query."""
    choice = _choice(request, slug, of)
    chosen = choice.chosen
    if chosen is None:
        raise Http404
    first, said, query = (_number(request, name) for name in ("first", "said", "query"))
    look, scale = choice.look, choice.look.collection.scale
    cell = (first, said) if first is not None and said is not None else None
    if cell is None and query is None:
        raise Http404
    rows = cells.rows_of(look.sheet, look.answers, said=cell, query=query or 0)
    page = Paginator(rows, _PAIRS_A_PAGE).get_page(request.GET.get("page"))
    kept = {name: request.GET[name] for name in ("first", "said", "query") if name in request.GET}
    context = {
        "pool": look.pool,
        "collection": look.collection,
        "chosen": chosen,
        "reference": look.summary.reference,
        "side": look.summary.side,
        "first": in_language(scale.word(first)) if cell and first is not None else "",
        "said": in_language(scale.word(said)) if cell and said is not None else "",
        "page": page,
        "pairs": cells.shown(look.sheet, list(page), chosen.judge.pk),
        "back": choice.address("agreement", judge=str(chosen.judge.pk)),
        "turn": urlencode(choice.query | kept | {"judge": str(chosen.judge.pk)}),
    }
    return render(request, "agreement_pairs.html", context)


def _number(request: Request, name: str) -> int | None:
    return number_in(request.GET.get(name, ""))


@require_GET
@never_cache
@staff_only
def found(request: Request, slug: str) -> HttpResponse:
    """Per query the known positive beside the documents newly found relevant."""
    pool = pool_at(slug)
    sheet = sheet_of(pool=pool)
    page = Paginator(queries_with_found(sheet), _QUERIES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "pool": pool,
        "found": found_in(sheet, pool),
        "page": page,
        "turn": "",
        "evidence": read_evidence(sheet, list(page)),
    }
    return render(request, "found.html", context)


@require_GET
@never_cache
@staff_only
def found_file(_request: Request, slug: str, form: str) -> HttpResponse:
    pool = pool_at(slug)
    make, content_type = {
        "json": (as_json, "application/json"),
        "md": (as_markdown, "text/markdown; charset=utf-8"),
    }.get(form, (None, ""))
    if make is None:
        raise Http404
    return _download(make(sheet_of(pool=pool)), content_type, f"{slug}-found.{form}")


@require_GET
@never_cache
@staff_only
@mistakes_shown_at("agreement")
def report(request: Request, slug: str) -> HttpResponse:
    """The report as one file to keep; ``?form=md`` in Markdown."""
    pool = pool_at(slug)
    content = report_of(pool)
    if request.GET.get("form") == "md":
        return _download(report_as_markdown(content), "text/markdown; charset=utf-8", f"{slug}-report.md")
    # Not as HTML: the file has its styles inside, which no page of ours may; nor is it ever opened under our address.
    return _download(report_as_html(content), "application/octet-stream", f"{slug}-report.html")


def _download(content: str, content_type: str, filename: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)
