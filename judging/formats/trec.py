"""TREC's qrels (``query 0 document grade``) and runs (``query Q0 document rank score tag``).

Columns are parted by white space as trec_eval parts them (https://github.com/usnistgov/trec_eval): blanks, tabs,
vertical tabs and form feeds, but no other Unicode spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from math import isfinite

from judging.errors import FileError, UserError
from judging.formats.fields import Warn, parse_grade, refuse_white_space, shown, unique_pairs, whole_number
from judging.formats.lines import File, OnError, Progress, name_of, read_raw_lines, refuse
from judging.formats.records import Qrel, RunLine


def read_qrels(
    file: File, *, warn: Warn, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Qrel]:
    """The judgments of a TREC qrels file; the second column is not looked at.

    A pair that comes twice with one grade is yielded once and ``warn`` is called at the end; with two grades it is an
    error.
    """
    name = name_of(file, name)
    lines = read_raw_lines(file, name=name, progress=progress, on_error=on_error)
    return parse_qrels(lines, name=name, warn=warn, on_error=on_error)


def parse_qrels(
    lines: Iterable[tuple[int, bytes]], *, name: str, warn: Warn, on_error: OnError = refuse
) -> Iterator[Qrel]:
    """As ``read_qrels``, from lines that were read already."""
    qrels = _qrels(lines, name, on_error)
    return unique_pairs(qrels, lambda qrel: qrel.grade, name=name, warn=warn, on_error=on_error)


def _qrels(lines: Iterable[tuple[int, bytes]], name: str, on_error: OnError) -> Iterator[Qrel]:
    for line, fields in _columns(lines, name, "query, 0, document, grade", on_error):
        query, _, document, grade = fields
        try:
            qrel = Qrel(query.decode(), document.decode(), parse_grade(grade, name, line), line)
        except FileError as error:
            on_error(error)
            continue
        yield qrel


def read_run(
    file: File, *, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[RunLine]:
    """The lines of a TREC run in the file's order, ranks as they stand there.

    FileError for a score that is no finite number and for a document that a query ranks twice.
    """
    name = name_of(file, name)
    seen = _SeenHits()
    lines = read_raw_lines(file, name=name, progress=progress, on_error=on_error)
    for line, fields in _columns(lines, name, "query, Q0, document, rank, score, tag", on_error):
        try:
            hit = _hit(fields, name, line)
            first = seen.add(hit.query, hit.document, line)
            if first != line:
                pair = f"document {shown(hit.document)} in query {shown(hit.query)}"
                problem = (
                    f"expected every document once a query, found {pair} here and at line {first}; remove one of them."
                )
                raise FileError(name, line, problem)
        except FileError as error:
            on_error(error)
            continue
        yield hit


def _hit(fields: list[bytes], name: str, line: int) -> RunLine:
    rank = whole_number(fields[3])
    if rank is None:
        raise FileError(name, line, f"expected a whole number as rank, found {shown(fields[3])}; number them from 1.")
    score = _score(fields[4], name, line)
    return RunLine(fields[0].decode(), fields[2].decode(), rank, score, fields[5].decode(), line)


def _score(field: bytes, name: str, line: int) -> float:
    try:
        score = float(field)
    except ValueError:
        score = float("nan")
    if not isfinite(score) or b"_" in field:
        raise FileError(
            name, line, f"expected a finite number as score, found {shown(field)}; mend or remove the line."
        )
    return score


def _columns(
    lines: Iterable[tuple[int, bytes]], name: str, expected: str, on_error: OnError
) -> Iterator[tuple[int, list[bytes]]]:
    """(line, columns) of each line that is not blank; FileError where it has other columns than the ``expected``."""
    wanted = expected.count(",") + 1
    for line, raw in lines:
        fields = raw.split()
        if len(fields) == wanted:
            yield line, fields
        elif fields:
            problem = (
                f"expected {wanted} columns ({expected}), got {len(fields)}: {shown(raw)}; mend or remove the line."
            )
            on_error(FileError(name, line, problem))


class _SeenHits:
    """The line at which each document of each query was seen first.

    Runs keep the lines of a query together, so the queries that are done are packed: a run of seven million lines costs
    some hundred megabytes instead of a gigabyte. A query that comes back is unpacked for good.
    """

    def __init__(self) -> None:
        self._packed: dict[str, tuple[bytes, list[int] | range]] = {}
        self._open: dict[str, dict[str, int]] = {}
        self._returned: set[str] = set()
        self._query = ""
        self._documents: dict[str, int] = {}

    def add(self, query: str, document: str, line: int) -> int:
        """The first line of this document; ``line`` itself where it is new."""
        if query != self._query or not self._documents:
            self._turn_to(query)
        return self._documents.setdefault(document, line)

    def _turn_to(self, query: str) -> None:
        if self._documents and self._query not in self._returned:
            self._packed[self._query] = _pack(self._open.pop(self._query))
        self._query = query
        if query in self._packed:
            self._open[query] = _unpack(*self._packed.pop(query))
            self._returned.add(query)
        self._documents = self._open.setdefault(query, {})


def _pack(documents: dict[str, int]) -> tuple[bytes, list[int] | range]:
    lines = list(documents.values())
    together = range(lines[0], lines[0] + len(lines))
    return " ".join(documents).encode(), together if lines == list(together) else lines


def _unpack(documents: bytes, lines: list[int] | range) -> dict[str, int]:
    return dict(zip(documents.decode().split(" "), lines, strict=True))


def qrels_lines(qrels: Iterable[Qrel]) -> Iterator[bytes]:
    """The lines of TREC qrels, in the order given.

    UserError for an id that is empty or holds white space.
    """
    for qrel in qrels:
        refuse_white_space(qrel.query, "query")
        refuse_white_space(qrel.document, "document")
        yield f"{qrel.query} 0 {qrel.document} {qrel.grade}\n".encode()


def run_lines(lines: Iterable[RunLine]) -> Iterator[bytes]:
    """The lines of a TREC run in the order given; the rank counts the lines of each query from 1.

    Scores are written so that they read back as the same float. White space in a tag becomes ``-``, an empty tag is
    written as ``run``.
    UserError for an id that is empty or holds white space, and for a score that is no finite number.
    """
    ranks: dict[str, Iterator[int]] = {}
    for line in lines:
        refuse_white_space(line.query, "query")
        refuse_white_space(line.document, "document")
        if not isfinite(line.score):
            pair = f"query {shown(line.query)}, document {shown(line.document)}"
            raise UserError(f"A run needs a finite number as score; found {line.score} for {pair}.")
        rank = next(ranks.setdefault(line.query, count(1)))
        tag = "-".join(line.tag.split()) or "run"
        yield f"{line.query} Q0 {line.document} {rank} {float(line.score)!r} {tag}\n".encode()
