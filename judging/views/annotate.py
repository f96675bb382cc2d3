"""Where annotators work: home, judging, my judgments."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from judging.errors import UserError
from judging.models import Judge, Judgment, Outcome, Pair, Pool, TrainingPair
from judging.steps import probes, reveal, serve, standing, training, turn
from judging.steps.lookup import judge_of, pair_to_judge
from judging.steps.pools import judged_by
from judging.steps.turn import Turn
from judging.views.access import Request, pool_at, pool_of, redirect_of, refuse_stranger
from judging.views.answers import key_in, number_in, said_in
from judging.views.judging_page import Shown, is_own, page, unsaved_of, url_of, word_of


@require_GET
@never_cache
def home(request: Request) -> HttpResponse:
    """The pools that are open, each with the person's own progress; first where they stopped."""
    return render(request, "home.html", {"pools": standing.open_pools(judge_of(request.user))})


@require_GET
@never_cache
def judge(request: Request, slug: str) -> HttpResponse:
    """What comes next, or what ``?pair=`` or ``?training=`` names among the person's own."""
    annotator = judge_of(request.user)
    pool = pool_of(annotator, slug)
    wanted = _wanted(request, pool, annotator)
    saved = _just_saved(request, pool, annotator)
    labels = reveal.revealed(pool=pool, judgment=saved) if saved else []
    return page(request, pool, annotator, Shown(wanted, saved=saved, labels=labels))


def _wanted(request: Request, pool: Pool, annotator: Judge) -> Turn | None:
    if (number := number_in(request.GET.get("training", ""))) is not None:
        trained = training.answered_pair(pool=pool, annotator=annotator, pair_id=number)
        return Turn(training=trained) if trained else None
    if (number := number_in(request.GET.get("pair", ""))) is None:
        return None
    pair = get_object_or_404(pool.pairs.select_related("query", "document"), pk=number)
    if not is_own(pair, annotator):
        raise Http404
    again = probes.own(pair=pair, annotator=annotator) if "turn" in request.GET else None
    return Turn.again(again) if again else Turn(pair)


def _just_saved(request: Request, pool: Pool, annotator: Judge) -> Judgment | None:
    """What a plain form has saved, where the pool reveals LLM labels."""
    number = number_in(request.GET.get("saved", "")) if pool.reveal else None
    pair = pool.pairs.filter(pk=number).first() if number is not None else None
    if pair is None:
        return None
    return Judgment.objects.filter(judge=annotator, query=pair.query_id, document=pair.document_id).first()


@require_POST
def answer(request: Request, slug: str, pair_id: int) -> HttpResponse:
    """Store an answer; the page that comes back shows what was saved and holds the next pair."""
    pool, pair, annotator = _posted(request, slug, pair_id)
    try:
        said = turn.answer(pair=pair, annotator=annotator, said=said_in(request))
    except UserError as error:
        return _refused(request, pool, annotator, Turn(pair), error)
    saved = said if isinstance(said, Judgment) else None
    labels = reveal.reveal(pool=pool, judgment=saved) if saved else []
    if not request.htmx:
        return redirect_of(request, reverse("judge", args=[slug]) + (f"?saved={pair.pk}" if labels else ""))
    note = _("Saved: %(word)s") % {"word": word_of(pool, said)}
    shown = Shown(note=note, saved=saved, labels=labels, beyond=number_in(request.POST.get("beyond", "")))
    return page(request, pool, annotator, shown)


def _refused(request: Request, pool: Pool, annotator: Judge, asked: Turn, error: UserError) -> HttpResponse:
    """What cannot be saved is said, and repeated: in its own form where it can be mended there, else to be copied."""
    action = request.path if isinstance(error, serve.PoolNotOpenError) else ""
    unsaved = unsaved_of(request, pool, asked, action=action)
    is_gone = isinstance(error, serve.PoolNotOpenError | serve.LeaseLostError) or not pool.is_open
    if not is_gone and (asked.training or (asked.pair and is_own(asked.pair, annotator))):
        shown = Shown(asked, problem=str(error), comment=unsaved.comment, status=409)
    else:
        shown = Shown(problem=str(error), unsaved=unsaved, status=409)
    return page(request, pool, annotator, shown)


