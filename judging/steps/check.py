"""files ─▶ check: what a file or folder holds and what is wrong with it; nothing is imported."""

from __future__ import annotations

from pathlib import Path

from judging.formats.check import check
from judging.formats.check_report import Report
from judging.formats.collection import open_collection_files


def check_files(*, path: Path, kind: str | None = None, against: Path | None = None, keep: int = 20) -> Report:
    """The report on what is at ``path``, with the first ``keep`` errors.

    ``kind`` says what a single file is where nothing else tells; ``against`` is a collection on disk whose ids a run,
    qrels or judgments should name.

    Raises: UserError where there is no collection at ``against``. What is wrong at ``path`` is in the report.
    """
    return check(path, kind=kind, against=open_collection_files(against) if against else None, keep=keep)
