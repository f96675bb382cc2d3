"""What the lead sees of collections: their figures, agreement, before and after, export."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from judging.models import Collection, Judge
from judging.steps.evaluate import compare
from judging.steps.export import export_zip
from judging.steps.export_files import JUDGMENTS, Content
from judging.steps.facts import facts, next_thing, run_table
from judging.steps.merge import Policy, llm_judges_of, merge
from judging.steps.pools import pool_progress
from judging.views.access import Request, mistakes_shown_at, staff_only

MEASURES = ("judged@10", "nDCG@10")


@require_GET
@never_cache
@staff_only
def overview(request: Request) -> HttpResponse:
    """Every collection with its state and the next thing to do."""
    rows = [
        (collection, facts(collection), list(collection.pools.all()), next_thing(collection))
        for collection in Collection.objects.prefetch_related("pools")
    ]
    return render(request, "overview.html", {"rows": rows})


@require_GET
@never_cache
@staff_only
def collection(request: Request, slug: str) -> HttpResponse:
    found = get_object_or_404(Collection, slug=slug)
    figures = facts(found)
    context = {
        "collection": found,
        "facts": figures,
        "grades": [(grade, found.scale.word(grade), count) for grade, count in figures.grades.items()],
        "runs": run_table(found, MEASURES),
        "pools": [(pool, pool_progress(pool)) for pool in found.pools.all()],
        "next": next_thing(found),
    }
    return render(request, "collection.html", context)


@require_GET
@never_cache
@staff_only
@mistakes_shown_at("collection")
def evaluation(request: Request, slug: str) -> HttpResponse:
    """Every run before and after, under the policy that the form chooses."""
    found = get_object_or_404(Collection, slug=slug)
    policy, choice = _policy(request, found)
    result = compare(collection=found, measures=["nDCG@10", "judged@10"], policy=policy)
    return render(request, "evaluation.html", {"collection": found, "result": result, **choice})


@require_GET
@never_cache
@staff_only
def export(request: Request, slug: str) -> HttpResponse:
    """Choose a policy, see what it gives; the download has the same choice in its address."""
    found = get_object_or_404(Collection, slug=slug)
    policy, choice = _policy(request, found)
    merged = merge(collection=found, policy=policy)
    grades = [grade.value for grade in found.scale]
    grades = sorted({*grades, *(grade for counts in merged.counts.values() for grade in counts)})
    context = {
        "collection": found,
        "grades": [(grade, found.scale.word(grade)) for grade in grades],
        "counts": [
            (source, [counts[grade] for grade in grades], counts.total()) for source, counts in merged.counts.items()
        ],
        "total": len(merged.grades),
        "unresolved": merged.unresolved[:50],
        "unresolved_count": len(merged.unresolved),
        "content": _content(request),
        "forms": [("jsonl", _("JSON lines")), ("csv", _("CSV, for spreadsheets")), ("parquet", _("Parquet"))],
        **choice,
    }
    return render(request, "export.html#counts" if request.htmx else "export.html", context)


@require_GET
@never_cache
@staff_only
@mistakes_shown_at("export")
def export_download(request: Request, slug: str) -> StreamingHttpResponse:
    """The zip, sent while it is made: the first bytes come at once, however large the corpus."""
    found = get_object_or_404(Collection, slug=slug)
    policy = _policy(request, found)[0]
    name, pieces = export_zip(collection=found, policy=policy, content=_content(request))
    headers = {"Content-Type": "application/zip", "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(pieces, headers=headers)


def _content(request: Request) -> Content:
    """What the zip holds by the address; a form or layout that there is not is left out."""
    forms = tuple(form for form in JUDGMENTS if form in request.GET.getlist("judgments"))
    layout = "beir" if request.GET.get("layout") == "beir" else "qrels"
    return Content(layout, formats=None, judgments=forms or Content().judgments)


def _policy(request: Request, found: Collection) -> tuple[Policy, dict[str, Any]]:
    """The policy in the address, and what the form needs to show it."""
    judges = llm_judges_of(found)
    wanted = set(request.GET.getlist("llm"))
    chosen: tuple[Judge, ...] = tuple(judge for judge in judges if str(judge.pk) in wanted)
    policy = Policy(llm=chosen, duplicates="no_duplicates" not in request.GET)
    return policy, {"policy": policy, "judges": judges, "query_string": request.GET.urlencode()}
