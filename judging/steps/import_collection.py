"""files ─▶ import: a BEIR folder or zip, or another layout, becomes a collection, all or nothing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from django.db import models, transaction

from judging.errors import UserError
from judging.formats import records
from judging.formats.collection import CollectionFiles, open_collection_files
from judging.formats.ir_dataset import IrDataset
from judging.formats.scale import Scale, default_scale
from judging.formats.text import digest, is_empty
from judging.formats.trec_files import TrecFiles
from judging.models import Collection, Document, Judge, Judgment, Outcome, Query
from judging.models.bulk import insert_rows
from judging.steps import lookup
from judging.steps.import_changes import Changes, Counts, changes_of, compared
from judging.steps.progress import Meter, unmetered


@dataclass
class ImportReport:
    """What an import found and did. ``unchanged``: these very bytes were imported before, nothing was written.

    ``changes`` is what replacing a collection did to it, None where there was none before.
    """

    collection: Collection
    unchanged: bool = False
    changes: Changes | None = None
    documents: int = 0
    queries: int = 0
    queries_without_qrels: int = 0
    qrels: dict[str, int] = field(default_factory=dict)
    grades: Counter[int] = field(default_factory=Counter)
    documents_missing: list[str] = field(default_factory=list)
    queries_missing: list[str] = field(default_factory=list)
    empty: int = 0
    duplicate_groups: int = 0
    duplicates: int = 0
    self_ids: int = 0
    warnings: list[str] = field(default_factory=list)


class ImportOptions(TypedDict, total=False):
    """What ``import_collection`` takes beside the files."""

    name: str | None
    splits: Sequence[str]
    language: str | None
    scale: Scale | None
    relevant_from: int | None
    exclude_self: bool
    replace: bool
    meter: Meter


def import_beir(*, path: Path, **options: Unpack[ImportOptions]) -> ImportReport:
    """``import_collection`` of a BEIR folder or zip, or of a Parquet folder in the layout of MTEB's data sets.

    Raises: UserError where there is neither at ``path``; else as ``import_collection``.
    """
    return import_collection(files=open_collection_files(path), **options)


def import_trec(
    *, corpus: Path, topics: Path, qrels: Sequence[Path] = (), **options: Unpack[ImportOptions]
) -> ImportReport:
    """``import_collection`` of files of their own: documents, topics, and any number of qrels files, all of them taken.

    Raises: UserError where two qrels files have one name; else as ``import_collection``.
    """
    files = TrecFiles(corpus, topics, qrels)
    return import_collection(files=files, **(options | {"splits": files.splits()}))


def import_ir_dataset(*, identifier: str, **options: Unpack[ImportOptions]) -> ImportReport:
    """``import_collection`` of a data set of the package ir_datasets.

    Raises: UserError where the package or the data set is missing; else as ``import_collection``.
    """
    return import_collection(files=IrDataset(identifier), **options)


def import_collection(
    *,
    files: CollectionFiles,
    name: str | None = None,
    splits: Sequence[str] = (),
    language: str | None = None,
    scale: Scale | None = None,
    relevant_from: int | None = None,
    exclude_self: bool = False,
    replace: bool = False,
    meter: Meter = unmetered,
) -> ImportReport:
    """Load corpus, the queries of the chosen splits, and their qrels.

    Without ``splits``, ``test`` is taken where it exists, else every split there is. Queries that no chosen split
    judges stay out. The scale is told from the grades unless given; the language is ``en`` unless given.

    Raises: FileError for a bad line (nothing is kept), UserError when the collection exists with other content or
    settings and ``replace`` is false; it says what would change.
    """
    if scale and relevant_from is not None:
        scale = dataclasses.replace(scale, relevant_from=relevant_from)
    slug = lookup.short_name(name or files.name, longest=80)
    chosen = _choose_splits(files, splits)
    checksums = files.checksums(chosen)
    existing = Collection.objects.filter(slug=slug).first()
    if existing and existing.checksums == checksums and not replace:
        _refuse_other_settings(existing, language, scale, relevant_from, exclude_self=exclude_self)
        return _describe(ImportReport(existing, unchanged=True))

    warnings: list[str] = []
    qrels = {split: list(files.qrels(split, warn=warnings.append)) for split in chosen}
    grades = Counter(qrel.grade for rows in qrels.values() for qrel in rows)
    scale = _scale(grades, scale, relevant_from)
    _refuse_conflicts(files, qrels)
    judged = {qrel.query for rows in qrels.values() for qrel in rows} if chosen else None
    changes = None
    if existing:
        queries = (query for query in files.queries() if judged is None or query.id in judged)
        changes = changes_of(existing, queries=queries, qrels=qrels)
    if existing and changes and not replace:
        for _ in compared(existing, _metered(files, meter, "documents compared"), changes.documents):
            continue
        raise UserError(
            f"The collection {slug!r} exists and its files have changed: {_changed_files(existing, checksums)}. "
            f"What would change: {changes}. Give --replace to take the new content over, or --name to load it beside."
        )

    with transaction.atomic():
        collection, _ = Collection.objects.update_or_create(
            slug=slug,
            defaults={
                "name": name or files.name,
                "language": language or (existing.language if existing else "en"),
                "scale_json": scale.as_json(),
                "exclude_self": exclude_self,
                "splits": chosen,
                "checksums": checksums,
            },
        )
        report = ImportReport(collection, changes=changes, warnings=warnings)
        documents = _metered(files, meter, "documents")
        collection.corpus_digest = _import_documents(collection, documents, changes.documents if changes else None)
        collection.save(update_fields=["corpus_digest"])
        report.queries_without_qrels = _import_queries(collection, files.queries(), judged)
        _import_qrels(collection, qrels)
    return _describe(report)


def _metered(files: CollectionFiles, meter: Meter, what: str) -> Iterable[records.Document]:
    return meter(lambda progress: files.documents(progress=progress), files.corpus_size(), what)


def _choose_splits(files: CollectionFiles, wanted: Sequence[str]) -> list[str]:
    available = files.splits()
    if wanted:
        for split in wanted:
            if split not in available:
                raise UserError(
                    f"{files.name} has no {files.label(split)}. Its splits: {', '.join(available) or 'none at all'}."
                )
        return list(dict.fromkeys(wanted))
    return ["test"] if "test" in available else list(available)


def _scale(grades: Counter[int], scale: Scale | None, relevant_from: int | None) -> Scale:
    if scale is None:
        return default_scale(max(grades, default=1), relevant_from)
    beyond = sorted(grade for grade in grades if grade >= 0 and grade not in scale)
    if beyond:
        raise UserError(
            f"The qrels hold grades that the scale lacks: {beyond}; the scale has {list(scale.values)}. "
            "Give every grade a word with --scale."
        )
    return scale


def _refuse_conflicts(files: CollectionFiles, qrels: dict[str, list[records.Qrel]]) -> None:
    """Together the splits are the original qrels, so one pair cannot have two grades in them."""
    if len(qrels) < 2:
        return
    seen: dict[tuple[str, str], tuple[int, str]] = {}
    for split, rows in qrels.items():
        label = files.label(split)
        for row in rows:
            grade, where = seen.setdefault((row.query, row.document), (row.grade, f"{label}:{row.line}"))
            if grade != row.grade:
                raise UserError(
                    f"{label}:{row.line}: query {row.query!r}, document {row.document!r} is graded "
                    f"{row.grade} here and {grade} at {where}. Import one of the splits."
                )


def _refuse_other_settings(
    existing: Collection, language: str | None, scale: Scale | None, relevant_from: int | None, *, exclude_self: bool
) -> None:
    """What was not asked for may be as it is."""
    differing = [
        *(["--language"] if language and language != existing.language else []),
        *(["--scale"] if scale and scale != existing.scale else []),
        *(["--relevant-from"] if relevant_from not in {None, existing.scale.relevant_from} else []),
        *(["--exclude-self"] if exclude_self and not existing.exclude_self else []),
    ]
    if differing:
        raise UserError(
            f"The collection {existing.slug!r} is loaded from these very files with another {' and '.join(differing)}. "
            "Give --replace to load it so, or --name to load it beside."
        )


def _changed_files(existing: Collection, checksums: dict[str, str]) -> str:
    old = existing.checksums
    parts = [
        *(f"{file} differs" for file in checksums if file in old and old[file] != checksums[file]),
        *(f"{file} is new" for file in checksums if file not in old),
        *(f"{file} is gone" for file in old if file not in checksums),
    ]
    return ", ".join(parts)


_DOCUMENT_FIELDS = ("collection_id", "docid", "title", "text", "metadata", "digest", "is_empty", "in_corpus")


def _import_documents(collection: Collection, documents: Iterable[records.Document], counts: Counts | None) -> str:
    """Stream the corpus in, the first or, with ``counts`` of what changes, another; the digest of its ids and texts."""
    whole = hashlib.sha256()
    count = 0

    def digested() -> Iterator[records.Document]:
        nonlocal count
        for document in documents:
            lookup.refuse_long_id(document.id)
            whole.update(f"{document.id}\0{document.title}\0{document.text}\0".encode())
            count += 1
            yield document

    if counts is None:
        insert_rows(Document, _DOCUMENT_FIELDS, (_row(collection, document) for document in digested()))
    else:
        _update_documents(collection, digested(), counts)
    if not count:
        raise UserError(f"{collection.slug}: the corpus holds no document.")
    return whole.hexdigest()


def _row(collection: Collection, document: records.Document) -> tuple[Any, ...]:
    title, text = document.title, document.text
    key, empty = digest(title, text), is_empty(title, text)
    return collection.pk, document.id, title, text, document.metadata, key, empty, True


def _update_documents(collection: Collection, documents: Iterable[records.Document], counts: Counts) -> None:
    """Change the documents in place, so that what people said of them stays; those that are gone lose their text."""
    for changed in compared(collection, documents, counts):
        rows = (_row(collection, document) for document in changed)
        Document.objects.bulk_create(
            [Document(**dict(zip(_DOCUMENT_FIELDS, row, strict=True))) for row in rows],
            update_conflicts=True,
            unique_fields=("collection", "docid"),
            update_fields=_DOCUMENT_FIELDS[2:],
        )
    for keys in lookup.chunks(counts.gone):
        Document.objects.filter(pk__in=keys).update(
            title="", text="", metadata={}, digest=digest("", ""), is_empty=True, in_corpus=False
        )


def _import_queries(collection: Collection, queries: Iterable[records.Query], judged: set[str] | None) -> int:
    """Keep the queries that the chosen qrels judge (all of them where there are no qrels); how many stay out."""
    out = 0
    kept: list[Query] = []
    for query in queries:
        if judged is not None and query.id not in judged:
            out += 1
            continue
        lookup.refuse_long_id(query.id)
        kept.append(
            Query(
                collection=collection,
                qid=query.id,
                text=query.text,
                narrative=_text_of(query, "narrative", "description"),
                topic=_text_of(query, "topic"),
                metadata=dict(query.metadata),
            )
        )
    Query.objects.filter(collection=collection).update(in_corpus=False)
    Query.objects.bulk_create(
        kept,
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=("collection", "qid"),
        update_fields=("text", "narrative", "topic", "metadata", "in_corpus"),
    )
    return out


def _text_of(query: records.Query, *names: str) -> str:
    return next((str(query.metadata[name]) for name in names if isinstance(query.metadata.get(name), str)), "")


def _import_qrels(collection: Collection, qrels: dict[str, list[records.Qrel]]) -> None:
    """One judge a file. Ids that the corpus lacks become documents and queries without text, never served."""
    Judge.objects.filter(collection=collection).exclude(name__in=[_judge_name(split) for split in qrels]).delete()
    queries = _ensure_queries(collection, {row.query for rows in qrels.values() for row in rows})
    documents = ensure_documents(collection, {row.document for rows in qrels.values() for row in rows})
    for split, rows in qrels.items():
        judge, _ = Judge.objects.get_or_create(kind=Judge.Kind.QRELS, collection=collection, name=_judge_name(split))
        Judgment.objects.filter(judge=judge).delete()
        insert_rows(
            Judgment,
            ("judge_id", "query_id", "document_id", "outcome", "grade"),
            ((judge.pk, queries[row.query], documents[row.document], Outcome.GRADED.value, row.grade) for row in rows),
        )


def _judge_name(split: str) -> str:
    return f"qrels/{split}"


def _ensure_queries(collection: Collection, qids: set[str]) -> dict[str, int]:
    """Primary keys of the collection's queries; those that it lacks are made, without text."""
    missing = sorted(qids - lookup.query_keys(collection).keys())
    for qid in missing:
        lookup.refuse_long_id(qid)
    Query.objects.bulk_create([Query(collection=collection, qid=qid, in_corpus=False) for qid in missing])
    return lookup.query_keys(collection)


