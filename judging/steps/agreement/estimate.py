"""What a few labels of people tell with an LLM's everywhere, and what more of them would buy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from judging.measures.arrays import FloatArray
from judging.measures.estimation import Joined, join
from judging.measures.intervals import Interval, share_interval
from judging.measures.planning import (
    Purchase,
    Variation,
    buy,
    variation_of_coefficient,
    variation_of_share,
    width_now,
)
from judging.measures.ranking import evaluate
from judging.measures.sentence import Sentence
from judging.models import Hit, Judgment, Pool
from judging.steps.agreement.compare import compare
from judging.steps.agreement.sheet import NOBODY_COULD, UNDECIDED, Answers, Sheet

_CUTOFF = 10

Grades = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Row:
    """A measure's mean over queries; ``run`` is empty where it is no run's."""

    run: str
    measure: str
    joined: Joined

    @property
    def name(self) -> str:
        return Sentence("%(measure)s of %(run)s", measure=self.measure, run=self.run) if self.run else self.measure


@dataclass(frozen=True, slots=True)
class Estimates:
    """``judged`` of the ``queries`` with holes were judged whole by people; the means are about ``population`` of them.

    ``undecided`` queries are no part of the judged ones because people are undecided on one of their pairs.
    ``reason`` says why there are no rows.
    """

    rows: Sequence[Row] = ()
    queries: int = 0
    judged: int = 0
    population: int = 0
    undecided: int = 0
    reason: str = ""


def estimates(sheet: Sheet, answers: Answers) -> Estimates:
    """nDCG@10 and P@10 of the pool's runs and the relevant documents a query, by people, by an LLM and joined.

    A query is judged by people when they have answered all of its pairs without a tie. What the LLM did not read stays
    a hole in its values: the joined estimate is right whatever the LLM's values are.
    """
    pool = sheet.pool
    if pool is None:
        return Estimates(reason="such means are those of a pool's queries")
    if not sheet.reference.is_people:
        return Estimates(reason="such means correct an LLM's labels by those of people")
    if sheet.drew_pairs:
        return Estimates(reason="its pairs were drawn one by one, so no query is judged whole")
    by_query = _rows_by_query(sheet)
    whole = {query for query, rows in by_query.items() if _is_whole(sheet, rows)}
    asked = {query for query, rows in by_query.items() if not np.isnan(answers.grades[rows]).all()}
    if not asked:
        return Estimates(reason="it graded no pair", queries=len(by_query))
    if not whole:
        return Estimates(reason="people have judged no query whole yet", queries=len(by_query))
    of = len(by_query) * pool.queries_available / max(pool.queries_sampled, 1)
    return Estimates(
        rows=_rows(sheet, pool, answers, by_query, whole, asked, population=max(of, len(by_query))),
        queries=len(by_query),
        judged=len(whole),
        population=round(of),
        undecided=sum(bool((sheet.reference.why_not[rows] == UNDECIDED).any()) for rows in by_query.values()),
    )


def _rows_by_query(sheet: Sheet) -> dict[int, list[int]]:
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for number, (query, _document) in enumerate(sheet.keys):
        rows[query].append(number)
    return dict(rows)


def _is_whole(sheet: Sheet, rows: Sequence[int]) -> bool:
    reference = sheet.reference
    return all(not isnan(reference.grades[row]) or reference.why_not[row] == NOBODY_COULD for row in rows)


def _rows(
    sheet: Sheet,
    pool: Pool,
    answers: Answers,
    by_query: Mapping[int, Sequence[int]],
    whole: set[int],
    asked: set[int],
    *,
    population: float,
) -> list[Row]:
    order = list(by_query)
    original = _original(pool, order)
    by_people, by_llm = (_with(sheet, original, grades) for grades in (sheet.reference.grades, answers.grades))
    rel = sheet.scale.relevant_from
    names = [f"nDCG@{_CUTOFF}", f"P@{_CUTOFF}" if rel == 1 else f"P(rel={rel})@{_CUTOFF}"]
    only = partial(_only, order)
    rows = [
        _row("", "relevant documents found a query", only(_positives(sheet, by_query, sheet.reference.grades), whole),
             only(_positives(sheet, by_query, answers.grades), asked), population)
    ]  # fmt: skip
    for run in pool.runs.all():
        ranked = _top(run.pk, order)
        people, llm = (evaluate(qrels, ranked, names) for qrels in (by_people, by_llm))
        rows += [
            _row(run.name, name, only(people.values[name], whole), only(llm.values[name], asked), population)
            for name in names
        ]
    return rows


def _row(run: str, measure: str, people: FloatArray, llm: FloatArray, population: float) -> Row:
    return Row(run, measure, join(people, llm, population=population))


def _only(order: Sequence[int], values: FloatArray, queries: set[int]) -> FloatArray:
    return np.where([query in queries for query in order], values, np.nan)


def _positives(sheet: Sheet, by_query: Mapping[int, Sequence[int]], grades: FloatArray) -> FloatArray:
    relevant = sheet.relevance(grades)
    return np.array([float(np.nansum(relevant[list(rows)])) for rows in by_query.values()])


def _original(pool: Pool, queries: Sequence[int]) -> Grades:
    """The original qrels, keyed by primary keys."""
    grades: Grades = {str(query): {} for query in queries}
    original = Judgment.objects.original(pool.collection).filter(query__in=pool.pairs.values("query"))
    for query, document, grade in original.values_list("query", "document", "grade").iterator(chunk_size=10_000):
        if grade is not None:
            grades[str(query)][str(document)] = grade
    return grades


def _with(sheet: Sheet, original: Grades, grades: FloatArray) -> Grades:
    """The original qrels, and what was said of the holes."""
    joined = {query: dict(documents) for query, documents in original.items()}
    for (query, document), grade in zip(sheet.keys, grades, strict=True):
        if not isnan(grade):
            joined[str(query)].setdefault(str(document), int(grade))
    return joined


def _top(run: int, queries: Sequence[int]) -> dict[str, list[str]]:
    wanted = set(queries)
    ranked: defaultdict[str, list[str]] = defaultdict(list)
    hits = Hit.objects.filter(run=run, rank__lte=_CUTOFF).order_by("query", "rank").values_list("query", "document")
    for query, document in hits.iterator(chunk_size=10_000):
        if query in wanted:
            ranked[str(query)].append(str(document))
    return dict(ranked)


_MORE = {"queries": "on new queries", "pairs": "on more pairs of the same queries", "people": "as second opinions"}


@dataclass(frozen=True, slots=True)
class Buying:
    """One way to spend labels: the width of an interval now, and the one to expect."""

    of: str
    labels: int
    now: float
    purchase: Purchase

    @property
    def way(self) -> str:
        return _MORE[self.purchase.more]

    @property
    def sentence(self) -> str:
        if self.purchase.reason:
            return f"{self.of}, {self.labels} labels {self.way}: cannot be told, {self.purchase.reason}"
        return (
            f"{self.of}, {self.labels} labels {self.way}: an interval {self.purchase.width:.3f} wide "
            f"instead of {self.now:.3f}"
        )


def purchases(sheet: Sheet, labels: int, *, llms: Sequence[Answers] | None = None) -> list[Buying]:
    """What so many more labels of people would make of the interval of the share relevant, and of each LLM's kappa.

    ``llms`` are those whose kappa is planned; all of the sheet by default.
    """
    if not sheet.reference.is_people or np.isnan(sheet.reference.grades).all():
        return []
    raters = [sheet.relevance(answers.grades) for answers in sheet.people] or [sheet.relevance(sheet.reference.grades)]
    options: dict[str, Any] = {"clusters": sheet.queries, "sample_weight": sheet.weights}
    of: list[tuple[str, Variation, Interval | None]] = []
    if sheet.pool:
        share = share_interval(sheet.relevance(sheet.reference.grades), sheet.queries, sample_weight=sheet.weights)
        of.append(("share relevant", variation_of_share(*raters, **options), share.interval))
    of += [
        (
            Sentence("kappa of %(judge)s", judge=answers.judge.name),
            variation_of_coefficient(sheet.reference.grades, answers.grades, grades=sheet.scale.values, **options),
            compare(sheet, answers).panel.graded["cohen_kappa"].interval,
        )
        for answers in (sheet.llms if llms is None else llms)
    ]
    return [buying for name, variation, shown in of for buying in _buying(name, variation, labels, shown)]


def _buying(name: str, variation: Variation, labels: int, shown: Interval | None) -> list[Buying]:
    """The planned change, applied to the width that the page shows.

    The plan takes a negative variance between queries as 0, so its own widths are too wide where every query is as
    rich as the next; how they change with more labels still holds.
    """
    planned = width_now(variation)
    now = planned if shown is None or isnan(shown.low) else shown.high - shown.low
    bought = [replace(purchase, width=purchase.width * now / planned) for purchase in buy(variation, labels)]
    if variation.reason:  # The same reason whatever is bought.
        bought = bought[:1]
    return [Buying(name, labels, now, purchase) for purchase in bought]
