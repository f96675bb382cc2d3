"""What a check found: the problems, and what each file holds."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from judging.errors import FileError, UserError
from judging.formats.encoding import Encoding

_MESSAGE = re.compile(r"expected (?P<expected>.*?)[,;]? (?:found|got):? (?P<found>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place. ``line`` is None where the fault lies in the whole file."""

    file: str
    line: int | None
    expected: str
    found: str
    message: str

    @classmethod
    def of(cls, error: UserError, path: Path) -> Problem:
        file, line, text = str(path), None, str(error)
        if isinstance(error, FileError):
            file, line, text = error.file, error.line, error.problem
        parts = _MESSAGE.search(text)
        return cls(file, line, parts["expected"] if parts else "", parts["found"] if parts else text, str(error))


@dataclass(slots=True)
class FileReport:
    """What one file holds.

    ``repeated_texts`` counts documents whose title and text an earlier one has (normalised as in ``text.digest``);
    ``rank_disagreements`` counts lines of a run that their rank column has elsewhere than their score. ``without_…``
    are ids that the file names and the collection lacks, None where there is no collection to tell.
    """

    file: str
    kind: str
    encoding: Encoding | None = None
    records: int = 0
    errors: int = 0
    warnings: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    repeated_texts: int = 0
    grades: Counter[int] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    queries: int = 0
    rank_disagreements: int = 0
    without_document: list[str] | None = None
    without_query: list[str] | None = None


@dataclass(slots=True)
class Report:
    """``kind`` is one of ``KINDS``, or BEIR folder, BEIR zip, Parquet folder, folder. ``errors`` counts all of them."""

    path: Path
    kind: str
    files: list[FileReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    errors: int = 0

    @property
    def ok(self) -> bool:
        return not self.errors
