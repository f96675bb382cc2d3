"""Agreement, for the lead: the panel, its plots, the pairs behind a number, what people found, the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from judging.measures.calibration import Calibration
from judging.models import Collection, Pool
from judging.steps import plots
from judging.steps.agree import Agreement, agreement_of, sheet_of
from judging.steps.agreement import cells, figures
from judging.steps.agreement.breakdown import WAYS, breakdown
from judging.steps.agreement.calibrated import calibration
from judging.steps.agreement.compare import LlmAgreement, each_person, side_by_side
from judging.steps.agreement.estimate import estimates, purchases
from judging.steps.agreement.evidence import as_json, as_markdown, queries_with_found, read_evidence
from judging.steps.agreement.sheet import Answers
from judging.steps.plots.theme import THEMES, WIDTHS
from judging.steps.probes import agreement_with_themselves
from judging.steps.report import as_html as report_as_html
from judging.steps.report import as_markdown as report_as_markdown
from judging.steps.report import report_of
from judging.views.access import Request, mistakes_shown_at, staff_only
from judging.views.words import in_language

_PAIRS_A_PAGE = 10
_QUERIES_A_PAGE = 10
_MORE_LABELS = 50
_TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address asks for: which judge is looked at, against what, broken down by what."""

    of: str
    slug: str
    result: Agreement
    chosen: LlmAgreement | None
    by: str
    query: dict[str, str]

    @property
    def answers(self) -> Answers:
        assert self.chosen is not None
        return self.result.sheet.llm(self.chosen.judge.pk)

    def address(self, page: str, *arguments: str, **changed: str) -> str:
        name = page if self.of == "pool" else f"collection-{page}"
        query = urlencode(self.query | changed)
        return reverse(name, args=[self.slug, *arguments]) + (f"?{query}" if query else "")


def _choice(request: Request, slug: str, of: str) -> Choice:
    wanted = request.GET
    reference = wanted.get("reference", "")
    sheet = sheet_of(
        pool=get_object_or_404(Pool.objects.select_related("collection"), slug=slug) if of == "pool" else None,
        collection=get_object_or_404(Collection, slug=slug) if of == "collection" else None,
        reference=reference if reference in {"people", "qrels"} else None,
        clip="clip" in wanted,
    )
    result = agreement_of(sheet)
    chosen = _judge(result, wanted.get("judge", ""))
    by = wanted.get("by", "")
    query = {name: wanted[name] for name in ("reference", "clip") if name in wanted}
    if chosen and "judge" in wanted:
        query["judge"] = str(chosen.judge.pk)
    return Choice(of, slug, result, chosen, by if by in WAYS else WAYS[0], query)


def _judge(result: Agreement, wanted: str) -> LlmAgreement | None:
    """The judge that is asked for; else the one with most pairs, the first of them."""
    if wanted:
        found = next((one for one in result.llms if str(one.judge.pk) == wanted), None)
        if found is None:
            raise Http404
        return found
    return max(result.llms, key=lambda one: one.panel.pairs, default=None)


@dataclass(frozen=True, slots=True)
class ShownPlot:
    """A plot on a page, and its addresses: by theme and size, and to download."""

    plot: plots.Plot
    light: str
    light_small: str
    dark: str
    dark_small: str
    svg: str
    png: str
    csv: str


def _shown_plot(choice: Choice, name: str, plot: plots.Plot, **query: str) -> ShownPlot:
    if choice.chosen:
        query["judge"] = str(choice.chosen.judge.pk)
    images = [
        choice.address("agreement-plot", name, "svg", **query, theme=theme, size=size)
        for theme in THEMES
        for size in WIDTHS
    ]
    downloads = [choice.address("agreement-plot", name, form, **query) for form in _TYPES]
    return ShownPlot(plot, *images, *downloads)


@require_GET
@never_cache
@staff_only
def agreement(request: Request, slug: str, of: str = "pool") -> HttpResponse:
    choice = _choice(request, slug, of)
    result, chosen, sheet = choice.result, choice.chosen, choice.result.sheet
    context: dict[str, Any] = {
        "of": of,
        "pool": result.pool,
        "collection": result.collection,
        "result": result,
        "scale": sheet.scale,
        "chosen": chosen,
        "is_weighted": sheet.weights is not None,
        "persons": each_person(sheet) if result.annotators > 1 else [],
        "ceiling_lines": figures.lines(result.people, None, sheet.scale) if result.people else [],
        "selves": agreement_with_themselves(pool=result.pool) if result.pool else [],
        "purchases": purchases(sheet, _MORE_LABELS) if result.pool else [],
        "more_labels": _MORE_LABELS,
    }
    if chosen:
        context |= _of_judge(choice, chosen)
    return render(request, "agreement.html", context)


