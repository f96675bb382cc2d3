"""Labels made elsewhere, by people or by an LLM, under a judge of their own.

A file is read once and never kept whole: checked line by line into a working copy, which is stored when all
of it is good. Beside the copy some 50 bytes are kept of each label, and 60 more where the judge has labels already.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
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
from judging.steps.judgment_changes import Difference, Labels, content_of, difference, labels_of
from judging.steps.progress import Meter, unmetered
from judging.steps.slots import fill_slots, forget_person
from judging.steps.spool import Spool

# Whose labels can be imported; original qrels come with their collection.
KINDS = (Judge.Kind.LLM.value, Judge.Kind.PERSON.value, Judge.Kind.ADJUDICATION.value)


@dataclass
class JudgmentsReport:
    """``outcomes`` counts what was stored; ``left_out`` the lines of queries that the collection lacks.

    ``beyond`` counts, where nothing was changed, what the judge has said beyond the file.
    """

    judge: Judge
    unchanged: bool = False
    beyond: int = 0
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

    Raises: FileError for a bad line and for two lines that contradict each other; UserError when the judge has judged
    the collection otherwise already and ``replace`` is false: it says what would change.
    """
    if kind not in KINDS:
        raise UserError(f"--kind: expected one of {', '.join(KINDS)}, found {kind!r}.")
    warnings: list[str] = []
    read = meter(
        lambda progress: read_judgments(path, warn=warnings.append, judge=only, progress=progress),
        size_of(path),
        "lines",
    )
    with Spool() as spool:
        labels = _NewLabels(collection, spool)
        labels.read(read)
        if not labels.queries:
            raise FileError(path, None, f"expected judgments of queries of {collection.slug}, found none of them.")
        with transaction.atomic():
            who = _judge(judge, kind, dict(configuration or {}) or {"file": path.name, "sha256": checksum(path)})
            report = JudgmentsReport(who, left_out=labels.left_out, warnings=warnings)
            labels.find_documents()
            before = labels_of(who, collection)
            if before and not replace:
                _refuse_others(before, labels, report)
                return report
            forget_person(who, collection)
            if before:
                _replace(before, labels, who)
            else:
                _store_first(labels, who)
            report.outcomes = labels.outcomes
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


_EVENT_FIELDS = ("outcome", "grade", "comment", "seconds", "assisted")

# What a judgment keeps of an LLM's answer, and its history does not.
_DETAILS = ("probabilities", "raw", "truncated", "prompt_tokens", "completion_tokens")

_FIELDS = (*_EVENT_FIELDS, *_DETAILS)

# Rows that are compared with the database, or written over others, at a time.
_ROWS = 5_000


class _NewLabels:
    """The file's labels of queries that the collection has: keys here, what is said in a working copy."""

    def __init__(self, collection: Collection, spool: Spool) -> None:
        self.collection = collection
        self.outcomes: Counter[str] = Counter()
        self.left_out = 0
        self.queries = array("q")
        self.documents = array("q")
        self._spool = spool

    def read(self, lines: Iterable[JudgmentLine]) -> None:
        self._spool.fill(self._rows(lines))

    def _rows(self, lines: Iterable[JudgmentLine]) -> Iterator[tuple[Any, ...]]:
        queries, scale = lookup.query_keys(self.collection), self.collection.scale
        for line in lines:
            query = queries.get(line.query)
            if query is None:
                self.left_out += 1
                continue
            row = _row(line, scale)
            self.queries.append(query)
            self.outcomes[row[1]] += 1
            yield row

    def find_documents(self) -> None:
        """Look up the keys of the documents, in the order of the labels; those that the corpus lacks are made."""
        for chunk in lookup.chunks((row[0] for row in self._spool), _ROWS):
            keys = ensure_documents(self.collection, set(chunk))
            self.documents.extend(keys[docid] for docid in chunk)

    def as_labels(self) -> Labels:
        contents = array("q", (content_of(*row[1:4]) for row in self._spool))
        return Labels(self.queries, self.documents, contents)

    def __iter__(self) -> Iterator[tuple[int, int, list[Any], datetime | None, datetime | None]]:
        """(query, document, the values of ``_FIELDS``, when it was made, and last changed, if the file says)."""
        for query, document, row in zip(self.queries, self.documents, self._spool, strict=True):
            yield query, document, row[1:-2], _time(row[-2]), _time(row[-1])


