"""Labels made elsewhere, by people or by an LLM, under a judge of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from judging.errors import FileError, UserError
from judging.formats.checksum import checksum
from judging.formats.judgments import read_judgments
from judging.formats.lines import size_of
from judging.formats.records import JudgmentLine
from judging.formats.scale import Scale
from judging.models import Collection, Judge, Judgment, JudgmentEvent, Outcome, Query, fingerprint_of
from judging.models.bulk import insert_rows
from judging.steps import lookup
from judging.steps.import_collection import ensure_documents
from judging.steps.judgments import Said
from judging.steps.progress import Meter, unmetered
from judging.steps.slots import fill_slots, forget_person

# Whose labels can be imported; original qrels come with their collection.
KINDS = (Judge.Kind.LLM.value, Judge.Kind.PERSON.value, Judge.Kind.ADJUDICATION.value)


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
    only: str | None = None,
    replace: bool = False,
    meter: Meter = unmetered,
) -> JudgmentsReport:
    """Store a file's labels under the judge of that name; all or nothing.

    Grades outside the collection's scale become ``out_of_scale``, never a grade. For an LLM, ``configuration`` says
    what made the labels; without one, the file's checksum stands for it. A person's labels fill the slots of pools. The
    times that the file states are kept; of several adjudications of a pair the latest by these holds.
    Of a file of several judges, such as an export's ``judgments.jsonl``, ``only`` picks one by name or fingerprint.

    Raises: UserError when the judge has judged the collection otherwise already and ``replace`` is false.
    """
    if kind not in KINDS:
        raise UserError(f"--kind: expected one of {', '.join(KINDS)}, found {kind!r}.")
    warnings: list[str] = []
    queries, scale = lookup.query_keys(collection), collection.scale
    lines = meter(
        lambda progress: read_judgments(path, warn=warnings.append, judge=only, progress=progress),
        size_of(path),
        "lines",
    )
    ours: list[_Ours] = []
    left_out = 0
    for line in lines:
        if line.query in queries:
            ours.append((queries[line.query], line.document, _said(line, scale), (line.created_at, line.updated_at)))
        else:
            left_out += 1
    if not ours:
        raise FileError(path, None, f"expected judgments of queries of {collection.slug}, found none of them.")
    with transaction.atomic():
        who = _judge(judge, kind, dict(configuration or {}) or {"file": path.name, "sha256": checksum(path)})
        report = JudgmentsReport(who, left_out=left_out, warnings=warnings)
        documents = ensure_documents(collection, {document for _, document, _, _ in ours})
        said = {(query, documents[document]): one for query, document, one, _ in ours}
        before = _said_before(who, collection)
        if before and not replace:
            if all(before.get(pair) == _content(now) for pair, now in said.items()):
                report.unchanged = True
                return report
            raise UserError(
                f"{who.name!r} has {len(before)} judgments of {collection.slug} already, and the file says otherwise. "
                "Give --replace to take the file's, or another --judge to keep both."
            )
        forget_person(who, collection)
        _withdraw(who, collection, keep=said.keys())
        stated = {(query, documents[document]): times for query, document, _, times in ours if any(times)}
        _store(who, said, _Times(who, stated), is_first=not before)
        if before:
            _record(who, said, changed={pair for pair, now in said.items() if before.get(pair) != _content(now)})
        else:
            _record_all(who, collection)
        report.outcomes = Counter(str(now.outcome) for now in said.values())
        if kind == Judge.Kind.PERSON:
            report.filled_slots = fill_slots(collection)
    return report


def _judge(name: str, kind: str, configuration: dict[str, Any]) -> Judge:
    lookup.refuse_long_name(name)
    if kind == Judge.Kind.PERSON:
        return lookup.person_judge(name=name)
    if kind == Judge.Kind.ADJUDICATION:
        return Judge.objects.get_or_create(kind=kind, name=name, fingerprint="")[0]
    return Judge.objects.get_or_create(
        kind=kind, name=name, fingerprint=fingerprint_of(configuration), defaults={"configuration": configuration}
    )[0]


# The primary keys of a query and a document.
_Pair = tuple[int, int]

# When a file says that a judgment was made, and last changed.
_Stated = tuple[datetime | None, datetime | None]

# A line of a query of ours: its key, the document's id, what is said of it, and when.
_Ours = tuple[int, str, Said, _Stated]

_EVENT_FIELDS = ("outcome", "grade", "comment", "seconds", "assisted")

# What a judgment keeps of an LLM's answer, and its history does not.
_DETAILS = ("probabilities", "raw", "truncated", "prompt_tokens", "completion_tokens")


def _said(line: JudgmentLine, scale: Scale) -> Said:
    outcome, raw = line.outcome, line.raw
    if outcome == Outcome.GRADED and line.grade not in scale:
        outcome = Outcome.OUT_OF_SCALE.value
    if outcome == Outcome.OUT_OF_SCALE and line.grade is not None:
        raw = raw or str(line.grade)
    return Said(
        outcome=outcome,
        grade=line.grade if outcome == Outcome.GRADED else None,
        comment=line.comment,
        seconds=line.seconds,
        assisted=line.assisted,
        probabilities={str(grade): value for grade, value in line.probabilities.items()}
        if line.probabilities
        else None,
        raw=raw,
        truncated=line.truncated,
        prompt_tokens=line.prompt_tokens,
        completion_tokens=line.completion_tokens,
    )


_Content = tuple[str, int | None, str]


def _content(said: Said) -> _Content:
    """What makes an answer another answer."""
    return said.outcome, said.grade, said.comment


def _said_before(judge: Judge, collection: Collection) -> dict[_Pair, _Content]:
    rows = Judgment.objects.of(collection).filter(judge=judge)
    return {
        (query, document): (outcome, grade, comment)
        for query, document, outcome, grade, comment in rows.values_list(
            "query", "document", "outcome", "grade", "comment"
        )
    }


def _withdraw(judge: Judge, collection: Collection, *, keep: Container[_Pair]) -> None:
    """Delete the judge's judgments of pairs that the file lacks."""
    rows = Judgment.objects.of(collection).filter(judge=judge).values_list("pk", "query", "document")
    for chunk in lookup.chunks([pk for pk, query, document in rows if (query, document) not in keep]):
        Judgment.objects.filter(pk__in=chunk).delete()


