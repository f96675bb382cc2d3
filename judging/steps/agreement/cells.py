"""The very pairs behind a number: of one cell of the confusion matrix, or of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judging.models import Document, Judgment, Query
from judging.steps.agreement.sheet import Answers, Sheet
from judging.steps.reading import Reading, reading


@dataclass(frozen=True, slots=True)
class Label:
    """What one judge said of a pair, in words."""

    judge: str
    word: str
    comment: str
    is_llm: bool


@dataclass(frozen=True, slots=True)
class ShownPair:
    query: Query
    reading: Reading
    best_rank: int
    labels: Sequence[Label]


def rows_of(sheet: Sheet, answers: Answers, *, said: tuple[int, int] | None = None, query: int = 0) -> list[int]:
    """Rows of the pairs that both graded: of a cell, ``said`` = (the reference's grade, the judge's), or of a query."""
    first, second = sheet.reference.grades, answers.grades
    chosen = ~np.isnan(first) & ~np.isnan(second)
    if said is not None:
        chosen &= (first == said[0]) & (second == said[1])
    if query:
        chosen &= sheet.queries == query
    rows: list[int] = np.flatnonzero(chosen).tolist()
    return rows


def shown(sheet: Sheet, rows: Sequence[int], judge: int) -> list[ShownPair]:
    """Those pairs as people read them, with the labels of people, of the LLMs compared and of the original qrels."""
    keys = [sheet.keys[row] for row in rows]
    queries = Query.objects.in_bulk({query for query, _ in keys})
    documents = Document.objects.in_bulk({document for _, document in keys})
    labels = _labels(sheet, keys, judge)
    return [
        ShownPair(
            queries[key[0]],
            reading(document=documents[key[1]], query=queries[key[0]], collection=sheet.collection),
            int(sheet.best_rank[row]),
            labels.get(key, []),
        )
        for row, key in zip(rows, keys, strict=True)
    ]


def _labels(sheet: Sheet, keys: Sequence[tuple[int, int]], judge: int) -> dict[tuple[int, int], list[Label]]:
    labels: dict[tuple[int, int], list[Label]] = {}
    wanted, llms = set(keys), {judge, sheet.reference.judge}
    found = Judgment.objects.filter(query__in={q for q, _ in keys}, document__in={d for _, d in keys})
    for said in found.select_related("judge").order_by("judge__kind", "judge__name"):
        key = (said.query_id, said.document_id)
        if key not in wanted or (said.judge.kind == "llm" and said.judge_id not in llms):
            continue
        word = said.get_outcome_display() if said.grade is None else sheet.scale.word(said.grade)
        labels.setdefault(key, []).append(Label(said.judge.name, word, said.comment, said.judge.kind == "llm"))
    return labels
