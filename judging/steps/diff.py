"""What changed between two qrels files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from judging.formats.diff import QrelsDiff, diff_qrels_files


@dataclass(frozen=True, slots=True)
class DiffReport:
    diff: QrelsDiff
    warnings: list[str] = field(default_factory=list)


def diff_files(*, before: Path, after: Path) -> DiffReport:
    """What must be done to ``before`` to have ``after``; each is BEIR TSV, TREC qrels or Parquet.

    Raises: FileError for a bad line in either.
    """
    warnings: list[str] = []
    return DiffReport(diff_qrels_files(before, after, warn=warnings.append), warnings)
