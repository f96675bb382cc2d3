"""Documents of one text, or nearly one, whose judgments do not go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from judging.errors import UserError
from judging.models import Collection, Document, Query
from judging.steps.duplicates import Group, GroupJudgments, near_takes_long
from judging.steps.duplicates import duplicates as groups_of
from judging.views.access import Request, mistakes_shown_at, staff_only

GROUPS_A_PAGE = 20
_DOCUMENTS_SHOWN = 10


@require_GET
@never_cache
@staff_only
@mistakes_shown_at("duplicates")
def duplicates(request: Request, slug: str) -> HttpResponse:
    """The groups whose grades conflict, or of which one is judged and another is not; near ones on demand."""
    collection = get_object_or_404(Collection, slug=slug)
    near = _near(request, collection)
    groups = groups_of(collection=collection, near=near)
    found = {
        "conflicts": [group for group in groups if group.conflicts],
        "incomplete": [group for group in groups if group.incomplete],
    }
    show = request.GET.get("show", "")
    if show not in found:
        show = "conflicts" if found["conflicts"] else "incomplete"
    page = Paginator(found[show], GROUPS_A_PAGE).get_page(request.GET.get("page"))
    chosen = {} if near is None else {"near": f"{near:g}"}
    context = {
        "collection": collection,
        "near": near,
        "threshold": f"{near or settings.NEAR_DUPLICATES:g}",
        "groups": len(groups),
        "documents": sum(len(group.documents) for group in groups),
        "filters": [
            (
                _("Grades that conflict"),
                len(found["conflicts"]),
                urlencode({**chosen, "show": "conflicts"}),
                show == "conflicts",
            ),
            (
                _("One judged, another not"),
                len(found["incomplete"]),
                urlencode({**chosen, "show": "incomplete"}),
                show == "incomplete",
            ),
        ],
        "page": page,
        "rows": _rows(collection, list(page), show),
        "query_string": "&" + urlencode({**chosen, "show": show}),
    }
    return render(request, "duplicates.html", context)


def _near(request: Request, collection: Collection) -> float | None:
    """The threshold in the address, None where near duplicates are not asked for."""
    text = request.GET.get("near", "").strip()
    if not text:
        return None
    try:
        near = float(text)
    except ValueError:
        near = 0.0
    if not 0 < near <= 1:
        raise UserError(_("A threshold of resemblance lies above 0 and is at most 1; found %(text)s.") % {"text": text})
    if near_takes_long(collection, near):
        raise UserError(
            _(
                "So many texts are compared by a command; once it has run, this page shows what it found. "
                "Run: python manage.py duplicates %(slug)s --near %(near)s"
            )
            % {"slug": collection.slug, "near": f"{near:g}"}
        )
    return near


@dataclass(frozen=True, slots=True)
class _Row:
    """A group as it is shown: its first documents, and the queries for which it does not go together."""

    group: Group
    documents: list[tuple[str, Document]]
    more: int
    queries: list[tuple[Query, list[tuple[str, int | None]]]]


def _rows(collection: Collection, groups: list[Group], show: str) -> list[_Row]:
    queries_of = {id(group): group.conflicts if show == "conflicts" else group.incomplete for group in groups}
    qids = {one.query for found in queries_of.values() for one in found}
    docids = {docid for group in groups for docid in group.documents[:_DOCUMENTS_SHOWN]}
    queries = {query.qid: query for query in collection.queries.filter(qid__in=qids)}
    documents = {document.docid: document for document in collection.documents.filter(docid__in=docids)}
    return [
        _Row(
            group,
            [(docid, documents[docid]) for docid in group.documents[:_DOCUMENTS_SHOWN]],
            max(len(group.documents) - _DOCUMENTS_SHOWN, 0),
            [(queries[one.query], _said(one)) for one in queries_of[id(group)]],
        )
        for group in groups
    ]


def _said(judgments: GroupJudgments) -> list[tuple[str, int | None]]:
    """Each document with its grade, the graded ones first."""
    graded: list[tuple[str, Any]] = sorted(judgments.grades.items())
    return [*graded, *((docid, None) for docid in judgments.unjudged[:_DOCUMENTS_SHOWN])]
