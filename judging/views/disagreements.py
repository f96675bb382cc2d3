"""Where judges differ, and the lead's last word on it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from judging.errors import UserError
from judging.models import Document, Judge, Judgment, Pair, Pool, Query
from judging.steps.adjudicate import adjudicate, previous_adjudicated
from judging.steps.disagreements import LLM, OPEN, PEOPLE, SETTLED, Choice, Disagreement, judges_of, said_of
from judging.steps.disagreements import disagreements as differing
from judging.steps.known import known_documents
from judging.steps.reading import reading
from judging.views.access import Request, pool_at, redirect_of, staff_only
from judging.views.answers import number_in, said_in
from judging.views.words import in_language

PAIRS_A_PAGE = 25


@require_GET
@never_cache
@staff_only
def disagreements(request: Request, slug: str) -> HttpResponse:
    """The pairs on which judges differ, the most surprising first."""
    pool = pool_at(slug)
    choice = _choice(request)
    everything = differing(pool=pool, choice=replace(choice, state=""))
    rows = [one for one in everything if one.settled == (choice.state == SETTLED)]
    page = Paginator(rows, PAIRS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "pool": pool,
        "choice": choice,
        "judges": judges_of(pool),
        "open_count": sum(not one.settled for one in everything),
        "settled_count": sum(one.settled for one in everything),
        "page": page,
        "rows": _with_texts(list(page)),
        "query_string": _query_string(choice),
    }
    return render(request, "disagreements.html", context)


@dataclass(frozen=True, slots=True)
class Row:
    disagreement: Disagreement
    query: Query
    document: Document
    said: list[Judgment]


def _with_texts(shown: list[Disagreement]) -> list[Row]:
    """The rows of one page, in three queries however many there are."""
    queries = Query.objects.in_bulk([one.query_id for one in shown])
    documents = Document.objects.in_bulk([one.document_id for one in shown])
    judgments = (
        Judgment.objects.filter(query__in=queries, document__in=documents)
        .exclude(judge__kind=Judge.Kind.QRELS)
        .select_related("judge")
        .order_by("-judge__kind", "judge__name", "pk")
    )
    said: dict[tuple[int, int], list[Judgment]] = {one.key: [] for one in shown}
    for judgment in judgments:
        # The two lists cross, so there are judgments of pairs that are not shown.
        said.get((judgment.query_id, judgment.document_id), []).append(judgment)
    return [Row(one, queries[one.query_id], documents[one.document_id], said[one.key]) for one in shown]


@require_GET
@never_cache
@staff_only
def adjudication(request: Request, slug: str) -> HttpResponse:
    """The pair that ``?pair=`` names, or the one after ``?after=``, or the most surprising one."""
    pool = pool_at(slug)
    pair = None
    if (number := number_in(request.GET.get("pair", ""))) is not None:
        pair = get_object_or_404(pool.pairs.select_related("query", "document"), pk=number)
    return _page(request, pool, pair, after=number_in(request.GET.get("after", "")))


@require_POST
@staff_only
def verdict(request: Request, slug: str, pair_id: int) -> HttpResponse:
    """Store the verdict; the page that comes back holds the next pair."""
    pair = get_object_or_404(
        Pair.objects.select_related("pool__collection", "query", "document"), pk=pair_id, pool__slug=slug
    )
    try:
        judgment = adjudicate(pair=pair, by=request.user, said=replace(said_in(request), seconds=None))
    except UserError as error:
        return _page(request, pair.pool, pair, problem=str(error), status=409)
    if not request.htmx:
        choice = _query_string(_choice(request))
        return redirect_of(request, f"{reverse('adjudication', args=[slug])}?after={pair.pk}{choice}")
    return _page(request, pair.pool, None, after=pair.pk, note=_note(judgment, pair.pool))


def _note(judgment: Judgment, pool: Pool) -> str:
    if judgment.grade is None:
        return _("Saved: left undecided")
    return _("Saved: %(word)s") % {"word": in_language(pool.collection.scale.word(judgment.grade))}


def _page(
    request: Request,
    pool: Pool,
    pair: Pair | None,
    *,
    after: int | None = None,
    problem: str = "",
    note: str = "",
    status: int = 200,
) -> HttpResponse:
    """The adjudication page, or its changing part alone for htmx; ``pair`` None takes the one after ``after``."""
    choice = _choice(request)
    everything = differing(pool=pool, choice=replace(choice, state=""))
    wanted = [one.pair_id for one in everything if one.settled == (choice.state == SETTLED)]
    if pair is None:
        pair = _next(pool, [one.pair_id for one in everything], wanted, after)
    context: dict[str, Any] = {
        "pool": pool,
        "pair": pair,
        "choice": choice,
        "left": len(wanted),
        "previous": previous_adjudicated(pool=pool, by=request.user, before=pair),
        "problem": problem,
        "note": note,
        "query_string": _query_string(choice),
        "swapped": bool(request.htmx),
    }
    if pair is not None:
        context |= _pair_context(pool, pair, next((one for one in everything if one.pair_id == pair.pk), None))
    return render(
        request, "adjudicate.html#adjudicating" if request.htmx else "adjudicate.html", context, status=status
    )


def _next(pool: Pool, everything: list[int], wanted: list[int], after: int | None) -> Pair | None:
    """The first wanted pair behind ``after`` in the order of surprise; the very first where there is none to pass."""
    behind = everything.index(after) + 1 if after in everything else 0
    rest = set(everything[behind:])
    number = next((pk for pk in wanted if pk in rest), None)
    return None if number is None else pool.pairs.select_related("query", "document").get(pk=number)


def _pair_context(pool: Pool, pair: Pair, disagreement: Disagreement | None) -> dict[str, Any]:
    collection = pool.collection
    known = known_documents([pair.query]).get(pair.query_id, [])
    said = said_of(pair)
    verdicts = [one for one in said if one.judge.kind == Judge.Kind.ADJUDICATION]
    return {
        "reading": reading(document=pair.document, query=pair.query, collection=collection),
        "known": [reading(document=document, query=pair.query, collection=collection) for document in known],
        "scale": collection.scale,
        "said": [one for one in said if one.judge.kind != Judge.Kind.ADJUDICATION],
        "verdicts": verdicts,
        "before": verdicts[0] if verdicts else None,
        "chosen": verdicts[0].grade if verdicts else None,
        "comment": verdicts[0].comment if verdicts else "",
        "disagreement": disagreement,
        "key": uuid.uuid4(),
    }


def _choice(request: Request) -> Choice:
    """The filters in the address; what they do not know is no filter."""
    between, state = request.GET.get("between", ""), request.GET.get("state", "")
    return Choice(
        between=between if between in {PEOPLE, LLM} else "",
        judge=number_in(request.GET.get("judge", "")),
        state=SETTLED if state == SETTLED else OPEN,
    )


def _query_string(choice: Choice) -> str:
    """The filters, to be put behind another parameter: empty, or it begins with ``&``."""
    fields = {
        "between": choice.between,
        "judge": choice.judge,
        "state": choice.state if choice.state == SETTLED else "",
    }
    given = {name: value for name, value in fields.items() if value not in {"", None}}
    return f"&{urlencode(given)}" if given else ""
