"""Labels made elsewhere, by people or by an LLM, under a judge of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from judging.errors import FileError, UserError
from judging.formats.checksum import checksum
from judging.formats.judgments import read_judgments
from judging.formats.records import JudgmentLine
from judging.models import Collection, Judge, Judgment, JudgmentEvent, Outcome, fingerprint_of
from judging.models.bulk import insert_rows
from judging.steps import lookup
from judging.steps.import_collection import ensure_documents
from judging.steps.progress import Track, quiet
from judging.steps.slots import fill_slots, forget_person


@dataclass
class JudgmentsReport:
    """``outcomes`` counts what was stored; ``left_out`` the lines of queries that the collection lacks."""

    judge: Judge
    unchanged: bool = False
    outcomes: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    filled_slots: int = 0
    warnings: list[str] = field(default_factory=list)


def import_judgments(
    *,
    collection: Collection,
    path: Path,
    judge: str,
    kind: str,
    configuration: Mapping[str, Any] | None = None,
    replace: bool = False,
    track: Track = quiet,
) -> JudgmentsReport:
    """Store a file's labels under the judge of that name; all or nothing.

    Grades outside the collection's scale become ``out_of_scale``, never a grade. For an LLM, ``configuration`` says
    what made the labels; without one, the file's checksum stands for it. A person's labels fill the slots of pools.

    Raises: UserError when the judge has judged the collection otherwise already and ``replace`` is false.
    """
    if kind not in {Judge.Kind.LLM, Judge.Kind.PERSON}:
        raise UserError(f"--kind: expected llm or person, found {kind!r}.")
    warnings: list[str] = []
    queries = lookup.query_keys(collection)
    lines = list(track(read_judgments(path, warn=warnings.append), None, "lines"))
    ours = [line for line in lines if line.query in queries]
    if not ours:
        raise FileError(path, None, f"expected judgments of queries of {collection.slug}, found none of them.")
    with transaction.atomic():
        who = _judge(judge, kind, dict(configuration or {}) or {"file": path.name, "sha256": checksum(path)})
        report = JudgmentsReport(who, left_out=len(lines) - len(ours), warnings=warnings)
        documents = ensure_documents(collection, {line.document for line in ours})
        rows = {(queries[line.query], documents[line.document]): _row(line, collection.scale.values) for line in ours}
        existing = Judgment.objects.of(collection).filter(judge=who)
        before = {
            (query, document): (outcome, grade)
            for query, document, outcome, grade in existing.values_list("query", "document", "outcome", "grade")
        }
        if before and not replace:
            if all(before.get(key) == (row[0], row[1]) for key, row in rows.items()):
                report.unchanged = True
                return report
            raise UserError(
                f"{who.name!r} has {len(before)} judgments of {collection.slug} already, and the file says otherwise. "
                "Give --replace to take the file's, or another --judge to keep both."
            )
        existing.delete()
        forget_person(who, collection)
        _insert(who, rows)
        report.outcomes = Counter(str(row[0]) for row in rows.values())
        if kind == Judge.Kind.PERSON:
            report.filled_slots = fill_slots(collection)
    return report


def _judge(name: str, kind: str, configuration: dict[str, Any]) -> Judge:
    if kind == Judge.Kind.PERSON:
        return lookup.person_judge(name=name)
    return Judge.objects.get_or_create(
        kind=kind, name=name, fingerprint=fingerprint_of(configuration), defaults={"configuration": configuration}
    )[0]


_FIELDS = ("outcome", "grade", "probabilities", "raw", "comment", "seconds", "assisted")


def _row(line: JudgmentLine, grades: tuple[int, ...]) -> tuple[Any, ...]:
    outcome, grade, raw = line.outcome, line.grade, line.raw
    if outcome == Outcome.GRADED and grade not in grades:
        outcome, raw = Outcome.OUT_OF_SCALE.value, raw or str(grade)
    if outcome != Outcome.GRADED:
        grade = None
    return outcome, grade, line.probabilities, raw, line.comment, line.seconds, line.assisted


def _insert(judge: Judge, rows: dict[tuple[int, int], tuple[Any, ...]]) -> None:
    insert_rows(
        Judgment,
        ("judge_id", "query_id", "document_id", *_FIELDS),
        ((judge.pk, *key, *row) for key, row in rows.items()),
    )
    keys = Judgment.objects.filter(judge=judge).values_list("query", "document", "pk")
    judgments = {(query, document): pk for query, document, pk in keys}
    insert_rows(
        JudgmentEvent,
        ("judgment_id", "outcome", "grade", "comment", "seconds", "assisted"),
        ((judgments[key], row[0], row[1], row[4], row[5], row[6]) for key, row in rows.items()),
    )
