"""Where annotators work: home, judging, my judgments."""

from __future__ import annotations

import re
import uuid
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from judging.errors import UserError
from judging.models import Assignment, Judge, Judgment, Outcome, Pair, Pool
from judging.steps import serve
from judging.steps.judgments import Said
from judging.steps.known import known_documents
from judging.steps.lookup import judge_of
from judging.steps.pools import judged_by
from judging.steps.reading import reading
from judging.views.access import Request, redirect_of
from judging.views.guidelines import as_html

# Longer than anybody reads one document in one go; a clock that says more was wrong.
_SECONDS_AT_MOST = 3_600.0

# What the comment box takes too.
_COMMENT_AT_MOST = 4_000

# More digits are no grade and no key, and Python refuses to read thousands of them.
_NUMBER = re.compile(r"-?[0-9]{1,18}")


@require_GET
@never_cache
def home(request: Request) -> HttpResponse:
    """The pools that are open, each with the person's own progress."""
    annotator = judge_of(request.user)
    pools = [
        (pool, serve.progress(pool=pool, annotator=annotator))
        for pool in Pool.objects.filter(status=Pool.Status.OPEN).select_related("collection")
    ]
    return render(request, "home.html", {"pools": pools})


@require_GET
@never_cache
def judge(request: Request, slug: str) -> HttpResponse:
    """The next pair, or the one that ``?pair=`` names among the person's own."""
    pool = get_object_or_404(Pool.objects.select_related("collection"), slug=slug)
    annotator = judge_of(request.user)
    return _page(request, pool, annotator, _wanted(request, pool, annotator))


def _wanted(request: Request, pool: Pool, annotator: Judge) -> Pair | None:
    number = _number(request.GET.get("pair", ""))
    if number is None:
        return None
    held = Assignment.objects.filter(annotator=annotator, pair=OuterRef("pk"))
    # Judged elsewhere, so that it needed no slot here.
    judged = Judgment.objects.filter(judge=annotator, query=OuterRef("query"), document=OuterRef("document"))
    own = pool.pairs.filter(Exists(held) | Exists(judged)).select_related("query", "document")
    return get_object_or_404(own, pk=number)


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


@require_POST
def answer(request: Request, slug: str, pair_id: int) -> HttpResponse:
    """Store an answer; the page that comes back shows what was saved and holds the next pair."""
    pool, pair, annotator = _posted(request, slug, pair_id)
    try:
        judgment = serve.answer(pair=pair, annotator=annotator, said=_said(request))
    except UserError as error:
        return _page(request, pool, annotator, None, problem=str(error), status=409)
    if not request.htmx:
        return redirect_of(request, reverse("judge", args=[slug]))
    return _page(request, pool, annotator, None, saved=judgment)


@require_POST
def skip(request: Request, slug: str, pair_id: int) -> HttpResponse:
    pool, pair, annotator = _posted(request, slug, pair_id)
    try:
        serve.skip(pair=pair, annotator=annotator)
    except UserError as error:
        return _page(request, pool, annotator, None, problem=str(error), status=409)
    if not request.htmx:
        return redirect_of(request, reverse("judge", args=[slug]))
    return _page(request, pool, annotator, None, note=_("Put off; it comes again at the end."))


@require_POST
def heartbeat(request: Request, slug: str) -> HttpResponse:
    """An open page says that its reader is still there."""
    serve.renew(pool=get_object_or_404(Pool, slug=slug), annotator=judge_of(request.user))
    return HttpResponse(status=204)


@require_POST
def leave(request: Request, slug: str) -> HttpResponse:
    serve.release(pool=get_object_or_404(Pool, slug=slug), annotator=judge_of(request.user))
    return redirect_of(request, reverse("home"))


