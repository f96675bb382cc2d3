"""Everything that the quality page shows of one LLM on one pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from judging.errors import UserError
from judging.measures.agreement import Ceiling
from judging.measures.calibration import Calibration
from judging.models import GullibilityProbe, Judge, Pool
from judging.steps.agreement.calibrated import calibration
from judging.steps.agreement.compare import LlmAgreement, compare, human_ceiling
from judging.steps.agreement.kept import kept, state_of
from judging.steps.agreement.sheet import Answers, Sheet, judgments_of, sheet_of_pool
from judging.steps.quality import alarms
from judging.steps.quality.alarms import Alarm
from judging.steps.quality.counts import ExpectedBar, GradeCount, Outside, expected_bars, grade_counts, outside_of
from judging.steps.quality.gullible import Gullible, gullible
from judging.steps.quality.order import Order, order_of
from judging.steps.quality.readings import Readings, readings
from judging.steps.quality.thresholds import Thresholds, fit_thresholds


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge said of a pool's pairs, and how it compares with people.

    ``truncated``      answers to documents that were cut
    ``outside``        None for a judge that gave no probabilities, as are ``calibration`` and ``expected`` (empty)
    ``thresholds``     fitted as calibrating would fit them; None, with ``no_thresholds``, where they cannot be
    """

    asked: int
    truncated: int
    compared: LlmAgreement
    people: Ceiling | None
    grades: Sequence[GradeCount]
    outside: Outside | None
    expected: Sequence[ExpectedBar]
    calibration: Calibration | None
    order: Order
    thresholds: Thresholds | None
    no_thresholds: str

    @property
    def outcomes(self) -> Mapping[str, int]:
        return self.compared.outcomes


@dataclass(frozen=True, slots=True)
class Quality:
    """``said`` is None where the judge has judged no pair of the pool."""

    pool: Pool
    judge: Judge
    pairs: int
    said: Said | None
    probes: Sequence[Gullible]
    alarms: Sequence[Alarm]

    @property
    def command(self) -> str:
        """What has the judge judge the pool, for the shell."""
        if not self.judge.is_calibrated:
            return f"prefill_llm {self.pool.slug}"
        return f"llm_calibrate {self.pool.slug} --judge {self.judge.configuration['base']['fingerprint'][:8]}"


def llms_of(pool: Pool) -> list[Judge]:
    """The LLMs that judged pairs of the pool, the one with most of them first."""
    counted = judgments_of(pool).filter(judge__kind=Judge.Kind.LLM).order_by().values("judge")
    rows = counted.annotate(count=Count("pk")).order_by("-count", "judge").values_list("judge", flat=True)
    judges = Judge.objects.in_bulk(list(rows))
    return [judges[pk] for pk in rows]


def quality_of(pool: Pool, judge: Judge) -> Quality:
    """Held against the people (adjudication, else majority; labels given after seeing an LLM's left out)."""
    said = kept(state_of(pool), "quality", judge.pk, make=lambda: _said(pool, judge))
    asked_again = GullibilityProbe.objects.filter(pool=pool, judge=judge)
    probes = [gullible(probe, pool.collection.scale) for probe in asked_again]
    found = list(alarms.siblings(judge, pool))
    if said is not None:
        found = [*alarms.inverted(judge, said.order), *alarms.one_class(judge, said.grades), *found]
    found += alarms.gullibility(judge, probes)
    return Quality(pool, judge, pool.pairs.count(), said, probes, found)


def _said(pool: Pool, judge: Judge) -> Said | None:
    sheet = sheet_of_pool(pool)
    answers = next((one for one in sheet.llms if one.judge.pk == judge.pk), None)
    if answers is None:
        return None
    read = readings(sheet, answers)
    thresholds, why_not = _thresholds(sheet, answers, read)
    return Said(
        asked=int((answers.outcomes != "").sum()),
        truncated=int(read.truncated.sum()),
        compared=compare(sheet, answers),
        people=human_ceiling(sheet),
        grades=grade_counts(sheet.scale, answers.grades, sheet.reference.grades),
        outside=outside_of(sheet, read.outside),
        expected=expected_bars(sheet, read.expected),
        calibration=calibration(sheet, answers),
        order=order_of(sheet, answers.grades, read.expected),
        thresholds=thresholds,
        no_thresholds=why_not,
    )


def _thresholds(sheet: Sheet, answers: Answers, read: Readings) -> tuple[Thresholds | None, str]:
    try:
        return fit_thresholds(sheet, answers, read.expected), ""
    except UserError as error:
        return None, str(error)