def ensure_documents(collection: Collection, docids: set[str]) -> dict[str, int]:
    """Primary keys of the documents; those that the corpus lacks are made, without text and not in the corpus."""
    keys = lookup.document_keys(collection, docids)
    missing = sorted(docids - keys.keys())
    if not missing:
        return keys
    for docid in missing:
        lookup.refuse_long_id(docid)
    nothing = digest("", "")
    insert_rows(
        Document,
        ("collection_id", "docid", "title", "text", "digest", "is_empty", "in_corpus"),
        ((collection.pk, docid, "", "", nothing, True, False) for docid in missing),
    )
    return keys | lookup.document_keys(collection, missing)


def _describe(report: ImportReport) -> ImportReport:
    """Fill in what the collection holds now, by asking the database rather than by remembering."""
    collection = report.collection
    documents = Document.objects.filter(collection=collection)
    queries = Query.objects.filter(collection=collection)
    report.documents = documents.filter(in_corpus=True).count()
    report.queries = queries.filter(in_corpus=True).count()
    report.empty = documents.filter(in_corpus=True, is_empty=True).count()
    report.documents_missing = sorted(documents.filter(in_corpus=False).values_list("docid", flat=True))
    report.queries_missing = sorted(queries.filter(in_corpus=False).values_list("qid", flat=True))
    duplicated = Document.objects.duplicated(collection)
    report.duplicates = duplicated.count()
    report.duplicate_groups = duplicated.values("digest").distinct().count()
    original = Judgment.objects.original(collection)
    report.qrels = dict(
        original.values("judge__name").annotate(size=models.Count("pk")).values_list("judge__name", "size")
    )
    grades = original.values("grade").annotate(size=models.Count("pk")).values_list("grade", "size")
    report.grades = Counter({grade: size for grade, size in grades if grade is not None})
    report.self_ids = documents.filter(in_corpus=True, docid__in=queries.values("qid")).count()
    return report
