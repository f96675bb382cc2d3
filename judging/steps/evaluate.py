"""judged@k, and evaluate before / after: what the runs score under the original and under the augmented qrels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.measures.comparison import kendall_tau
from judging.measures.intervals import Interval, mean_interval
from judging.measures.ranking import evaluate as measure
from judging.measures.ranking import parse_measure
from judging.models import Collection, Run
from judging.steps.merge import Policy, merge
from judging.steps.tables import original_qrels, rankings


@dataclass(frozen=True, slots=True)
class Score:
    """A measure's mean over queries; ``undefined`` names the queries that have no value."""

    mean: float
    interval: Interval
    queries: int
    undefined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunScores:
    run: Run
    before: dict[str, Score]
    after: dict[str, Score]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``tau``: Kendall's tau-b between the orders of the runs before and after, by measure; nan with fewer than two."""

    measures: tuple[str, ...]
    runs: Sequence[RunScores]
    tau: dict[str, float]
    judged_before: int
    judged_after: int

    def swapped(self, name: str) -> list[tuple[Run, Run]]:
        """Pairs of runs that changed places: the first was better before, the second is better after."""
        return [
            (one.run, other.run)
            for one in self.runs
            for other in self.runs
            if one.before[name].mean > other.before[name].mean and one.after[name].mean < other.after[name].mean
        ]


def complete_runs(collection: Collection) -> list[Run]:
    runs = list(collection.runs.complete())
    if not runs:
        raise UserError(
            _(
                "%(name)s has no run yet: python manage.py retrieve %(name)s, "
                "or python manage.py import_run %(name)s FILE"
            )
            % {"name": collection.slug}
        )
    return runs


def scores(*, collection: Collection, measures: Sequence[str], runs: Sequence[Run] | None = None) -> list[RunScores]:
    """Every run under the original qrels only; ``after`` is empty."""
    names = _names(measures)
    qrels = original_qrels(collection)
    _require_qrels(collection, qrels)
    return [
        RunScores(run, _scores(qrels, rankings(run), names), {})
        for run in (complete_runs(collection) if runs is None else runs)
    ]


def compare(*, collection: Collection, measures: Sequence[str], policy: Policy | None = None) -> Comparison:
    """Every run under the original qrels and under those augmented by the policy, on the queries of the original."""
    names = _names(measures)
    before = original_qrels(collection)
    _require_qrels(collection, before)
    merged = merge(collection=collection, policy=policy).qrels
    after = {qid: merged.get(qid, grades) for qid, grades in before.items()}
    rows = []
    for run in complete_runs(collection):
        ranked = rankings(run)
        rows.append(RunScores(run, _scores(before, ranked, names), _scores(after, ranked, names)))
    tau = {
        name: kendall_tau([row.before[name].mean for row in rows], [row.after[name].mean for row in rows])
        for name in names
    }
    return Comparison(names, rows, tau, sum(map(len, before.values())), sum(map(len, after.values())))


def _names(measures: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(parse_measure(name)) for name in measures))


def _require_qrels(collection: Collection, qrels: dict[str, dict[str, int]]) -> None:
    if not qrels:
        raise UserError(
            _("%(name)s has no original qrels: nothing can be measured against them.") % {"name": collection.slug}
        )


def _scores(qrels: dict[str, dict[str, int]], ranked: dict[str, list[str]], names: Sequence[str]) -> dict[str, Score]:
    evaluation = measure(qrels, ranked, names)
    return {
        name: Score(
            evaluation.mean(name),
            mean_interval(evaluation.values[name]),
            len(evaluation.queries),
            evaluation.undefined(name),
        )
        for name in names
    }
