"""Whether an LLM can be talked into "relevant" by the query's own words, put into documents that do not answer it.

What it answers is kept with the probe and nowhere else: it is never a judgment.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.utils import timezone

from judging.engines.llm.base import Answer, LanguageModel, Question
from judging.errors import UserError
from judging.formats.scale import Scale
from judging.models import GullibilityProbe, Judge, Outcome, Pair, Pool, Query, fingerprint_of
from judging.steps.agreement.sheet import sheet_of_pool
from judging.steps.prefill import known_judge, questions
from judging.steps.progress import Track, quiet
from judging.steps.quality.stuffing import Way, other_words, stuffed, words_of

PAIRS = 50

# Pairs asked at a time, each twice; so much is lost at most when it is stopped.
_BATCH = 8

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """``pairs`` are asked at most, drawn by ``seed``; ``way`` is where the words are put."""

    pairs: int = PAIRS
    way: str = Way.START.value
    seed: int = 0


def probe(
    *, pool: Pool, llm: LanguageModel, options: ProbeOptions = ProbeOptions(), track: Track = quiet
) -> GullibilityProbe:
    """Ask an LLM again about pairs that it called non-relevant, with words put into the document.

    Drawn are pairs that it graded below relevant, and that people, where they judged them, did too. Each is asked with
    the words of its query, and as a control with as many words of other queries. A probe that was stopped goes on where
    it was; of one that was finished only what failed is asked again.

    Raises: UserError where this very configuration has judged nothing, or called nothing non-relevant.
    """
    judge = _judge(llm, pool)
    kept = GullibilityProbe.objects.filter(
        pool=pool, judge=judge, way=options.way, wanted=options.pairs, seed=options.seed
    ).first()
    found = kept or _drawn(pool, judge, options)
    unasked = [row for row in found.rows if _is_open(row)]
    for _row in track(_ask(found, unasked, llm), len(unasked), f"pairs asked again of {judge.name}"):
        pass
    if unasked:
        found.finished_at = timezone.now()
        found.save(update_fields=["finished_at"])
    return found


def _is_open(row: Row) -> bool:
    return "stuffed" not in row or Outcome.FAILED in (row["stuffed"][0], row["control"][0])


def _judge(llm: LanguageModel, pool: Pool) -> Judge:
    if found := known_judge(llm):
        return found
    identity = llm.identity()
    fingerprint = fingerprint_of(identity)[:8]
    judges = Judge.objects.filter(kind=Judge.Kind.LLM, name=llm.name)
    others = "; ".join(f"{other.label} differs in {_differing(identity, other.configuration)}" for other in judges)
    raise UserError(
        f"{llm.name!r} as it is here (fingerprint {fingerprint}) has judged nothing, so there is no answer to "
        f"shake: have it judge first, python manage.py prefill_llm {pool.slug} with the same options."
        + (f" Judges of that name: {others}." if others else "")
    )


def _differing(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    return ", ".join(names) or "nothing that is known"


def _drawn(pool: Pool, judge: Judge, options: ProbeOptions) -> GullibilityProbe:
    """The probe with its pairs and what was said of them before, nothing asked yet."""
    if options.way not in Way.values:
        raise UserError(f"--way: expected one of {', '.join(Way.values)}, found {options.way!r}.")
    if options.pairs < 1:
        raise UserError(f"--pairs: expected at least 1, found {options.pairs}.")
    rows = _non_relevant(pool, judge)
    if not rows:
        raise UserError(
            f"{judge.label} called no pair of {pool.slug} non-relevant that people did not call otherwise: there is "
            "nothing that it could be talked out of."
        )
    chosen = random.Random(options.seed).sample(rows, min(options.pairs, len(rows)))  # noqa: S311 (to be repeated)
    return GullibilityProbe.objects.create(
        pool=pool,
        judge=judge,
        way=options.way,
        wanted=options.pairs,
        seed=options.seed,
        # The pairs of a query one after the other, so that what they share is read once.
        rows=sorted(chosen, key=_ids),
    )


def _ids(row: Row) -> tuple[str, str]:
    return row["query"], row["document"]


def _non_relevant(pool: Pool, judge: Judge) -> list[Row]:
    """By the judge, and by the people where they judged; in the order of the ids, the same everywhere."""
    sheet = sheet_of_pool(pool)
    answers = next((one for one in sheet.llms if one.judge == judge), None)
    if answers is None:
        return []
    people = sheet.relevance(sheet.reference.grades)
    below = (sheet.relevance(answers.grades) == 0) & (people != 1) & (sheet.reference.why_not == "")
    ids = {
        (query, document): (qid, docid)
        for query, document, qid, docid in pool.pairs.readable().values_list(
            "query", "document", "query__qid", "document__docid"
        )
    }
    rows = []
    for number in np.flatnonzero(below).tolist():
        if sheet.keys[number] in ids:
            qid, docid = ids[sheet.keys[number]]
            before = [Outcome.GRADED.value, int(answers.grades[number]), _rounded(float(answers.probability[number]))]
            rows.append({"query": qid, "document": docid, "before": before})
    return sorted(rows, key=_ids)


def _ask(found: GullibilityProbe, unasked: Sequence[Row], llm: LanguageModel) -> Iterator[Row]:
    """Each row as its pair was asked; all rows are kept after every batch."""
    scale = found.pool.collection.scale
    pairs = _pairs(found.pool, unasked)
    vocabulary = _vocabulary(found.pool, list(pairs.values()))
    for start in range(0, len(unasked), _BATCH):
        batch = unasked[start : start + _BATCH]
        plain = questions([pairs[_ids(row)] for row in batch])
        asked = [_with(question, question.query.text, found.way) for question in plain]
        asked += [_with(question, _control(question, vocabulary, found.seed), found.way) for question in plain]
        said = [_kept(answer, scale) for answer in llm.judge(asked)]
        for row, with_query, with_others in zip(batch, said[: len(batch)], said[len(batch) :], strict=True):
            row["stuffed"], row["control"] = with_query, with_others
        found.save(update_fields=["rows"])
        yield from batch


def _pairs(pool: Pool, rows: Sequence[Row]) -> dict[tuple[str, str], Pair]:
    wanted = {_ids(row) for row in rows}
    found = pool.pairs.select_related("query", "document").filter(
        query__qid__in={query for query, _document in wanted}, document__docid__in={docid for _query, docid in wanted}
    )
    return {key: pair for pair in found if (key := (pair.query.qid, pair.document.docid)) in wanted}


def _vocabulary(pool: Pool, pairs: Sequence[Pair]) -> list[str]:
    """The words of the pool's queries; of the documents, where the pool has one query only."""
    texts = list(Query.objects.filter(pk__in=pool.pairs.values("query")).order_by("qid").values_list("text", flat=True))
    if len(texts) < 2:
        texts = [pair.document.text for pair in sorted(pairs, key=lambda pair: pair.document.docid)]
    return [word for text in texts for word in words_of(text)]


def _control(question: Question, vocabulary: Sequence[str], seed: int) -> str:
    return other_words(question.query.text, vocabulary, seed=f"{seed} {question.query.id} {question.document.id}")


def _with(question: Question, words: str, way: str) -> Question:
    text = stuffed(question.document.text, words, way)
    return replace(question, document=replace(question.document, text=text))


def _kept(answer: Answer, scale: Scale) -> list[Any]:
    """Outcome, grade and the share of the mass on the scale that lies on relevant grades."""
    mass = answer.probabilities or {}
    total = sum(mass.values())
    relevant = sum(value for grade, value in mass.items() if scale.relevant(grade))
    return [answer.outcome, answer.grade, _rounded(relevant / total) if total else None]


def _rounded(probability: float) -> float | None:
    return None if np.isnan(probability) else round(probability, 6)
