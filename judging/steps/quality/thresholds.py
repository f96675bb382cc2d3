"""Thresholds on an LLM's expected grade, fitted to people's labels, and what they gain on other queries."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.measures.agreement import Contrast, paired
from judging.measures.arrays import FloatArray, IntArray
from judging.measures.cut_points import FOLDS, CutPoints, cut, fit_cut_points
from judging.measures.resampling import SEED
from judging.models import Document, Judge, Query
from judging.steps import lookup
from judging.steps.agreement.sheet import Answers, Sheet
from judging.steps.quality.readings import Flags

CRITERIA = ("cohen_kappa", "quadratic_kappa", "krippendorff_alpha")
"""Coefficients that thresholds may be fitted to."""

FEWEST_LABELS = 30
FEWEST_QUERIES = FOLDS
FEWEST_OF_A_KIND = 5


@dataclass(frozen=True, slots=True)
class Thresholds:
    """``points`` are the thresholds with their cross-validation; ``labels`` of ``queries`` they were fitted to.

    ``digest``  of these labels
    ``grades``  (n,) what the calibrated judge says of each pair of the sheet, nan without an expected grade. Of a query
                with labels of the fit it comes from the thresholds fitted without that query
    ``gain``    the criterion after (first) and before (second), on the pairs of the fit
    """

    base: Judge
    points: CutPoints
    folds: int
    seed: int
    labels: int
    queries: int
    digest: str
    weighted: bool
    grades: FloatArray
    gain: Contrast

    @property
    def criterion(self) -> str:
        return self.points.coefficient

    @property
    def verdict(self) -> str:
        """``gain`` or ``loss`` where the interval of the difference leaves 0 out, else ``open``."""
        if not self.gain.settled:
            return "open"
        return "gain" if self.gain.difference.value > 0 else "loss"


def fit_thresholds(
    sheet: Sheet,
    answers: Answers,
    expected: FloatArray,
    *,
    criterion: str = CRITERIA[0],
    folds: int = FOLDS,
    seed: int = SEED,
) -> Thresholds:
    """Fit to the reference of the sheet. Folds are made of queries in the order of their ids, the same everywhere.

    Raises: UserError where the judge is calibrated already, gave no probabilities, or where there are too few labels.
    """
    if criterion not in CRITERIA:
        raise UserError(f"The criterion is one of {', '.join(CRITERIA)}; found {criterion!r}.")
    people = sheet.reference.grades
    kept = ~np.isnan(expected) & ~np.isnan(people)
    _refuse_too_few(answers, expected, sheet, kept)
    qids = _query_ids(sheet)
    number = {query: n for n, query in enumerate(sorted(qids, key=qids.__getitem__))}
    queries = np.array([number[query] for query, _document in sheet.keys], dtype=np.int64)
    points = fit_cut_points(
        expected,
        people,
        grades=sheet.scale.values,
        clusters=queries,
        coefficient=criterion,
        sample_weight=sheet.weights,
        folds=folds,
        seed=seed,
    )
    if points.reason:
        raise UserError(_("No thresholds can be fitted: %(reason)s.") % {"reason": _(points.reason)})
    grades = _cross_fitted(sheet, points, expected, queries)
    inside = np.where(kept, people, np.nan)
    return Thresholds(
        base=answers.judge,
        points=points,
        folds=len(points.by_fold),
        seed=seed,
        labels=int(kept.sum()),
        queries=int(np.unique(queries[kept]).size),
        digest=_digest(sheet, qids, kept),
        weighted=sheet.weights is not None,
        grades=grades,
        gain=paired(inside, grades, answers.grades, **sheet.options).graded[criterion],
    )


def _refuse_too_few(answers: Answers, expected: FloatArray, sheet: Sheet, kept: Flags) -> None:
    name = answers.judge.name
    if answers.judge.is_calibrated:
        raise UserError(
            _("“%(judge)s” is calibrated already. Calibrate the judge that it was made of: %(base)s.")
            % {"judge": name, "base": answers.judge.configuration["base"]["name"]}
        )
    if np.isnan(expected).all():
        raise UserError(
            _(
                "“%(judge)s” gave no probabilities, so it has no expected grade to cut. Have the pool judged with a "
                "prompt of mode score (such as pointwise), whose grades are read from probabilities."
            )
            % {"judge": name}
        )
    relevant = sheet.relevance(sheet.reference.grades)[kept]
    labels, queries = int(kept.sum()), int(np.unique(sheet.queries[kept]).size)
    positive = int(relevant.sum())
    if labels >= FEWEST_LABELS and queries >= FEWEST_QUERIES and min(positive, labels - positive) >= FEWEST_OF_A_KIND:
        return
    raise UserError(
        _(
            "Thresholds need at least %(labels)s labels of people on pairs that “%(judge)s” gave probabilities for, of "
            "at least %(queries)s queries, at least %(kind)s of them relevant and %(kind)s not. Found %(found)s labels "
            "of %(found_queries)s queries, %(relevant)s relevant and %(other)s not. Have people judge more of the pool."
        )
        % {
            "judge": name,
            "labels": FEWEST_LABELS,
            "queries": FEWEST_QUERIES,
            "kind": FEWEST_OF_A_KIND,
            "found": labels,
            "found_queries": queries,
            "relevant": positive,
            "other": labels - positive,
        }
    )


def _query_ids(sheet: Sheet) -> dict[int, str]:
    """The ids of the sheet's queries by their primary keys."""
    wanted = {query for query, _document in sheet.keys}
    return {
        pk: qid
        for chunk in lookup.chunks(wanted)
        for pk, qid in Query.objects.filter(pk__in=chunk).values_list("pk", "qid")
    }


def _cross_fitted(sheet: Sheet, points: CutPoints, expected: FloatArray, queries: IntArray) -> FloatArray:
    """Each query by the thresholds that do not know its labels; those without labels by the thresholds of all."""
    fold_of = {int(query): int(fold) for query, fold in zip(queries, points.fold, strict=True) if fold >= 0}
    folds = np.array([fold_of.get(int(query), -1) for query in queries], dtype=np.int64)
    grades = cut(expected, points.cuts, grades=sheet.scale.values)
    for fold, cuts in enumerate(points.by_fold):
        inside = folds == fold
        grades[inside] = cut(expected[inside], cuts, grades=sheet.scale.values)
    return grades


def _digest(sheet: Sheet, qids: dict[int, str], kept: Flags) -> str:
    """Of query, document and grade of every label, by the ids of the collection."""
    rows = np.flatnonzero(kept).tolist()
    docids: dict[int, str] = {}
    for chunk in lookup.chunks({sheet.keys[row][1] for row in rows}):
        docids.update(Document.objects.filter(pk__in=chunk).values_list("pk", "docid"))
    labels = sorted(
        (qids[sheet.keys[row][0]], docids[sheet.keys[row][1]], int(sheet.reference.grades[row])) for row in rows
    )
    return f"sha256:{hashlib.sha256(json.dumps(labels, ensure_ascii=False).encode()).hexdigest()}"
