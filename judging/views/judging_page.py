"""The judging page, whole or its changing part alone: what is asked, what was said, what could not be saved."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from judging.models import Judge, Judgment, Outcome, Pair, Pool, Probe, TrainingAnswer
from judging.steps import probes, reveal, standing
from judging.steps.judgments import Said
from judging.steps.known import known_of
from judging.steps.reading import Reading, reading
from judging.steps.turn import Turn, next_turn, previous_turn
from judging.views.access import Request
from judging.views.guidelines import as_html
from judging.views.words import in_language


@dataclass(frozen=True, slots=True)
class Unsaved:
    """An answer that was not taken, to be copied, or sent again where ``action`` is given."""

    turn: Turn
    answer: str
    word: str
    comment: str
    key: str = ""
    seconds: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page says beside the question. ``turn`` None asks what comes next.

    ``saved`` is the answer just stored, ``labels`` what LLMs said of its pair, ``comment`` what stays in the box,
    ``beyond`` what the page before counted as open beyond the pairs in hand.
    """

    turn: Turn | None = None
    note: str = ""
    problem: str = ""
    unsaved: Unsaved | None = None
    saved: Judgment | None = None
    labels: Sequence[Judgment] = field(default_factory=list)
    comment: str | None = None
    beyond: int | None = None
    status: int = 200


def page(request: Request, pool: Pool, annotator: Judge, shown: Shown) -> HttpResponse:
    turn = shown.turn
    if turn is None and pool.is_open:
        turn = next_turn(pool=pool, annotator=annotator)
    previous = previous_turn(pool=pool, annotator=annotator, before=shown.turn)
    beyond = shown.beyond if turn and turn.was_held else None
    context: dict[str, Any] = {
        "pool": pool,
        "annotator": annotator,
        "progress": standing.progress(pool=pool, annotator=annotator, beyond=beyond),
        "undo": url_of(pool, previous) if previous else "",
        "turn": turn,
        "shown": shown,
        "judged": _judged(pool, shown),
        "guidelines": as_html(pool.guidelines),
        "scale": pool.collection.scale,
        "swapped": bool(request.htmx),
    }
    if turn is not None:
        # What comes next is not judged yet.
        before = _said_before(shown.turn, annotator) if shown.turn else None
        context |= _question(pool, turn, before, annotator)
        if shown.comment is not None:
            context["comment"] = shown.comment
    template = "judge.html#judging" if request.htmx else "judge.html"
    return render(request, template, context, status=shown.status)


def url_of(pool: Pool, turn: Turn) -> str:
    """The address that shows something answered once more."""
    judge = reverse("judge", args=[pool.slug])
    if turn.training:
        return f"{judge}?training={turn.training.pk}"
    assert turn.pair is not None
    return f"{judge}?pair={turn.pair.pk}" + ("&turn=2" if turn.probe else "")


def word_of(pool: Pool, said: Judgment | Probe | TrainingAnswer | Said) -> str:
    return _("Can't tell") if said.grade is None else in_language(pool.collection.scale.word(said.grade))


@dataclass(frozen=True, slots=True)
class Judged:
    """The pair just judged, with what LLMs said of it, and the way back to it."""

    word: str
    labels: Sequence[tuple[str, str]]
    url: str


def _judged(pool: Pool, shown: Shown) -> Judged | None:
    if not shown.labels or shown.saved is None:
        return None
    pair = pool.pairs.filter(query=shown.saved.query_id, document=shown.saved.document_id).first()
    if pair is None:
        return None
    return Judged(word_of(pool, shown.saved), _words(pool, shown.labels), url_of(pool, Turn(pair)))


def _words(pool: Pool, labels: Sequence[Judgment]) -> list[tuple[str, str]]:
    return [(label.judge.name, word_of(pool, label)) for label in labels]