class _Times:
    """When each judgment was first made, and last changed.

    As the file states it; else the one for the other, the first time kept here, and now.
    """

    def __init__(self, judge: Judge, stated: Mapping[_Pair, _Stated]) -> None:
        rows = Judgment.objects.filter(judge=judge).values_list("query", "document", "created_at")
        self._kept = {(query, document): created for query, document, created in rows}
        self._stated = stated
        self._now = timezone.now()

    def __getitem__(self, pair: _Pair) -> tuple[datetime, datetime]:
        created, updated = self._stated.get(pair, (None, None))
        return created or self._kept.get(pair) or updated or self._now, updated or created or self._now


def _store(judge: Judge, said: Mapping[_Pair, Said], times: _Times, *, is_first: bool) -> None:
    """Store the answers, over earlier ones of the same pairs; a judge's first go the quick way."""
    if is_first:
        fields = (*_EVENT_FIELDS, *_DETAILS)
        insert_rows(
            Judgment,
            ("judge_id", "query_id", "document_id", *fields, "created_at", "updated_at"),
            ((judge.pk, *pair, *(getattr(one, name) for name in fields), *times[pair]) for pair, one in said.items()),
        )
        return
    Judgment.objects.bulk_create(
        [
            Judgment(
                judge=judge,
                query_id=pair[0],
                document_id=pair[1],
                **{name: getattr(one, name) for name in _DETAILS},
                created_at=times[pair][0],
                updated_at=times[pair][1],
                **one.values,
            )
            for pair, one in said.items()
        ],
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=("judge", "query", "document"),
        update_fields=(*_EVENT_FIELDS, *_DETAILS, "created_at", "updated_at"),
    )


def _record_all(judge: Judge, collection: Collection) -> None:
    """The first answers of a judge go into the history as they are, without leaving the database."""
    fields = ", ".join(_EVENT_FIELDS)
    events, judgments, queries = (model._meta.db_table for model in (JudgmentEvent, Judgment, Query))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {events} (judgment_id, {fields})"  # noqa: S608 (names of ours)
            f" SELECT id, {fields} FROM {judgments} WHERE judge_id = %s"
            f" AND query_id IN (SELECT id FROM {queries} WHERE collection_id = %s) ORDER BY id",
            [judge.pk, collection.pk],
        )


def _record(judge: Judge, said: Mapping[_Pair, Said], *, changed: set[_Pair]) -> None:
    """What has changed goes into the history of the judgments."""
    rows = Judgment.objects.filter(judge=judge).values_list("pk", "query", "document")
    insert_rows(
        JudgmentEvent,
        ("judgment_id", *_EVENT_FIELDS),
        (
            (pk, *(said[query, document].values[name] for name in _EVENT_FIELDS))
            for pk, query, document in list(rows)
            if (query, document) in changed
        ),
    )
