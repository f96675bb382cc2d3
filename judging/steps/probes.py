"""Asking people a share of their own pairs again, to see how far each agrees with themselves."""

from __future__ import annotations

import math
import random
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

import numpy as np
from django.db.models import Count, Exists, OuterRef
from django.utils import timezone
from django.utils.crypto import salted_hmac

from judging.measures.agreement import Panel, self_agreement
from judging.measures.arrays import FloatArray
from judging.models import Assignment, Judge, Judgment, LeaseState, Outcome, Pair, Pool, Probe
from judging.steps.judgments import Said

# So many other answers lie between the two, unless nothing else is left.
ANSWERS_BETWEEN = 10


def drawn(number: int, *, share: float, seed: str) -> bool:
    """Whether the person's ``number``-th answer (from 1) is one to be asked again.

    Of each 1 / ``share`` answers in a row one is drawn at random, so the share is kept in small pools too, and no rank
    is drawn more often than another.
    """
    exact = Fraction(str(share))
    if not exact:
        return False
    block = math.ceil(number * exact) - 1
    first, last = math.floor(block / exact) + 1, math.floor((block + 1) / exact)
    return number == random.Random(f"{seed} {block}").randint(first, last)  # noqa: S311


def expected(answers: int, *, share: float, seed: str) -> int:
    """How many of the first ``answers`` answers are drawn."""
    exact = Fraction(str(share))
    if not exact:
        return 0
    whole = math.floor(answers * exact)
    rest = range(math.floor(whole / exact) + 1, answers + 1)
    return whole + any(drawn(number, share=share, seed=seed) for number in rest)


def seed_of(pool: Pool, annotator: Judge) -> str:
    return f"{pool.seed} {pool.pk} {annotator.pk}"


def draw(*, pair: Pair, annotator: Judge) -> None:
    """Have a pair that the person has just answered asked again later, where it is its turn."""
    pool = pair.pool
    answers = answers_of(pool, annotator)
    if drawn(answers, share=pool.probe_share, seed=seed_of(pool, annotator)):
        Probe.objects.bulk_create([Probe(pair=pair, annotator=annotator, after=answers)], ignore_conflicts=True)


def answers_of(pool: Pool, annotator: Judge) -> int:
    return Assignment.objects.filter(pair__pool=pool, annotator=annotator, state=LeaseState.DONE).count()


def due(*, pool: Pool, annotator: Judge, nothing_else: bool = False) -> Probe | None:
    """The pair to be asked again now: after enough other answers, or at once where nothing else is left."""
    if not pool.probe_share:
        return None
    first = Judgment.objects.filter(judge=annotator, query=OuterRef("pair__query"), document=OuterRef("pair__document"))
    waiting = Probe.objects.filter(
        Exists(first), pair__pool=pool, annotator=annotator, answered_at=None,
        pair__document__in_corpus=True, pair__query__in_corpus=True,
    )  # fmt: skip
    if not nothing_else:
        waiting = waiting.filter(after__lte=answers_of(pool, annotator) - ANSWERS_BETWEEN)
    return waiting.select_related("pair__query", "pair__document").order_by("after", "pk").first()


def previous(*, pool: Pool, annotator: Judge, before: datetime | None) -> Probe | None:
    """The probe that the person answered last, or last before that time."""
    if not pool.probe_share:
        return None
    answered = Probe.objects.filter(pair__pool=pool, annotator=annotator, answered_at__isnull=False)
    if before is not None:
        answered = answered.filter(answered_at__lt=before)
    return answered.select_related("pair__query", "pair__document").order_by("-answered_at", "-pk").first()


def own(*, pair: Pair, annotator: Judge) -> Probe | None:
    """The person's answered probe of this pair, to be looked at once more."""
    answered = Probe.objects.filter(pair=pair, annotator=annotator, answered_at__isnull=False)
    return answered.select_related("pair__query", "pair__document").first()


def key_of(probe: Probe) -> uuid.UUID:
    """The key of the probe's form: it looks like any other, and tells the server that this is the second answer."""
    digest = salted_hmac("judging.probe", str(probe.pk), algorithm="sha256").digest()
    return uuid.UUID(bytes=digest[:16], version=4)


def of_key(*, pair: Pair, annotator: Judge, key: uuid.UUID | None) -> Probe | None:
    """The probe whose form has this key, if it has any."""
    if not pair.pool.probe_share or key is None:
        return None
    probe = Probe.objects.filter(pair=pair, annotator=annotator).first()
    return probe if probe and key_of(probe) == key else None


def answer(*, probe: Probe, said: Said) -> Probe:
    """Keep the second answer beside the first; the judgment stays as it is. Giving it again replaces it."""
    if probe.answered_at is None:
        first = Judgment.objects.get(
            judge=probe.annotator_id, query=probe.pair.query_id, document=probe.pair.document_id
        )
        probe.first_outcome, probe.first_grade = first.outcome, first.grade
        probe.answered_at = timezone.now()
    probe.outcome = said.outcome
    probe.grade = said.grade if said.outcome == Outcome.GRADED else None
    probe.comment, probe.seconds = said.comment, said.seconds
    probe.save()
    return probe


def put_off(*, probe: Probe) -> None:
    """Ask it as many answers later as if it had just been drawn."""
    probe.after = answers_of(probe.pair.pool, probe.annotator)
    probe.save(update_fields=["after"])


@dataclass(frozen=True, slots=True)
class Asked:
    """Probes of one person in one pool."""

    drawn: int
    answered: int


def asked(*, pool: Pool, annotator: Judge) -> Asked:
    counts = Probe.objects.filter(pair__pool=pool, annotator=annotator).aggregate(
        drawn=Count("pk"), answered=Count("answered_at")
    )
    return Asked(**counts)


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """One person's answers against those that they gave when asked again; ``annotator`` None is everybody together.

    ``asked`` counts the pairs answered twice; ``panel.pairs`` those graded both times.
    """

    annotator: Judge | None
    asked: int
    panel: Panel


def agreement_with_themselves(*, pool: Pool) -> list[SelfAgreement]:
    """Each person who was asked again, by name; where there are several, all of them together first."""
    answered = Probe.objects.filter(pair__pool=pool, answered_at__isnull=False)
    rows = answered.select_related("annotator", "pair").order_by("annotator__name", "annotator", "pk")
    of_person: defaultdict[Judge, list[Probe]] = defaultdict(list)
    for probe in rows:
        of_person[probe.annotator].append(probe)
    everybody = [(None, list(rows))] if len(of_person) > 1 else []
    return [
        SelfAgreement(annotator, len(probes), _panel(pool, probes))
        for annotator, probes in [*everybody, *of_person.items()]
    ]


def _panel(pool: Pool, probes: Sequence[Probe]) -> Panel:
    scale = pool.collection.scale
    return self_agreement(
        _grades([probe.first_grade for probe in probes]),
        _grades([probe.grade for probe in probes]),
        grades=scale.values,
        relevant_from=scale.relevant_from,
        clusters=[probe.pair.query_id for probe in probes],
    )


def _grades(grades: Sequence[int | None]) -> FloatArray:
    return np.array([np.nan if grade is None else grade for grade in grades], dtype=float)