def _question(pool: Pool, turn: Turn, before: Any, annotator: Judge) -> dict[str, Any]:
    return {
        "reading": reading(document=turn.document, query=turn.query, collection=pool.collection),
        "known": _known(pool, turn),
        "before": before,
        "chosen": before.grade if before else None,
        "comment": before.comment if before else "",
        "labels": _labels(pool, before),
        "said": word_of(pool, before) if before else "",
        **(_training(pool, turn, before) if turn.training else _place(pool, turn, annotator, before)),
    }


def _said_before(turn: Turn, annotator: Judge) -> Judgment | Probe | TrainingAnswer | None:
    """What the person has said in this very turn: a pair that is asked again hides the first answer."""
    if turn.training:
        return turn.training.answers.filter(annotator=annotator).first()
    if turn.probe:
        return turn.probe if turn.probe.answered_at else None
    return Judgment.objects.filter(judge=annotator, query=turn.query, document=turn.document).first()


def _known(pool: Pool, turn: Turn) -> list[Reading]:
    """The reference document; the one that a training pair asks about would give its grade away."""
    if not pool.show_known:
        return []
    collection = pool.collection
    known = known_of(turn.query)[: 2 if turn.training else 1]
    others = [document for document in known if document.digest != turn.document.digest]
    return [reading(document=document, query=turn.query, collection=collection) for document in others[:1]]


def _labels(pool: Pool, before: Judgment | Probe | TrainingAnswer | None) -> list[tuple[str, str]]:
    if not isinstance(before, Judgment):
        return []
    return _words(pool, reveal.revealed(pool=pool, judgment=before))


def _training(pool: Pool, turn: Turn, before: Any) -> dict[str, Any]:
    training = turn.training
    assert training is not None
    positions = list(pool.training.order_by("position").values_list("pk", flat=True))
    return {
        "action": reverse("train", args=[pool.slug, training.pk]),
        "key": uuid.uuid4(),
        "position": positions.index(training.pk) + 1,
        "size": len(positions),
        "is_right": before is not None and before.grade == training.grade,
        "expected": in_language(pool.collection.scale.word(training.grade)),
        "hold": "",
    }


def _place(pool: Pool, turn: Turn, annotator: Judge, before: Any) -> dict[str, Any]:
    pair = turn.pair
    assert pair is not None
    # Asked again, a pair comes alone; its row of dots would be full, and tell.
    found = [] if turn.probe else standing.query_pairs(pair=pair, annotator=annotator)
    states = [one.state for one in found] or ["current"]
    current = states.index("current") if "current" in states else 0
    return {
        "action": reverse("answer", args=[pool.slug, pair.pk]),
        "key": probes.key_of(turn.probe) if turn.probe else uuid.uuid4(),
        "dots": [f"{state} done" if before and state == "current" else state for state in states],
        "position": current + 1,
        "size": len(states),
        "hold": pair.pk if before is None and not turn.probe else "",
    }


def unsaved_of(request: Request, pool: Pool, turn: Turn, *, action: str) -> Unsaved:
    """What the form said, as it was typed, whatever was wrong with it."""
    given = request.POST.get("answer", "")
    words = {str(grade.value): in_language(grade.word) for grade in pool.collection.scale}
    words[Outcome.CANNOT_JUDGE.value] = _("Can't tell")
    return Unsaved(
        turn=turn,
        answer=given if given in words else "",
        word=words.get(given, ""),
        comment=request.POST.get("comment", "").replace("\r\n", "\n").strip(),
        key=request.POST.get("key", ""),
        seconds=request.POST.get("seconds", ""),
        action=action if given in words else "",
    )


def is_own(pair: Pair, annotator: Judge) -> bool:
    """Whether the person holds the pair, has answered it, or has judged it elsewhere so that it needed no slot."""
    said = Judgment.objects.filter(judge=annotator, query=pair.query_id, document=pair.document_id)
    return pair.assignments.filter(annotator=annotator).exists() or said.exists()