def _of_judge(choice: Choice, chosen: LlmAgreement) -> dict[str, Any]:
    result, sheet, answers = choice.result, choice.result.sheet, choice.answers
    parts = breakdown(sheet, answers, choice.by)
    calibrated = calibration(sheet, answers)
    judge = str(chosen.judge.pk)
    return {
        "coefficients": figures.lines(chosen.panel, result.people, sheet.scale),
        "coefficients_plot": _shown_plot(
            choice, "coefficients", figures.coefficients_plot(chosen, result.people, result.reference)
        ),
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
            (beside, choice.address("agreement", judge=str(beside.compared.judge.pk)))
            for beside in side_by_side(sheet, result.llms, chosen.judge)
        ],
        "judges_plot": _shown_plot(choice, "judges", figures.judges_plot(result)) if len(result.llms) > 1 else None,
        "breakdown": parts,
        "groups": [
            (group, choice.address("agreement-pairs", judge=judge, query=str(group.query)) if group.query else "")
            for group in parts.groups
        ],
        "breakdown_plot": _shown_plot(choice, "breakdown", figures.breakdown_plot(parts), by=choice.by)
        if parts.groups
        else None,
        "ways": [(way, choice.address("agreement", judge=judge, by=way) + "#by") for way in WAYS],
        "by": choice.by,
        "calibration": calibrated,
        "calibration_plot": _shown_plot(choice, "calibration", figures.calibration_plot(calibrated, chosen.judge.name))
        if calibrated and calibrated.pairs
        else None,
        "estimates": estimates(sheet, answers) if result.pool else None,
    }


@require_GET
@never_cache
@staff_only
def plot(request: Request, slug: str, name: str, form: str, of: str = "pool") -> HttpResponse:
    """One plot: an SVG of a theme and a size, a PNG, or the CSV of its data."""
    if form not in _TYPES:
        raise Http404
    choice = _choice(request, slug, of)
    drawn = _drawn(choice, name)
    theme = request.GET.get("theme", "light")
    theme = theme if theme in THEMES else "light"
    size = request.GET.get("size", "wide")
    content: str | bytes
    match form:
        case "svg":
            content = plots.as_svg(drawn, theme=theme, size=size if size in WIDTHS else "wide")
        case "png":
            content = plots.as_png(drawn, theme=theme)
        case _:
            content = plots.as_csv(drawn)
    shown_in_page = "size" in request.GET
    disposition = {} if shown_in_page else {"Content-Disposition": f'attachment; filename="{slug}-{name}.{form}"'}
    return HttpResponse(content, content_type=_TYPES[form], headers=disposition)


def _drawn(choice: Choice, name: str) -> plots.Plot:
    result, chosen = choice.result, choice.chosen
    if chosen is None:
        raise Http404
    match name:
        case "coefficients":
            return figures.coefficients_plot(chosen, result.people, result.reference)
        case "judges":
            return figures.judges_plot(result)
        case "breakdown":
            return figures.breakdown_plot(breakdown(result.sheet, choice.answers, choice.by))
        case "calibration":
            calibrated: Calibration | None = calibration(result.sheet, choice.answers)
            if calibrated:
                return figures.calibration_plot(calibrated, chosen.judge.name)
    raise Http404


@require_GET
@never_cache
@staff_only
def pairs(request: Request, slug: str, of: str = "pool") -> HttpResponse:
    """The very pairs of a cell of the confusion matrix, or of a query."""
    choice = _choice(request, slug, of)
    chosen = choice.chosen
    if chosen is None:
        raise Http404
    first, said, query = (_whole(request, name) for name in ("first", "said", "query"))
    scale = choice.result.sheet.scale
    cell = (first, said) if first is not None and said is not None else None
    if cell is None and query is None:
        raise Http404
    rows = cells.rows_of(choice.result.sheet, choice.answers, said=cell, query=query or 0)
    page = Paginator(rows, _PAIRS_A_PAGE).get_page(request.GET.get("page"))
    kept = {name: request.GET[name] for name in ("first", "said", "query") if name in request.GET}
    context = {
        "pool": choice.result.pool,
        "collection": choice.result.collection,
        "chosen": chosen,
        "reference": choice.result.reference,
        "first": in_language(scale.word(first)) if cell and first is not None else "",
        "said": in_language(scale.word(said)) if cell and said is not None else "",
        "page": page,
        "pairs": cells.shown(choice.result.sheet, list(page), chosen.judge.pk),
        "back": choice.address("agreement", judge=str(chosen.judge.pk)),
        "turn": urlencode(choice.query | kept | {"judge": str(chosen.judge.pk)}),
    }
    return render(request, "agreement_pairs.html", context)


def _whole(request: Request, name: str) -> int | None:
    text = request.GET.get(name, "")
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else None


@require_GET
@never_cache
@staff_only
def found(request: Request, slug: str) -> HttpResponse:
    """Per query the known positive beside the documents newly found relevant."""
    pool = get_object_or_404(Pool.objects.select_related("collection"), slug=slug)
    result = agreement_of(sheet_of(pool=pool))
    page = Paginator(queries_with_found(result.sheet), _QUERIES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "pool": pool,
        "result": result,
        "page": page,
        "turn": "",
        "evidence": read_evidence(result.sheet, list(page)),
    }
    return render(request, "found.html", context)


@require_GET
@never_cache
@staff_only
def found_file(_request: Request, slug: str, form: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("collection"), slug=slug)
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
    pool = get_object_or_404(Pool.objects.select_related("collection"), slug=slug)
    content = report_of(pool)
    if request.GET.get("form") == "md":
        return _download(report_as_markdown(content), "text/markdown; charset=utf-8", f"{slug}-report.md")
    # Not as HTML: the file has its styles inside, which no page of ours may; nor is it ever opened under our address.
    return _download(report_as_html(content), "application/octet-stream", f"{slug}-report.html")


def _download(content: str, content_type: str, filename: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)
