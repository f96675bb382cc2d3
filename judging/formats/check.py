"""Any file or folder looked through without importing it: what it holds, and everything that is wrong with it.

The readers are the same that an import uses; they are only told to go on after a bad line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

from judging.errors import FileError, UserError
from judging.formats import parquet_folder
from judging.formats.beir import BeirFolder
from judging.formats.check_report import FileReport, Problem, Report
from judging.formats.collection import CollectionFiles, open_collection_files
from judging.formats.encoding import Encoding, encoding_of
from judging.formats.judgments import read_all_judgments
from judging.formats.kind import KINDS, is_parquet, is_zip, kind_of
from judging.formats.lines import Progress, open_file
from judging.formats.records import Document, JudgmentLine, Qrel, Query, RunLine
from judging.formats.single_file import documents_of, qrels_of, queries_of
from judging.formats.text import digest, is_empty
from judging.formats.trec import read_run

_COLLECTION = ("corpus.jsonl", "queries.jsonl", "qrels")


@dataclass(slots=True)
class _Ids:
    """The ids that a file names; those that the collection has are taken out as they come by."""

    documents: set[str] = field(default_factory=set)
    queries: set[str] = field(default_factory=set)


class Known(Protocol):
    """The ids of a collection: that of files, or one that is loaded."""

    def documents(self) -> Iterable[Document]: ...
    def queries(self) -> Iterable[Query]: ...


class _Check:
    def __init__(self, path: Path, kind: str, keep: int, progress: Progress | None) -> None:
        self.report = Report(path, kind)
        self.keep = keep
        self.progress = progress

    def add(self, error: UserError, file: FileReport | None = None) -> None:
        self.report.errors += 1
        if file is not None:
            file.errors += 1
        if len(self.report.problems) < self.keep:
            self.report.problems.append(Problem.of(error, self.report.path))

    def look(self, file: FileReport, records: Callable[..., Iterable[Any]], see: Callable[[Any], None]) -> None:
        """Hand each record of the file to ``see``, and every error to the report."""
        self.report.files.append(file)
        try:
            for record in records(progress=self.progress, on_error=lambda error: self.add(error, file)):
                file.records += 1
                see(record)
        except UserError as error:
            self.add(error, file)


def check(
    path: Path,
    *,
    kind: str | None = None,
    against: Known | None = None,
    keep: int = 20,
    progress: Progress | None = None,
) -> Report:
    """What is at ``path``, with the first ``keep`` errors, one a bad line.

    ``kind`` says what a single file is, where its name and first line do not; ``against`` is the collection whose ids
    it should name. A folder without the files of a collection is checked file by file.

    Raises: UserError for a ``kind`` that there is not, and for ``against`` where a whole collection is at ``path``, for
    that has ids of its own; nothing else.
    """
    if kind is not None and kind not in KINDS:
        raise UserError(f"expected as kind one of {', '.join(KINDS)}; found {kind!r}.")
    try:
        whole = _collection_kind(path)
    except UserError as error:
        checked = _Check(path, kind or "unknown", keep, progress)
        checked.add(error)
        return checked.report
    if whole in ("BEIR folder", "BEIR zip", "Parquet folder"):
        if against is not None:
            expected = "expected a run, qrels or judgments to check against a collection"
            raise UserError(f"{path}: {expected}, found a {whole}.")
        return _check_collection(path, whole, keep, progress)
    files = [path] if whole == "file" else sorted(inner for inner in path.iterdir() if _is_visible(inner))
    checked = _Check(path, whole, keep, progress)
    for file in files:
        _check_file(checked, file, kind, against)
    if whole == "file":
        checked.report.kind = next((one.kind for one in checked.report.files), kind or "unknown")
    return checked.report


def _is_visible(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".")


def _collection_kind(path: Path) -> str:
    if not path.is_dir():
        return "BEIR zip" if path.name.lower().endswith(".zip") or is_zip(path) else "file"
    try:
        names = [entry.name for entry in path.iterdir()]
    except OSError as error:
        raise FileError(path, None, f"expected a readable folder, found: {error.strerror}.") from None
    if any(name.startswith(part) for name in names for part in _COLLECTION):
        return "BEIR folder"
    return "Parquet folder" if parquet_folder.is_parquet_folder(path) else "folder"


def _check_collection(path: Path, kind: str, keep: int, progress: Progress | None) -> Report:
    checked = _Check(path, kind, keep, progress)
    try:
        collection = open_collection_files(path)
    except UserError as error:
        checked.add(error)
        if path.is_dir():
            for file in sorted(inner for inner in (*path.iterdir(), *path.glob("qrels/*")) if _is_visible(inner)):
                _check_file(checked, file, None, None)
        return checked.report
    corpus, queries, *qrels = _reports(collection, path)
    named = [_Ids() for _ in qrels]
    for split, report, ids in zip(collection.splits(), qrels, named, strict=True):
        _look_at_qrels(checked, report, ids, partial(collection.qrels, split, warn=report.warnings.append))
    _look_at_documents(checked, corpus, collection.documents, named)
    _look_at_queries(checked, queries, collection.queries, named)
    for report, ids in zip(qrels, named, strict=True):
        report.without_document, report.without_query = sorted(ids.documents), sorted(ids.queries)
    return checked.report


def _reports(collection: CollectionFiles, path: Path) -> list[FileReport]:
    """The reports to be, of the corpus, the queries, and each split in order."""
    kinds = ["corpus", "queries", *("qrels" for _ in collection.splits())]
    if not isinstance(collection, BeirFolder):
        names = ["corpus", "queries", *collection.splits()]
        return [FileReport(str(path / name), kind) for name, kind in zip(names, kinds, strict=True)]
    source = collection.source
    return [
        FileReport(source.label(name), kind, _encoding(source.open(name), name))
        for name, kind in zip(collection.files(collection.splits()), kinds, strict=True)
    ]


def _encoding(opened: AbstractContextManager[IO[bytes]], name: str) -> Encoding | None:
    try:
        with opened as stream:
            return encoding_of(stream, name)
    except UserError:
        return None  # the reader will say so


def _check_file(checked: _Check, path: Path, kind: str | None, against: Known | None) -> None:
    try:
        kind = kind or kind_of(path)
    except UserError as error:
        checked.add(error)
        return
    file = FileReport(str(path), kind, None if is_parquet(path) else _encoding(open_file(path), path.name))
    ids = _Ids()
    _LOOKS[kind](checked, file, path, ids)
    if against is not None and kind in ("qrels", "run", "judgments"):
        _take_out(checked, against, ids)
        file.without_document, file.without_query = sorted(ids.documents), sorted(ids.queries)


def _take_out(checked: _Check, collection: Known, ids: _Ids) -> None:
    try:
        for document in collection.documents():
            ids.documents.discard(document.id)
        for query in collection.queries():
            ids.queries.discard(query.id)
    except UserError as error:
        checked.add(error)


def _look_at_documents(
    checked: _Check, file: FileReport, records: Callable[..., Iterable[Document]], named: Iterable[_Ids]
) -> None:
    texts: set[bytes] = set()

    def see(document: Document) -> None:
        for ids in named:
            ids.documents.discard(document.id)
        if is_empty(document.title, document.text):
            file.empty.append(document.id)
            return
        key = digest(document.title, document.text)
        if key in texts:
            file.repeated_texts += 1
        texts.add(key)

    checked.look(file, records, see)


def _look_at_queries(
    checked: _Check, file: FileReport, records: Callable[..., Iterable[Query]], named: Iterable[_Ids]
) -> None:
    def see(query: Query) -> None:
        for ids in named:
            ids.queries.discard(query.id)
        if is_empty("", query.text):
            file.empty.append(query.id)

    checked.look(file, records, see)
    file.queries = file.records


def _look_at_qrels(checked: _Check, file: FileReport, ids: _Ids, records: Callable[..., Iterable[Qrel]]) -> None:
    def see(qrel: Qrel) -> None:
        ids.documents.add(qrel.document)
        ids.queries.add(qrel.query)
        file.grades[qrel.grade] += 1

    checked.look(file, records, see)
    file.queries = len(ids.queries)


def _look_at_judgments(checked: _Check, file: FileReport, path: Path, ids: _Ids) -> None:
    def see(judgment: JudgmentLine) -> None:
        ids.documents.add(judgment.document)
        ids.queries.add(judgment.query)
        file.outcomes[judgment.outcome] += 1
        file.judges[" ".join(filter(None, (judgment.kind, judgment.judge, judgment.fingerprint))) or "not named"] += 1
        if judgment.outcome == "graded" and judgment.grade is not None:
            file.grades[judgment.grade] += 1

    checked.look(file, lambda **how: read_all_judgments(path, warn=file.warnings.append, **how), see)
    file.queries = len(ids.queries)


def _look_at_run(checked: _Check, file: FileReport, path: Path, ids: _Ids) -> None:
    """Ranks are compared within the lines of a query that stand together."""
    ranking: list[RunLine] = []

    def see(line: RunLine) -> None:
        if ranking and ranking[-1].query != line.query:
            file.rank_disagreements += _disagreements(ranking)
            ranking.clear()
        ranking.append(line)
        ids.documents.add(line.document)
        ids.queries.add(line.query)

    checked.look(file, lambda **how: read_run(path, **how), see)
    file.rank_disagreements += _disagreements(ranking)
    file.queries = len(ids.queries)


def _disagreements(ranking: list[RunLine]) -> int:
    by_score = sorted(ranking, key=lambda line: (line.score, line.document), reverse=True)
    by_rank = sorted(ranking, key=lambda line: line.rank)
    return sum(one is not other for one, other in zip(by_score, by_rank, strict=True))


_LOOKS: dict[str, Callable[[_Check, FileReport, Path, _Ids], None]] = {
    "corpus": lambda checked, file, path, ids: _look_at_documents(checked, file, partial(documents_of, path), [ids]),
    "queries": lambda checked, file, path, ids: _look_at_queries(checked, file, partial(queries_of, path), [ids]),
    "topics": lambda checked, file, path, ids: _look_at_queries(checked, file, partial(queries_of, path), [ids]),
    "qrels": lambda checked, file, path, ids: _look_at_qrels(
        checked, file, ids, partial(qrels_of, path, warn=file.warnings.append)
    ),
    "run": _look_at_run,
    "judgments": _look_at_judgments,
}
