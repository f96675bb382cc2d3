"""What should make one think twice about an LLM's labels: what was seen, why it matters, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from judging.engines.llm import family_of
from judging.measures.intervals import Estimate
from judging.models import Judge, Pool, Run
from judging.steps.agreement.tables import p_value, short
from judging.steps.language import word_in_language
from judging.steps.quality.counts import GradeCount
from judging.steps.quality.gullible import Gullible
from judging.steps.quality.order import Order

ONE_CLASS = 0.9
"""The share of one grade from which on a judge is said to tell documents hardly apart."""

FEWEST = 20
"""Fewer graded pairs say nothing about how a judge spreads its grades."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """``kind`` is ``inverted``, ``one-class``, ``family`` or ``gullible``."""

    kind: str
    sentence: str


def inverted(judge: Judge, order: Order) -> Iterator[Alarm]:
    found = order.inverted
    if found is None:
        return
    if found.interval is not None and found.interval.high < 0:
        seen = _("Where people's grades rise, those of “%(judge)s” fall: their correlation is %(correlation)s.")
    else:
        seen = _(
            "“%(judge)s” agrees better with people when its scale is turned round: quadratic kappa gains %(gain)s."
        )
    why = _(
        "Its labels count relevant documents as irrelevant, and every figure made from them points the wrong way. Look "
        "whether prompt and scale mean the same number by “best”; mend the prompt, which makes another judge, or leave "
        "this one out."
    )
    words = {"judge": judge.name, "correlation": _with_interval(found), "gain": _with_interval(order.turned.difference)}
    yield Alarm("inverted", f"{seen % words} {why}")


def one_class(judge: Judge, grades: Sequence[GradeCount]) -> Iterator[Alarm]:
    """Silent where people gave nearly everything that grade too: then it may well be so."""
    graded = sum(one.judge_all for one in grades)
    most = max(grades, key=lambda one: one.judge_all)
    if graded < FEWEST or most.judge_all_share < ONE_CLASS or most.people_both_share >= ONE_CLASS:
        return
    seen = _("“%(judge)s” calls %(share)s of the %(graded)s pairs that it graded “%(word)s”.")
    people = _("People say so of %(share)s of the %(pairs)s pairs that both graded.")
    why = _(
        "Such labels hardly tell documents apart: they agree with people as often as that grade is common, and add "
        "little to an evaluation. Calibrate the judge with people's labels where it gives probabilities; else try "
        "another prompt or a larger model."
    )
    word = word_in_language(most.word)
    share = _percent(most.judge_all_share)
    parts = [seen % {"judge": judge.name, "share": share, "graded": graded, "word": word}]
    if both := sum(one.people_both for one in grades):
        parts.append(people % {"share": _percent(most.people_both_share), "pairs": both})
    yield Alarm("one-class", " ".join([*parts, why]))


def siblings(judge: Judge, pool: Pool) -> Iterator[Alarm]:
    """A run of the pool, or one that it was made from, by a model of the judge's family."""
    family = family_of(str(judge.configuration.get("model", judge.name)))
    if family is None:
        return
    for run in _with_parents(pool):
        model = str(run.identity.get("model", run.name))
        if run.kind == Run.Kind.RETRIEVED or family_of(model) != family:
            continue
        yield Alarm(
            "family",
            _(
                "“%(judge)s” and the model of the run “%(run)s” (%(model)s) are of one family, %(family)s. A judge "
                "tends to like what a sibling has ranked high, so its labels may favour that run over others. Compare "
                "that run by people's labels, or also by a judge of another family."
            )
            % {"judge": judge.name, "run": run.name, "model": model, "family": family},
        )


def _with_parents(pool: Pool) -> list[Run]:
    found: dict[int, Run] = {}
    runs = list(pool.runs.select_related("parent"))
    while runs:
        found.update((run.pk, run) for run in runs)
        runs = [run.parent for run in runs if run.parent and run.parent_id not in found]
    return list(found.values())


def gullibility(judge: Judge, probes: Sequence[Gullible]) -> Iterator[Alarm]:
    """The latest probe that alarms."""
    found = next((one for one in reversed(probes) if one.is_alarming), None)
    if found is None:
        return
    yield Alarm(
        "gullible",
        _(
            "With the words of the query put into the document, “%(judge)s” calls %(flips)s of %(pairs)s non-relevant "
            "pairs relevant; with as many other words put there, %(control)s (McNemar's exact p %(p)s). It can be "
            "talked into a grade by words alone: documents that repeat queries are overrated. Try a prompt that asks "
            "what the document answers, or a larger model, and let people judge such documents."
        )
        % {
            "judge": judge.name,
            "flips": found.flips,
            "pairs": found.pairs,
            "control": found.control_flips,
            "p": p_value(found.p),
        },
    )


def _with_interval(one: Estimate) -> str:
    interval = one.interval
    if interval is None or interval.reason:
        return short(one.value, 2)
    ends = {"value": short(one.value, 2), "low": short(interval.low, 2), "high": short(interval.high, 2)}
    return _("%(value)s (95 %% interval %(low)s to %(high)s)") % ends


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
