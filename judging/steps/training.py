"""A pool may begin with a few pairs of known grade: who judges is told after each whether they were right, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from judging.errors import FileError
from judging.formats.fields import shown
from judging.formats.training import TrainingLine, read_training
from judging.models import Collection, Document, Judge, Outcome, Pool, Query, TrainingAnswer, TrainingPair
from judging.steps.judgments import Said


def read(*, collection: Collection, path: str | PurePath) -> list[TrainingPair]:
    """The training pairs of a file, of this collection's queries and documents; not stored yet.

    Raises: FileError for a query, a document or a grade that the collection does not have, and for an empty file.
    """
    lines = list(read_training(path))
    if not lines:
        raise FileError(path, None, "expected training pairs (query, document, grade, explanation), found none.")
    queries = Query.objects.filter(collection=collection, qid__in={line.query for line in lines})
    query_of = {query.qid: query for query in queries.filter(in_corpus=True)}
    documents = Document.objects.filter(collection=collection, docid__in={line.document for line in lines})
    document_of = {document.docid: document for document in documents.filter(in_corpus=True, is_empty=False)}
    pairs = []
    for position, line in enumerate(lines):
        if problem := _problem(line, collection, query_of, document_of):
            raise FileError(path, line.line, problem)
        pairs.append(
            TrainingPair(
                position=position,
                query=query_of[line.query],
                document=document_of[line.document],
                grade=line.grade,
                explanation=line.explanation,
            )
        )
    return pairs


def _problem(
    line: TrainingLine, collection: Collection, queries: dict[str, Query], documents: dict[str, Document]
) -> str:
    if line.query not in queries:
        return f"expected a query of {collection.slug} that has a text, found {shown(line.query)}."
    if line.document not in documents:
        return f"expected a document of {collection.slug} that has a text, found {shown(line.document)}."
    if line.grade not in collection.scale:
        grades = ", ".join(map(str, collection.scale.values))
        return f"expected one of the grades {grades}, found {line.grade}."
    return ""


def next_pair(*, pool: Pool, annotator: Judge) -> TrainingPair | None:
    """The first training pair that this person has not answered; what an import took the text from is passed over."""
    answered = TrainingAnswer.objects.filter(pair=OuterRef("pk"), annotator=annotator)
    return _pairs(pool).filter(document__in_corpus=True, query__in_corpus=True).exclude(Exists(answered)).first()


def answered_pair(*, pool: Pool, annotator: Judge, pair_id: int) -> TrainingPair | None:
    """A training pair that this person has answered, to be looked at once more."""
    return _pairs(pool).filter(pk=pair_id, answers__annotator=annotator).first()


def previous(*, pool: Pool, annotator: Judge, before: TrainingPair | None = None) -> TrainingPair | None:
    """The training pair that this person answered last, or last before that one."""
    answers = TrainingAnswer.objects.filter(pair__pool=pool, annotator=annotator).order_by("-pk")
    if before and (answer := answers.filter(pair=before).first()):
        answers = answers.filter(pk__lt=answer.pk)
    latest = answers.select_related("pair__query", "pair__document").first()
    return latest.pair if latest else None


def _pairs(pool: Pool) -> QuerySet[TrainingPair]:
    return TrainingPair.objects.filter(pool=pool).select_related("query", "document").order_by("position")


@transaction.atomic
def answer(*, pair: TrainingPair, annotator: Judge, said: Said) -> TrainingAnswer:
    """Keep what a person says of a training pair. Only the first answer counts: afterwards they were told the grade."""
    kept, _created = TrainingAnswer.objects.get_or_create(
        pair=pair,
        annotator=annotator,
        defaults={
            "outcome": said.outcome,
            "grade": said.grade if said.outcome == Outcome.GRADED else None,
            "comment": said.comment,
            "seconds": said.seconds,
        },
    )
    return kept


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """One person's training.

    ``right``     answers with the very grade
    ``same_side`` answers on the right side of the line between relevant and not
    ``answers``   theirs, in the order of the pool; a pair not answered yet is missing
    """

    annotator: Judge
    pairs: int
    right: int
    same_side: int
    answers: Sequence[TrainingAnswer]

    @property
    def answered(self) -> int:
        return len(self.answers)

    @property
    def is_finished(self) -> bool:
        return self.answered == self.pairs

    @property
    def latest(self) -> datetime:
        return max(answer.at for answer in self.answers)


def results(pool: Pool) -> list[TrainingResult]:
    """How each person who began the training did, by name."""
    scale = pool.collection.scale
    pairs = TrainingPair.objects.filter(pool=pool).count()
    answers = (
        TrainingAnswer.objects.filter(pair__pool=pool)
        .select_related("annotator", "pair__query", "pair__document")
        .order_by("annotator__name", "annotator", "pair__position")
    )
    of_person: defaultdict[Judge, list[TrainingAnswer]] = defaultdict(list)
    for answer in answers:
        of_person[answer.annotator].append(answer)
    return [
        TrainingResult(
            annotator=annotator,
            pairs=pairs,
            right=sum(answer.grade == answer.pair.grade for answer in given),
            same_side=sum(
                answer.grade is not None and scale.relevant(answer.grade) == scale.relevant(answer.pair.grade)
                for answer in given
            ),
            answers=given,
        )
        for annotator, given in of_person.items()
    ]
