"""calibrate: a judge of its own, made of an LLM's expected grades cut at thresholds that were fitted to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction

from judging.measures.cut_points import FOLDS
from judging.measures.resampling import SEED
from judging.models import Judge, Outcome, Pool, fingerprint_of
from judging.steps.agreement.sheet import Answers, Sheet, sheet_of_pool
from judging.steps.judgments import Said, say_all
from judging.steps.lookup import LONGEST_NAME
from judging.steps.quality.readings import Readings, readings
from judging.steps.quality.thresholds import CRITERIA, Thresholds, fit_thresholds

_WORD = " calibrated"


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """``changed`` counts the judgments that were made or changed: 0 where the labels are those of the last time."""

    judge: Judge
    thresholds: Thresholds
    is_new: bool
    changed: int


@transaction.atomic
def calibrate(
    *, pool: Pool, judge: Judge, criterion: str = CRITERIA[0], folds: int = FOLDS, seed: int = SEED
) -> CalibrationReport:
    """Fit thresholds to what people say of the pool's pairs, and keep the judge that they make, with its judgments.

    The same labels make the same judge, and nothing is changed. Pairs of queries with labels are cut at the thresholds
    that were fitted without that query, so that comparing the judge with those very labels flatters nobody.

    Raises: UserError where the judge cannot be calibrated, or where there are too few labels.
    """
    sheet = sheet_of_pool(pool)
    answers = sheet.llm(judge.pk)
    read = readings(sheet, answers)
    fitted = fit_thresholds(sheet, answers, read.expected, criterion=criterion, folds=folds, seed=seed)
    configuration = configuration_of(fitted, sheet)
    made, is_new = Judge.objects.get_or_create(
        kind=Judge.Kind.LLM,
        name=judge.name[: LONGEST_NAME - len(_WORD)] + _WORD,
        fingerprint=fingerprint_of(configuration),
        defaults={"configuration": configuration, "prompt": judge.prompt},
    )
    return CalibrationReport(made, fitted, is_new, say_all(judge=made, said=_said(sheet, answers, read, fitted)))


def configuration_of(fitted: Thresholds, sheet: Sheet) -> dict[str, Any]:
    """Every determinant of what the calibrated judge says."""
    base = fitted.base
    return {
        "base": {"name": base.name, "fingerprint": base.fingerprint},
        "model": base.configuration.get("model", base.name),
        "method": "expected grade cut at thresholds; each query with labels at those fitted without it",
        "criterion": fitted.criterion,
        "thresholds": list(fitted.points.cuts),
        "thresholds_without_each_fold": [list(cuts) for cuts in fitted.points.by_fold],
        "labels": fitted.labels,
        "queries": fitted.queries,
        "folds": fitted.folds,
        "seed": fitted.seed,
        "labels_digest": fitted.digest,
        "weighted": fitted.weighted,
        "scale": sheet.scale.as_json(),
    }


def _said(sheet: Sheet, answers: Answers, read: Readings, fitted: Thresholds) -> dict[tuple[int, int], Said]:
    """A judgment for each that the base judge gave; what it could not read stays unread."""
    said = {}
    for row in np.flatnonzero(answers.outcomes != "").tolist():
        outcome, grade, raw = str(answers.outcomes[row]), None, ""
        if not np.isnan(fitted.grades[row]):
            grade, raw = int(fitted.grades[row]), f"expected grade {read.expected[row]:.6f}"
        elif outcome == Outcome.GRADED:
            outcome, raw = Outcome.UNPARSED.value, "The judge that was calibrated gave no probabilities here."
        said[sheet.keys[row]] = Said(outcome=outcome, grade=grade, raw=raw, truncated=bool(read.truncated[row]))
    return said