@require_POST
def train(request: Request, slug: str, pair_id: int) -> HttpResponse:
    """Take the answer to a training pair; the page that comes back says whether it was right, and why."""
    annotator = judge_of(request.user)
    pool = pool_of(annotator, slug)
    pairs = TrainingPair.objects.filter(pool=pool).select_related("query", "document")
    asked = Turn(training=get_object_or_404(pairs, pk=pair_id))
    assert asked.training is not None
    asked.training.pool = pool
    try:
        turn.answer_training(pair=asked.training, annotator=annotator, said=said_in(request))
    except UserError as error:
        return _refused(request, pool, annotator, asked, error)
    if not request.htmx:
        return redirect_of(request, url_of(pool, asked))
    return page(request, pool, annotator, Shown(asked))


@require_POST
def skip(request: Request, slug: str, pair_id: int) -> HttpResponse:
    pool, pair, annotator = _posted(request, slug, pair_id)
    try:
        turn.skip(pair=pair, annotator=annotator, key=key_in(request))
    except UserError as error:
        return page(request, pool, annotator, Shown(problem=str(error), status=409))
    if not request.htmx:
        return redirect_of(request, reverse("judge", args=[slug]))
    return page(request, pool, annotator, Shown(note=_("Put off; it comes again at the end.")))


@require_POST
def heartbeat(request: Request, slug: str) -> HttpResponse:
    """An open page says that its reader is still there, and which pair it shows."""
    pool = pool_at(slug)
    serve.keep(pool=pool, annotator=judge_of(request.user), shown=number_in(request.POST.get("shown", "")))
    return HttpResponse(status=204)


@require_POST
def leave(request: Request, slug: str) -> HttpResponse:
    """Give back what is held: at once by the button, soon where a page says that it was closed."""
    pool, annotator = pool_at(slug), judge_of(request.user)
    if "closed" in request.POST:
        serve.release_soon(pool=pool, annotator=annotator)
        return HttpResponse(status=204)
    serve.release(pool=pool, annotator=annotator)
    return redirect_of(request, reverse("home"))


@require_GET
@never_cache
def mine(request: Request, slug: str) -> HttpResponse:
    """The person's own answers, newest first."""
    annotator = judge_of(request.user)
    pool = pool_of(annotator, slug)
    shown = request.GET.get("show", "")
    judgments = judged_by(
        pool=pool,
        annotator=annotator,
        grade=number_in(shown),
        ungraded=shown == Outcome.CANNOT_JUDGE,
        commented=shown == "comment",
    )
    answers = Paginator(judgments, 50).get_page(request.GET.get("page"))
    keys = {(judgment.query_id, judgment.document_id) for judgment in answers}
    pairs = pool.pairs.filter(query__in=[q for q, _ in keys], document__in=[d for _, d in keys])
    pair_of = {(query, document): pk for pk, query, document in pairs.values_list("pk", "query", "document")}
    rows = [
        (judgment, word_of(pool, judgment), pair_of[judgment.query_id, judgment.document_id]) for judgment in answers
    ]
    return render(
        request,
        "mine.html",
        {"pool": pool, "page": answers, "rows": rows, "shown": shown, "grades": list(pool.collection.scale)},
    )


def _posted(request: Request, slug: str, pair_id: int) -> tuple[Pool, Pair, Judge]:
    annotator = judge_of(request.user)
    pair = pair_to_judge(pair_id, annotator)
    if pair is None or pair.pool.slug != slug:
        refuse_stranger(get_object_or_404(Pair.objects.select_related("pool"), pool__slug=slug, pk=pair_id).pool)
    return pair.pool, pair, annotator
