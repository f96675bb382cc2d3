"""disagreements: the pairs on which people differ among themselves or from an LLM, the most surprising first.

How surprising a pair is: the largest distance between two grades that are compared (two people's, or a person's and an
LLM's), then how probable the LLM held its own grade, then the order of the pool. Only grades are compared; an answer
without one differs from nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from judging.models import Judge, Judgment, Outcome, Pair, Pool
from judging.steps.agree import judgments_of
from judging.steps.consensus import Key

PEOPLE, LLM = "people", "llm"
OPEN, SETTLED = "open", "settled"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which disagreements are wanted. Empty means all.

    ``between``  ``people``: people among themselves; ``llm``: people against LLMs
    ``judge``    primary key of a judge who must be one of the two that differ
    ``state``    ``open``: not adjudicated yet; ``settled``: adjudicated
    """

    between: str = ""
    judge: int | None = None
    state: str = OPEN


@dataclass(frozen=True, slots=True)
class Disagreement:
    """``distance`` in grades; ``confidence`` of the LLM in the grade that differs, None where it gave none."""

    pair_id: int
    query_id: int
    document_id: int
    distance: int
    confidence: float | None
    people_differ: bool
    llm_differs: bool
    settled: bool

    @property
    def key(self) -> Key:
        return self.query_id, self.document_id


@dataclass(frozen=True, slots=True)
class Grading:
    judge: int
    grade: int


@dataclass(slots=True)
class _Said:
    people: list[Grading] = field(default_factory=list)
    llms: list[Grading] = field(default_factory=list)
    settled: bool = False


def disagreements(*, pool: Pool, choice: Choice | None = None) -> list[Disagreement]:
    """The pool's disagreements under a choice, the most surprising first."""
    choice = choice or Choice()
    said = _said(pool)
    found = []
    pairs = pool.pairs.readable()
    rows = list(pairs.values_list("pk", "query", "document"))
    differing = {(query, document): _differing(said[query, document], choice) for _, query, document in rows}
    confidences = _confidences(pool, differing)
    for pk, query, document in rows:
        key = (query, document)
        conflicts = differing[key]
        if not conflicts or (choice.state and said[key].settled != (choice.state == SETTLED)):
            continue
        people = {grading.judge for grading in said[key].people}
        found.append(
            Disagreement(
                pair_id=pk,
                query_id=query,
                document_id=document,
                distance=max(abs(one.grade - other.grade) for one, other in conflicts),
                confidence=_highest(confidences.get((key, other.judge)) for _, other in conflicts),
                people_differ=any(other.judge in people for _, other in conflicts),
                llm_differs=any(other.judge not in people for _, other in conflicts),
                settled=said[key].settled,
            )
        )
    # Sorting is stable, so the pool's order stays where the rest is equal.
    return sorted(found, key=lambda one: (-one.distance, -(one.confidence or 0.0)))


def _said(pool: Pool) -> defaultdict[Key, _Said]:
    said: defaultdict[Key, _Said] = defaultdict(_Said)
    rows = judgments_of(pool).exclude(judge__kind=Judge.Kind.QRELS).order_by("judge")
    for query, document, judge, kind, grade in rows.values_list("query", "document", "judge", "judge__kind", "grade"):
        of_pair = said[query, document]
        if kind == Judge.Kind.ADJUDICATION:
            of_pair.settled = True
        elif grade is not None:
            (of_pair.people if kind == Judge.Kind.PERSON else of_pair.llms).append(Grading(judge, grade))
    return said


def _differing(said: _Said, choice: Choice) -> list[tuple[Grading, Grading]]:
    """The comparisons of a pair whose grades differ; an LLM stands second."""
    return [
        (one, other)
        for one, other in _compared(said, choice.between)
        if one.grade != other.grade and choice.judge in {None, one.judge, other.judge}
    ]


def _compared(said: _Said, between: str) -> Iterator[tuple[Grading, Grading]]:
    if between != LLM:
        yield from combinations(said.people, 2)
    if between != PEOPLE:
        yield from product(said.people, said.llms)


def _confidences(pool: Pool, differing: dict[Key, list[tuple[Grading, Grading]]]) -> dict[tuple[Key, int], float]:
    """The probability that each LLM gave to its own grade, of the pairs on which anybody differs."""
    if not any(differing.values()):
        return {}
    rows = judgments_of(pool).filter(judge__kind=Judge.Kind.LLM, outcome=Outcome.GRADED, probabilities__isnull=False)
    return {
        ((query, document), judge): float((probabilities or {}).get(str(grade), 0.0))
        for query, document, judge, grade, probabilities in rows.values_list(
            "query", "document", "judge", "grade", "probabilities"
        )
        if differing.get((query, document))
    }


def _highest(confidences: Iterable[float | None]) -> float | None:
    return max((value for value in confidences if value is not None), default=None)


def judges_of(pool: Pool) -> Sequence[Judge]:
    """The people and the LLMs who judged pairs of the pool."""
    return list(
        Judge.objects.filter(
            kind__in=[Judge.Kind.PERSON, Judge.Kind.LLM], pk__in=judgments_of(pool).values("judge")
        ).order_by("-kind", "name", "pk")
    )


def said_of(pair: Pair) -> list[Judgment]:
    """What people and LLMs said of a pair, people first; then adjudications, the latest first."""
    judgments = Judgment.objects.filter(query=pair.query_id, document=pair.document_id).exclude(
        judge__kind=Judge.Kind.QRELS
    )
    order = [Judge.Kind.PERSON, Judge.Kind.LLM, Judge.Kind.ADJUDICATION]
    rows = judgments.select_related("judge").order_by("-updated_at", "-pk")
    return sorted(rows, key=lambda one: (order.index(Judge.Kind(one.judge.kind)), _name_unless_adjudication(one)))


def _name_unless_adjudication(judgment: Judgment) -> str:
    return "" if judgment.judge.kind == Judge.Kind.ADJUDICATION else judgment.judge.name
