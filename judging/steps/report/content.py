"""What a report holds: gathered once, written as HTML and as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations

import numpy as np
from django.utils.translation import gettext as _

from judging import VERSION
from judging.errors import UserError
from judging.measures.comparison import Difference, holm, paired_difference
from judging.measures.ranking import evaluate as measure
from judging.models import Judge, Pool, Run
from judging.steps.agree import Agreement, agreement_of, sheet_of
from judging.steps.agreement.compare import Beside, Person, each_person, side_by_side
from judging.steps.agreement.estimate import Estimates, estimates
from judging.steps.agreement.evidence import Evidence, evidence
from judging.steps.agreement.figures import Line, Scales, coefficients_plot, judges_plot, lines, scales
from judging.steps.evaluate import Comparison, compare
from judging.steps.merge import merge
from judging.steps.plots import Plot
from judging.steps.pools import PoolProgress, pool_progress
from judging.steps.tables import original_qrels, rankings

MEASURE = "nDCG@10"
_EXAMPLES = 5
_PACKAGES = ("django", "numpy", "pandas", "tantivy", "transformers", "torch")


@dataclass(frozen=True, slots=True)
class Test:
    """Two runs compared under the augmented qrels; ``p`` is corrected over all pairs of runs (Holm)."""

    first: str
    second: str
    difference: Difference
    p: float


@dataclass(frozen=True, slots=True)
class Judged:
    """An LLM with its panel: compared with people and with the other LLMs, in lines, on every scale, and drawn."""

    beside: Beside
    lines: Sequence[Line]
    scales: Scales
    plot: Plot


@dataclass(frozen=True, slots=True)
class Provenance:
    """``latest`` is when the last label was given, None where there is none."""

    software: Sequence[tuple[str, str]]
    checksums: Sequence[tuple[str, str]]
    runs: Sequence[Run]
    judges: Sequence[Judge]
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """``no_evaluation`` says why there is no before and after."""

    pool: Pool
    progress: PoolProgress
    result: Agreement
    judged: Sequence[Judged]
    judges_plot: Plot | None
    persons: Sequence[Person]
    estimates: Sequence[tuple[Judge, Estimates]]
    examples: Sequence[Evidence]
    provenance: Provenance
    evaluation: Comparison | None = None
    tests: Sequence[Test] = ()
    swapped: Sequence[tuple[Run, Run]] = ()
    no_evaluation: str = ""
    measure: str = MEASURE


def report_of(pool: Pool) -> Report:
    """Raises nothing for what is missing: it is said in its place."""
    sheet = sheet_of(pool=pool)
    result = agreement_of(sheet)
    beside = side_by_side(sheet, result.llms, result.llms[0].judge) if result.llms else []
    evaluation, tests, why = _evaluation(pool)
    return Report(
        pool=pool,
        progress=pool_progress(pool),
        result=result,
        judged=[
            Judged(
                one,
                lines(one.compared.panel, result.people, sheet.scale),
                scales(one.compared.panel, sheet.scale, first=_("the people"), second=_("the LLM")),
                coefficients_plot(one.compared, result.people, result.reference),
            )
            for one in beside
        ],
        judges_plot=judges_plot(result.llms, result.people, result.reference) if len(beside) > 1 else None,
        persons=each_person(sheet) if result.annotators > 1 else [],
        estimates=[(answers.judge, estimates(sheet, answers)) for answers in sheet.llms],
        examples=evidence(sheet)[:_EXAMPLES],
        provenance=_provenance(pool, result),
        evaluation=evaluation,
        tests=tests,
        swapped=evaluation.swapped(MEASURE) if evaluation else [],
        no_evaluation=why,
    )


def _evaluation(pool: Pool) -> tuple[Comparison | None, list[Test], str]:
    try:
        compared = compare(collection=pool.collection, measures=[MEASURE])
    except UserError as error:
        return None, [], str(error)
    return compared, _tests(pool, [row.run for row in compared.runs]), ""


def _tests(pool: Pool, runs: Sequence[Run]) -> list[Test]:
    """Every two runs under the augmented qrels, on the queries of the original."""
    before = original_qrels(pool.collection)
    merged = merge(collection=pool.collection).qrels
    after = {qid: merged.get(qid, grades) for qid, grades in before.items()}
    values = {run.pk: measure(after, rankings(run), [MEASURE]).values[MEASURE] for run in runs}
    compared = [
        (one, other, paired_difference(values[one.pk], values[other.pk])) for one, other in combinations(runs, 2)
    ]
    corrected = holm(np.array([difference.p for *_, difference in compared]))
    return [
        Test(one.name, other.name, difference, float(p))
        for (one, other, difference), p in zip(compared, corrected, strict=True)
    ]


def _provenance(pool: Pool, result: Agreement) -> Provenance:
    said = (*result.sheet.people, *result.sheet.llms)
    named = [answers.judge for answers in said]
    return Provenance(
        software=[("Unjudged", VERSION), ("Python", platform.python_version()), *_versions()],
        checksums=sorted(pool.collection.checksums.items()),
        runs=list(pool.runs.all()),
        judges=named,
        latest=max((at for answers in said for at in answers.at if at is not None), default=None),
    )


def _versions() -> list[tuple[str, str]]:
    """Of what is installed; nothing is imported for it."""
    found = []
    for package in _PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found
