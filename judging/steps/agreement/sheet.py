"""Who graded what: the pairs of a pool or a collection, lined up for every judge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Case, CharField, Exists, F, OuterRef, Value, When
from django.utils.translation import gettext as _

from judging.errors import UserError
from judging.formats.scale import Scale
from judging.measures.arrays import FloatArray, IntArray
from judging.models import Collection, Judge, Judgment, Outcome, Pair, Pool
from judging.models.judgment import JudgmentQuerySet
from judging.steps.consensus import Key, Verdict, verdicts

PEOPLE = "people"
QRELS = "qrels"
UNDECIDED = "people undecided"
NOBODY_COULD = "people could not judge"

_WHOLE_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,9}\s*")

Words = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Answers:
    """What one judge said of the n pairs of a sheet.

    ``grades``       (n,), nan where there is none
    ``outcomes``     (n,), the outcome, or empty where the judge was never asked
    ``probability``  (n,), the judge's probability that the document is relevant; nan where it gave none
    ``at``           (n,), when it was said last; None where it was not
    ``clipped``      grades outside the scale that were taken as its nearest end, for that was asked for
    """

    judge: Judge
    grades: FloatArray
    outcomes: Words
    probability: FloatArray
    at: Words
    clipped: int = 0


@dataclass(frozen=True, slots=True)
class Reference:
    """The side that judges are held against: ``grades`` (n,), and why there is none although it was asked.

    ``name`` is ``people``, ``qrels``, or that of the one judge whose primary key is ``judge``.
    """

    name: str
    grades: FloatArray
    why_not: Words
    judge: int = 0

    @property
    def is_people(self) -> bool:
        return self.name == PEOPLE and not self.judge


@dataclass(frozen=True, slots=True)
class Sheet:
    """``keys`` (n) are the pairs, in the order of the pool; ``inclusion`` (n,) their probabilities.

    ``people``    each person's answers, those left out that were given after seeing an LLM's
    ``assisted``  how many were left out
    ``clip``      whether grades outside the scale were taken as its nearest end
    """

    collection: Collection
    pool: Pool | None
    keys: Sequence[Key]
    best_rank: IntArray
    inclusion: FloatArray
    reference: Reference
    llms: Sequence[Answers]
    people: Sequence[Answers]
    verdicts: Mapping[Key, Verdict]
    assisted: int = 0
    clip: bool = False

    @property
    def scale(self) -> Scale:
        return self.collection.scale

    @property
    def queries(self) -> IntArray:
        """(n,) primary keys of the pairs' queries, by which intervals are clustered."""
        return np.array([query for query, _ in self.keys], dtype=np.int64)

    @property
    def weights(self) -> FloatArray | None:
        """1 / inclusion probability; None where it is the same for all, for then it weighs nothing."""
        if np.unique(self.inclusion).size < 2:
            return None
        return 1 / self.inclusion

    @property
    def query_probability(self) -> float:
        """With which each query of a pool was drawn; a pair's is lower where pairs were drawn one by one."""
        return self.pool.queries_sampled / self.pool.queries_available if self.pool else 1.0

    @property
    def drew_pairs(self) -> bool:
        return bool((self.inclusion < self.query_probability - 1e-9).any())

    @property
    def options(self) -> dict[str, Any]:
        """What every comparison of this sheet is told."""
        return {
            "grades": self.scale.values,
            "relevant_from": self.scale.relevant_from,
            "clusters": self.queries,
            "sample_weight": self.weights,
        }

    def relevance(self, grades: FloatArray) -> FloatArray:
        """(n,) 1 where relevant, 0 where not, nan without a grade."""
        return np.where(np.isnan(grades), np.nan, (grades >= self.scale.relevant_from).astype(float))

    def llm(self, pk: int) -> Answers:
        found = next((answers for answers in self.llms if answers.judge.pk == pk), None)
        if found is None:
            raise UserError(_("This LLM has judged none of the pairs. Have it judge them first: prefill_llm."))
        return found

    def answers_of(self, pk: int) -> Answers:
        """Of an LLM or a person."""
        found = next((answers for answers in (*self.llms, *self.people) if answers.judge.pk == pk), None)
        if found is None:
            raise UserError(_("This judge has judged none of the pairs."))
        return found

    def held_against(self, answers: Answers) -> Sheet:
        """The same pairs with one judge's answers as the reference."""
        why = np.array([Outcome(o).label if o and o != Outcome.GRADED else "" for o in answers.outcomes], dtype=object)
        return replace(self, reference=Reference(answers.judge.name, answers.grades, why, answers.judge.pk))


def judgments_of(pool: Pool) -> JudgmentQuerySet:
    """Everything that was said of the pool's pairs, wherever it was said."""
    in_pool = Pair.objects.filter(pool=pool, query=OuterRef("query"), document=OuterRef("document"))
    return Judgment.objects.filter(Exists(in_pool))


def sheet_of_pool(pool: Pool, *, reference: str | None = None, clip: bool = False) -> Sheet:
    rows = list(pool.pairs.values_list("query", "document", "best_rank", "inclusion_probability"))
    keys = [(query, document) for query, document, _, _ in rows]
    return _sheet(
        pool.collection,
        pool,
        keys,
        np.array([rank for _, _, rank, _ in rows], dtype=np.int64),
        np.array([probability for *_, probability in rows], dtype=float),
        judgments_of(pool),
        reference,
        clip,
    )


