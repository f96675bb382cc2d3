"""agreement: how people and LLMs compare on the pairs of a pool, and what people found among the unjudged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Exists, OuterRef

from judging.formats.scale import Grade, Scale
from judging.measures.agreement import Ceiling, Panel, ceiling, confusion, panel
from judging.measures.arrays import FloatArray
from judging.measures.intervals import Estimate, share_interval
from judging.models import Judge, Judgment, Outcome, Pair, Pool
from judging.models.judgment import JudgmentQuerySet
from judging.steps.consensus import Key, Verdict, verdicts


@dataclass(frozen=True, slots=True)
class Found:
    """What people say of documents that the benchmark calls irrelevant.

    ``share``     of relevant ones among the judged pairs, with its interval, clustered by query and weighted
    ``implied``   relevant pairs in the whole pool, if the pairs not judged yet are like those that are
    ``known``     positives that the original qrels have for the pool's queries
    ``undecided`` pairs on which people differ without a majority; ``cannot_judge`` pairs that nobody could judge
    """

    share: Estimate
    judged: int
    relevant: int
    pairs: int
    queries: int
    known: int
    undecided: int
    cannot_judge: int

    @property
    def implied(self) -> float:
        return self.share.value * self.pairs


@dataclass(frozen=True, slots=True)
class Cell:
    """A count, and how dark its field is: 0 to 4."""

    count: int
    shade: int


@dataclass(frozen=True, slots=True)
class LlmAgreement:
    """One LLM against the people.

    ``counts``    (G, G) pairs by the people's grade and the LLM's, never weighted
    ``left_out``  pairs that only one side graded, by the reason
    """

    judge: Judge
    scale: Scale
    panel: Panel
    counts: FloatArray
    outcomes: dict[str, int]
    left_out: dict[str, int]

    @property
    def confusion_rows(self) -> list[tuple[Grade, list[Cell]]]:
        """The counts as a table: a row for each of the people's grades, a cell for each of the LLM's."""
        most = max(self.counts.max(), 1)
        return [
            (grade, [Cell(int(count), round(4 * count / most)) for count in row])
            for grade, row in zip(self.scale, self.counts, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Agreement:
    """``people`` compares people with people where two or more judged a pair; None where none did.

    ``assisted`` counts the labels that were left out because the person had seen an LLM's.
    """

    pool: Pool
    found: Found
    llms: Sequence[LlmAgreement]
    people: Ceiling | None
    annotators: int
    assisted: int = 0


def agreement(*, pool: Pool) -> Agreement:
    """The agreement of the people (adjudication, else majority) with each LLM that judged pairs of the pool.

    Labels given after seeing an LLM's (``assisted``) are left out here, on both comparisons.
    """
    pairs = {
        (query, document): 1 / probability
        for query, document, probability in pool.pairs.values_list("query", "document", "inclusion_probability")
    }
    judgments = judgments_of(pool)
    unassisted = judgments.filter(assisted=False)
    people = verdicts(unassisted)
    llms = Judge.objects.filter(kind=Judge.Kind.LLM, pk__in=judgments.values("judge")).order_by("pk")
    by_judge = _grades_by_judge(unassisted)
    return Agreement(
        pool=pool,
        found=_found(pool, pairs, people),
        llms=[_llm_agreement(pool, judge, judgments, pairs, people) for judge in llms],
        people=_people(pool, pairs, by_judge),
        annotators=len(by_judge),
        assisted=judgments.by_people().filter(assisted=True).count(),
    )


def judgments_of(pool: Pool) -> JudgmentQuerySet:
    """Everything that was said of the pool's pairs, wherever it was said."""
    in_pool = Pair.objects.filter(pool=pool, query=OuterRef("query"), document=OuterRef("document"))
    return Judgment.objects.filter(Exists(in_pool))


def _found(pool: Pool, pairs: dict[Key, float], people: dict[Key, Verdict]) -> Found:
    scale = pool.collection.scale
    decided = {key: verdict.grade for key, verdict in people.items() if verdict.grade is not None}
    relevant = [scale.relevant(grade) for grade in decided.values()]
    share = share_interval(
        np.array(relevant, dtype=float),
        [query for query, _ in decided],
        sample_weight=_weights(pairs, list(decided)),
    )
    positives = Judgment.objects.original(pool.collection).filter(grade__gte=scale.relevant_from)
    known = positives.filter(query__in=pool.pairs.values("query")).values("query", "document").distinct()
    return Found(
        share=share,
        judged=len(decided),
        relevant=sum(relevant),
        pairs=len(pairs),
        queries=len({query for query, _ in pairs}),
        known=known.count(),
        undecided=sum(verdict.is_tie for verdict in people.values()),
        cannot_judge=sum(verdict.grade is None and not verdict.grades for verdict in people.values()),
    )


def _llm_agreement(
    pool: Pool, judge: Judge, judgments: JudgmentQuerySet, pairs: dict[Key, float], people: dict[Key, Verdict]
) -> LlmAgreement:
    said = {
        (query, document): (outcome, grade)
        for query, document, outcome, grade in judgments.filter(judge=judge).values_list(
            "query", "document", "outcome", "grade"
        )
    }
    keys = [key for key in pairs if key in said and key in people]
    left_out: Counter[str] = Counter()
    for key in keys:
        outcome = said[key][0]
        if people[key].grade is None:
            left_out["people undecided" if people[key].is_tie else "people could not judge"] += 1
        elif outcome != Outcome.GRADED:
            left_out[str(Outcome(outcome).label)] += 1
    by_people = _as_grades([people[key].grade for key in keys])
    by_llm = _as_grades([said[key][1] for key in keys])
    scale = pool.collection.scale
    compared = panel(
        by_people,
        by_llm,
        grades=scale.values,
        relevant_from=scale.relevant_from,
        clusters=[query for query, _ in keys],
        sample_weight=_weights(pairs, keys),
    )
    counts = confusion(by_people, by_llm, grades=scale.values)
    outcomes = Counter(str(outcome) for outcome, _ in said.values())
    return LlmAgreement(judge, scale, compared, counts, dict(outcomes), dict(left_out))


def _weights(pairs: dict[Key, float], keys: Sequence[Key]) -> FloatArray | None:
    """1 / inclusion probability; None where it is the same for all, for then it weighs nothing."""
    weights = np.array([pairs[key] for key in keys], dtype=float)
    return weights if len(set(pairs.values())) > 1 else None


def _grades_by_judge(judgments: JudgmentQuerySet) -> dict[int, dict[Key, int]]:
    grades: defaultdict[int, dict[Key, int]] = defaultdict(dict)
    rows = judgments.by_people().values_list("judge", "query", "document", "grade")
    for judge, query, document, grade in rows:
        if grade is not None:
            grades[judge][query, document] = grade
    return dict(grades)


def _people(pool: Pool, pairs: dict[Key, float], by_judge: dict[int, dict[Key, int]]) -> Ceiling | None:
    shared = Counter(key for grades in by_judge.values() for key in grades)
    keys = [key for key in pairs if shared[key] > 1]
    if not keys:
        return None
    return ceiling(
        *(_as_grades([grades.get(key) for key in keys]) for grades in by_judge.values()),
        grades=pool.collection.scale.values,
        relevant_from=pool.collection.scale.relevant_from,
        clusters=[query for query, _ in keys],
        sample_weight=_weights(pairs, keys),
    )


def _as_grades(grades: Sequence[int | None]) -> FloatArray:
    """nan where there is no grade."""
    return np.array([np.nan if grade is None else grade for grade in grades], dtype=float)
