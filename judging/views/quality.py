"""How far an LLM's judgments of a pool can be trusted, for the lead; and calibrating it with people's labels."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from judging.models import Judge, Outcome, Pool
from judging.steps.agreement import figures
from judging.steps.calibrate import calibrate as calibrate_judge
from judging.steps.quality.content import Said, llms_of, quality_of
from judging.steps.quality.counts import OUTSIDE_BOUND
from judging.steps.quality.figures import NAMES, plot_of
from judging.views.access import Request, mistakes_shown_at, pool_at, redirect_of, staff_only
from judging.views.plots import ShownPlot, plot_response, shown_plot

# An LLM does not say that it cannot judge.
_SHOWN = (Outcome.GRADED, Outcome.OUT_OF_SCALE, Outcome.UNPARSED, Outcome.FAILED)


@require_GET
@never_cache
@staff_only
def quality(request: Request, slug: str, judge_id: int | None = None) -> HttpResponse:
    """Of one LLM; without a number, of that with most judgments in the pool."""
    pool = pool_at(slug)
    llms = llms_of(pool)
    judge = _judge(judge_id) if judge_id is not None else next(iter(llms), None)
    context: dict[str, Any] = {"pool": pool, "judge": judge, "llms": llms, "bound": OUTSIDE_BOUND}
    if judge is not None:
        found = quality_of(pool, judge)
        context |= {"quality": found, "said": found.said, "base": _base(judge)}
        if found.said:
            context |= _shown(pool, judge, found.said)
    return render(request, "quality.html", context)


def _shown(pool: Pool, judge: Judge, said: Said) -> dict[str, Any]:
    plots = {name: _plot(pool, judge, said, name) for name in NAMES}
    return {
        "outcomes": [(label, said.outcomes.get(outcome, 0)) for outcome, label in Outcome.choices if outcome in _SHOWN],
        "lines": figures.lines(said.compared.panel, said.people, said.compared.scale),
        "plots": plots,
        "calibration": said.calibration,
        "calibration_plot": plots["reliability"],
    }


def _plot(pool: Pool, judge: Judge, said: Said, name: str) -> ShownPlot | None:
    drawn = plot_of(said, name)
    if drawn is None:
        return None

    def address(form: str, **query: str) -> str:
        path = reverse("quality-plot", args=[pool.slug, judge.pk, name, form])
        return f"{path}?{urlencode(query)}" if query else path

    return shown_plot(drawn, address)


@require_GET
@never_cache
@staff_only
def plot(request: Request, slug: str, judge_id: int, name: str, form: str) -> HttpResponse:
    said = quality_of(pool_at(slug), _judge(judge_id)).said
    drawn = plot_of(said, name) if said else None
    if drawn is None:
        raise Http404
    return plot_response(request, drawn, form, f"{slug}-quality-{name}")


@require_POST
@staff_only
@mistakes_shown_at("quality")
def calibrate(request: Request, slug: str, judge_id: int) -> HttpResponse:
    """Make the calibrated judge, and show it."""
    pool = pool_at(slug)
    report = calibrate_judge(pool=pool, judge=_judge(judge_id))
    if not report.changed:
        said = _("These very labels made this judge before: nothing has changed.")
    else:
        said = ngettext(
            "The calibrated judge has %(count)s new judgment.",
            "The calibrated judge has %(count)s new judgments.",
            report.changed,
        ) % {"count": report.changed}
    messages.success(request, said)
    return redirect_of(request, reverse("quality", args=[slug, report.judge.pk]))


def _judge(number: int) -> Judge:
    return get_object_or_404(Judge, kind=Judge.Kind.LLM, pk=number)


def _base(judge: Judge) -> Judge | None:
    """The judge that a calibrated one was made of, where it is known here."""
    base = judge.configuration.get("base") if judge.is_calibrated else None
    if not base:
        return None
    return Judge.objects.filter(kind=Judge.Kind.LLM, name=base["name"], fingerprint=base["fingerprint"]).first()