def sheet_of_collection(collection: Collection, *, reference: str | None = None, clip: bool = False) -> Sheet:
    """Every pair of the collection that a person or an LLM has judged, whichever pool it was in, if any."""
    judgments = Judgment.objects.of(collection)
    judged = judgments.exclude(judge__kind=Judge.Kind.QRELS).order_by("query", "document")
    keys = list(judged.values_list("query", "document").distinct())
    ranks = np.zeros(len(keys), dtype=np.int64)
    return _sheet(collection, None, keys, ranks, np.ones(len(keys)), judgments, reference, clip)


def _sheet(
    collection: Collection,
    pool: Pool | None,
    keys: list[Key],
    best_rank: IntArray,
    inclusion: FloatArray,
    judgments: JudgmentQuerySet,
    reference: str | None,
    clip: bool,  # noqa: FBT001
) -> Sheet:
    row = {key: number for number, key in enumerate(keys)}
    people_said = verdicts(judgments.filter(assisted=False))
    if reference is None:
        reference = PEOPLE if pool is not None or people_said else QRELS
    spoken = _Spoken(row, collection.scale, clip)
    spoken.read(judgments.filter(assisted=False, judge__kind__in=[Judge.Kind.LLM, Judge.Kind.PERSON]))
    by_kind: dict[str, list[Answers]] = {Judge.Kind.LLM: [], Judge.Kind.PERSON: []}
    for answers in spoken.answers():
        by_kind[answers.judge.kind].append(answers)
    return Sheet(
        collection=collection,
        pool=pool,
        keys=keys,
        best_rank=best_rank,
        inclusion=inclusion,
        reference=_reference(reference, collection, row, people_said),
        llms=by_kind[Judge.Kind.LLM],
        people=by_kind[Judge.Kind.PERSON],
        verdicts=people_said,
        assisted=judgments.by_people().filter(assisted=True).count(),
        clip=clip,
    )


def _reference(name: str, collection: Collection, row: Mapping[Key, int], people: Mapping[Key, Verdict]) -> Reference:
    grades = np.full(len(row), np.nan)
    why_not = np.full(len(row), "", dtype=object)
    if name == PEOPLE:
        for key, verdict in people.items():
            if (at := row.get(key)) is None:
                continue
            if verdict.grade is None:
                why_not[at] = UNDECIDED if verdict.is_tie else NOBODY_COULD
            else:
                grades[at] = verdict.grade
    elif name == QRELS:
        original = Judgment.objects.original(collection).filter(query__in={query for query, _ in row})
        for query, document, grade in original.values_list("query", "document", "grade").iterator(chunk_size=10_000):
            if (at := row.get((query, document))) is not None and grade is not None:
                grades[at] = grade
    else:
        raise UserError(f"The reference is {PEOPLE} or {QRELS}; found {name!r}.")
    return Reference(name, grades, why_not)


class _Spoken:
    """Collects the rows of judgments into one line of answers a judge."""

    def __init__(self, row: Mapping[Key, int], scale: Scale, clip: bool) -> None:  # noqa: FBT001
        self._row = row
        self._scale = scale
        self._clip = clip
        self._said: defaultdict[int, list[tuple[int, str, int | None, bool, float, datetime]]] = defaultdict(list)

    def read(self, judgments: JudgmentQuerySet) -> None:
        found = Case(When(outcome=Outcome.OUT_OF_SCALE, then=F("raw")), default=Value(""), output_field=CharField())
        rows = judgments.annotate(found=found).values_list(
            "judge", "query", "document", "outcome", "grade", "found", "probabilities", "updated_at"
        )
        for judge, query, document, outcome, grade, raw, probabilities, at in rows.iterator(chunk_size=10_000):
            number = self._row.get((query, document))
            if number is None:
                continue
            clipped = self._clip and outcome == Outcome.OUT_OF_SCALE and bool(_WHOLE_NUMBER.fullmatch(raw))
            if clipped:
                values = self._scale.values
                outcome, grade = Outcome.GRADED.value, min(max(int(raw), values[0]), values[-1])
            self._said[judge].append((number, outcome, grade, clipped, self._relevant(probabilities), at))

    def _relevant(self, probabilities: Mapping[str, float] | None) -> float:
        """The share of the mass on the scale that lies on relevant grades."""
        if not probabilities:
            return float("nan")
        mass = {grade: probabilities.get(str(grade), 0.0) for grade in self._scale.values}
        total = sum(mass.values())
        return sum(p for grade, p in mass.items() if self._scale.relevant(grade)) / total if total else float("nan")

    def answers(self) -> Iterable[Answers]:
        size = len(self._row)
        for judge in Judge.objects.filter(pk__in=list(self._said)).order_by("pk"):
            grades, probability = np.full(size, np.nan), np.full(size, np.nan)
            outcomes, at = np.full(size, "", dtype=object), np.full(size, None, dtype=object)
            count = 0
            for number, outcome, grade, clipped, relevant, when in self._said[judge.pk]:
                grades[number] = np.nan if grade is None else grade
                outcomes[number], probability[number], at[number] = outcome, relevant, when
                count += clipped
            yield Answers(judge, grades, outcomes, probability, at, count)