def _row(line: JudgmentLine, scale: Scale) -> tuple[Any, ...]:
    """The document's id, the values of ``_FIELDS``, and the times that the file states."""
    outcome, raw = line.outcome, line.raw
    if outcome == Outcome.GRADED and line.grade not in scale:
        outcome = Outcome.OUT_OF_SCALE.value
    if outcome == Outcome.OUT_OF_SCALE and line.grade is not None:
        raw = raw or str(line.grade)
    chances = line.probabilities
    return (
        line.document,
        outcome,
        line.grade if outcome == Outcome.GRADED else None,
        line.comment,
        line.seconds,
        line.assisted,
        {str(grade): value for grade, value in chances.items()} if chances else None,
        raw,
        line.truncated,
        line.prompt_tokens,
        line.completion_tokens,
        line.created_at,
        line.updated_at,
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _refuse_others(before: Labels, new: _NewLabels, report: JudgmentsReport) -> None:
    """UserError unless the judge has said all of it already; what was said beyond it is reported."""
    changes = difference(before, new.as_labels())
    if not len(changes.added) and not len(changes.changed):
        report.unchanged, report.beyond = True, len(changes.removed)
        return
    raise UserError(
        f"{report.judge.name!r} has {len(before):,} judgments of {new.collection.slug} already, and the file says "
        f"otherwise. What would change: {changes}. "
        "Give --replace to take the file's, or another --judge to keep both."
    )


def _store_first(new: _NewLabels, judge: Judge) -> None:
    """Store a judge's first labels, and begin their history without leaving the database."""
    now = timezone.now()
    insert_rows(
        Judgment,
        ("judge_id", "query_id", "document_id", *_FIELDS, "created_at", "updated_at"),
        (
            (judge.pk, query, document, *said, created or updated or now, updated or created or now)
            for query, document, said, created, updated in new
        ),
    )
    queries = Query._meta.db_table
    where = f"judge_id = %s AND query_id IN (SELECT id FROM {queries} WHERE collection_id = %s)"  # noqa: S608 (names of ours)
    _record(where, [judge.pk, new.collection.pk])


def _replace(before: Labels, new: _NewLabels, judge: Judge) -> None:
    """Put the labels in place of the earlier ones; what is another answer than before goes on with the history."""
    _delete(before, difference(before, new.as_labels()))
    now = timezone.now()
    for chunk in lookup.chunks(new, _ROWS):
        dated = [label for label in chunk if label[3]]
        undated = [label for label in chunk if not label[3]]
        # Where the file does not say when a judgment was first made, what is known of that stays.
        _write_over(dated, judge, now, fields=(*_FIELDS, "created_at", "updated_at"))
        _write_over(undated, judge, now, fields=(*_FIELDS, "updated_at"))
    after = labels_of(judge, new.collection)
    changes = difference(before, after)
    for keys in lookup.chunks(after.keys[place] for place in chain(changes.added, changes.changed)):
        _record(f"id IN ({', '.join(['%s'] * len(keys))})", keys)


def _delete(before: Labels, changes: Difference) -> None:
    """Delete the judgments of pairs that the file lacks."""
    for keys in lookup.chunks(before.keys[place] for place in changes.removed):
        Judgment.objects.filter(pk__in=keys).delete()


def _write_over(labels: Iterable[Any], judge: Judge, now: datetime, *, fields: tuple[str, ...]) -> None:
    Judgment.objects.bulk_create(
        [
            Judgment(
                judge=judge,
                query_id=query,
                document_id=document,
                created_at=created or updated or now,
                updated_at=updated or created or now,
                **dict(zip(_FIELDS, said, strict=True)),
            )
            for query, document, said, created, updated in labels
        ],
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=("judge", "query", "document"),
        update_fields=fields,
    )


def _record(where: str, values: list[int]) -> None:
    """Judgments go into the history as they are."""
    fields = ", ".join(_EVENT_FIELDS)
    events, judgments = JudgmentEvent._meta.db_table, Judgment._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {events} (judgment_id, {fields})"  # noqa: S608 (names of ours)
            f" SELECT id, {fields} FROM {judgments} WHERE {where} ORDER BY id",
            values,
        )
