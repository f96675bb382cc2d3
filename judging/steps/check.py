"""files ─▶ check: what a file or folder holds and what is wrong with it; nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judging.errors import UserError
from judging.formats.check import Known, check
from judging.formats.check_report import Report
from judging.formats.collection import open_collection_files
from judging.formats.lines import Progress
from judging.formats.records import Document, Query
from judging.models import Collection
from judging.steps import lookup


def check_files(
    *,
    path: Path,
    kind: str | None = None,
    against: str | None = None,
    keep: int = 20,
    progress: Progress | None = None,
) -> Report:
    """The report on what is at ``path``, with the first ``keep`` errors.

    ``kind`` says what a single file is where nothing else tells; ``against`` is a collection whose ids a run, qrels or
    judgments should name: a path, or the short name of one that is loaded.

    Raises: UserError where there is no such collection. What is wrong at ``path`` is in the report.
    """
    return check(path, kind=kind, against=_known(against) if against else None, keep=keep, progress=progress)


def _known(name: str) -> Known:
    if Path(name).exists():
        return open_collection_files(name)
    try:
        return _Loaded(lookup.collection(name))
    except UserError as error:
        raise UserError(f"--against: expected a folder, a zip or a loaded collection. {error}") from None


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The ids that a loaded collection has a text for."""

    collection: Collection

    def documents(self) -> Iterator[Document]:
        own = self.collection.documents.filter(in_corpus=True)
        return (Document(docid) for docid in own.values_list("docid", flat=True).iterator(chunk_size=10_000))

    def queries(self) -> Iterator[Query]:
        own = self.collection.queries.filter(in_corpus=True)
        return (Query(qid, "") for qid in own.values_list("qid", flat=True).iterator(chunk_size=10_000))
