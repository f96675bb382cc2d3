"""What people found among the documents that the benchmark calls irrelevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judging.measures.intervals import Estimate, share_interval
from judging.models import Judgment, Pool
from judging.steps.agreement.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Found:
    """What people say of documents that the benchmark calls irrelevant.

    ``share``     of relevant ones among the judged pairs, with its interval, clustered by query and weighted
    ``holes``     pairs that the pool stands for: all of its own, or those that its pairs were drawn from
    ``implied``   relevant pairs among these, if the ones not judged yet are like those that are
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
    holes: float

    @property
    def implied(self) -> float:
        return self.share.value * self.holes


def found_in(sheet: Sheet, pool: Pool) -> Found:
    relevant = sheet.relevance(sheet.reference.grades)
    scale = sheet.scale
    positives = Judgment.objects.original(pool.collection).filter(grade__gte=scale.relevant_from)
    known = positives.filter(query__in=pool.pairs.values("query")).values("query", "document").distinct()
    return Found(
        share=share_interval(relevant, sheet.queries, sample_weight=sheet.weights),
        judged=int((~np.isnan(relevant)).sum()),
        relevant=int(np.nansum(relevant)),
        pairs=len(sheet.keys),
        queries=len({query for query, _ in sheet.keys}),
        known=known.count(),
        undecided=sum(verdict.is_tie for verdict in sheet.verdicts.values()),
        cannot_judge=sum(verdict.grade is None and not verdict.grades for verdict in sheet.verdicts.values()),
        holes=float((sheet.query_probability / sheet.inclusion).sum()),
    )
