"""Pools with an LLM whose probabilities are known, for the tests of its quality."""

from __future__ import annotations

import numpy as np

from judging.formats.scale import default_scale
from judging.models import Judge, Judgment, JudgmentEvent, Pair, Pool
from tests.factories import make_collection, make_llm, make_person, make_pool, make_run


def make_judged_pool(
    *, queries: int = 30, pairs: int = 8, highest: int = 1, unjudged: int = 0, seed: int = 0, bias: float = 0.55
) -> tuple[Pool, Judge, Judge]:
    """A pool, a person, and an LLM whose probability of relevant is right but for ``bias`` that it adds to all.

    The last ``unjudged`` queries have no label of the person. On a graded scale the mass moves up the scale likewise.
    """
    documents = {f"d{n:02}": f"Text {n} begins. It goes on." for n in range(pairs)}
    names = {f"q{n:02}": f"what is number {n} good for" for n in range(queries)}
    collection = make_collection(documents=documents, queries=names, scale=default_scale(highest))
    pool = make_pool(
        collection, make_run(collection, {name: list(documents) for name in names}), name=collection.slug, depth=pairs
    )
    person, llm = make_person(), make_llm("llm", model="microsoft/Phi-3-mini-4k-instruct")
    random = np.random.default_rng(seed)
    rows: list[Judgment] = []
    for pair in pool.pairs.select_related("query"):
        truth = int(random.integers(0, highest + 1))
        if int(pair.query.qid[1:]) < queries - unjudged:
            rows.append(_graded(person, pair, truth, None))
        rows.append(_said_by_llm(llm, pair, truth, highest, bias, random))
    Judgment.objects.bulk_create(rows)
    return pool, person, llm


def _said_by_llm(
    llm: Judge, pair: Pair, truth: int, highest: int, bias: float, random: np.random.Generator
) -> Judgment:
    centre = float(np.clip(truth / highest * 0.4 + bias + random.normal(0, 0.12), 0.01, 0.99)) * highest
    low = min(int(centre), highest - 1)
    mass = dict.fromkeys(range(highest + 1), 0.0) | {low: (low + 1 - centre) * 0.96, low + 1: (centre - low) * 0.96}
    return _graded(llm, pair, max(mass, key=mass.__getitem__), {str(grade): value for grade, value in mass.items()})


def _graded(judge: Judge, pair: Pair, grade: int, probabilities: dict[str, float] | None) -> Judgment:
    return Judgment(
        judge=judge, query_id=pair.query_id, document_id=pair.document_id, outcome="graded", grade=grade,
        probabilities=probabilities,
    )  # fmt: skip


def everything_said(judge: Judge) -> list[tuple[object, ...]]:
    """Judgments and events of a judge, with their keys and times."""
    rows = Judgment.objects.filter(judge=judge).order_by("pk").values_list()
    return [*rows, *JudgmentEvent.objects.filter(judgment__judge=judge).order_by("pk").values_list()]