@require_GET
@never_cache
def mine(request: Request, slug: str) -> HttpResponse:
    """The person's own answers, newest first."""
    pool = get_object_or_404(Pool.objects.select_related("collection"), slug=slug)
    shown = request.GET.get("show", "")
    judgments = judged_by(
        pool=pool, annotator=judge_of(request.user), grade=_number(shown), commented=shown == "comment"
    )
    page = Paginator(judgments, 50).get_page(request.GET.get("page"))
    keys = {(judgment.query_id, judgment.document_id) for judgment in page}
    pairs = pool.pairs.filter(query__in=[q for q, _ in keys], document__in=[d for _, d in keys])
    pair_of = {(query, document): pk for pk, query, document in pairs.values_list("pk", "query", "document")}
    rows = [(judgment, pair_of[judgment.query_id, judgment.document_id]) for judgment in page]
    return render(
        request,
        "mine.html",
        {"pool": pool, "page": page, "rows": rows, "shown": shown, "grades": list(pool.collection.scale)},
    )


def _posted(request: Request, slug: str, pair_id: int) -> tuple[Pool, Pair, Judge]:
    pair = get_object_or_404(
        Pair.objects.select_related("pool__collection", "query", "document"), pk=pair_id, pool__slug=slug
    )
    return pair.pool, pair, judge_of(request.user)


def _said(request: Request) -> Said:
    """What the form says; ``answer`` is a grade or ``cannot_judge``."""
    given = request.POST.get("answer", "")
    comment = _comment(request.POST.get("comment", ""))
    key = _key(request.POST.get("key", ""))
    seconds = _seconds(request.POST.get("seconds", ""))
    if given == Outcome.CANNOT_JUDGE:
        return Said(outcome=given, comment=comment, seconds=seconds, key=key)
    if (grade := _number(given)) is None:
        raise UserError(_("No grade was chosen; nothing was saved."))
    return Said(outcome=Outcome.GRADED.value, grade=grade, comment=comment, seconds=seconds, key=key)


def _comment(text: str) -> str:
    """Line ends as everywhere else; without NUL, which PostgreSQL does not take."""
    comment = text.replace("\r\n", "\n").replace("\0", "").strip()
    if len(comment) > _COMMENT_AT_MOST:
        raise UserError(
            _("The comment has %(found)s characters, and at most %(most)s are kept; nothing was saved.")
            % {"found": len(comment), "most": _COMMENT_AT_MOST}
        )
    return comment


def _key(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return min(seconds, _SECONDS_AT_MOST) if 0 < seconds < float("inf") else None


def _page(
    request: Request,
    pool: Pool,
    annotator: Judge,
    pair: Pair | None,
    *,
    saved: Judgment | None = None,
    problem: str = "",
    note: str = "",
    status: int = 200,
) -> HttpResponse:
    """The judging page, or its changing part alone for htmx; ``pair`` None takes the next one."""
    if pair is None and pool.is_open:
        pair = serve.next_pair(pool=pool, annotator=annotator)
    context: dict[str, Any] = {
        "pool": pool,
        "progress": serve.progress(pool=pool, annotator=annotator),
        "previous": serve.previous_pair(pool=pool, annotator=annotator, before=pair),
        "pair": pair,
        "problem": problem,
        "note": note or (_saved_note(saved, pool) if saved else ""),
        "guidelines": as_html(pool.guidelines),
        "swapped": bool(request.htmx),
    }
    if pair is not None:
        context |= _pair_context(pool, pair, annotator)
    template = "judge.html#judging" if request.htmx else "judge.html"
    return render(request, template, context, status=status)


def _saved_note(judgment: Judgment, pool: Pool) -> str:
    word = _("cannot judge") if judgment.grade is None else pool.collection.scale.word(judgment.grade)
    return _("Saved: %(word)s") % {"word": word}


def _pair_context(pool: Pool, pair: Pair, annotator: Judge) -> dict[str, Any]:
    collection = pool.collection
    before = Judgment.objects.filter(judge=annotator, query=pair.query_id, document=pair.document_id).first()
    known = known_documents([pair.query]).get(pair.query_id, []) if pool.show_known else []
    dots = serve.query_pairs(pair=pair, annotator=annotator)
    return {
        "reading": reading(document=pair.document, query=pair.query, collection=collection),
        "known": [reading(document=document, query=pair.query, collection=collection) for document in known[:1]],
        "grades": list(collection.scale),
        "before": before,
        "comment": before.comment if before else "",
        "dots": dots,
        "position": next((n for n, dot in enumerate(dots, 1) if dot.state == "current"), 1),
        "key": uuid.uuid4(),
    }
