"""Training pairs: judgments of known grade with the reason, as JSON lines or as lines of tab-separated columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judging.errors import FileError
from judging.formats.fields import json_grade, json_id, json_object, json_text, parse_grade, shown
from judging.formats.lines import File, name_of, read_raw_lines
from judging.formats.qrels import peek

_HEADER = frozenset({b"query", b"query-id", b"query_id", b"qid"})


@dataclass(frozen=True, slots=True)
class TrainingLine:
    """``line`` counts from 1, for errors that are found later."""

    query: str
    document: str
    grade: int
    explanation: str
    line: int


def read_training(file: File, *, name: str | None = None) -> Iterator[TrainingLine]:
    """The training pairs of a file, in its order; the first line decides which form it has.

    JSON lines have the keys ``query``, ``document``, ``grade`` and, where there is one, ``explanation``; TSV has these
    columns, with or without a header. FileError for a line of another form, and for a pair that comes twice.
    """
    name = name_of(file, name)
    first, lines = peek(read_raw_lines(file, name=name))
    is_json = first is not None and first[1].lstrip()[:1] in (b"{", b"[")
    seen: dict[tuple[str, str], int] = {}
    for number, raw in lines:
        if not raw or raw.isspace():
            continue
        if first is not None and number == first[0] and raw.partition(b"\t")[0].strip().lower() in _HEADER:
            continue
        line = _of_json(raw, name, number) if is_json else _of_columns(raw, name, number)
        if earlier := seen.get((line.query, line.document)):
            pair = f"query {shown(line.query)}, document {shown(line.document)}"
            raise FileError(name, number, f"expected every pair once, found {pair} here and at line {earlier}.")
        seen[line.query, line.document] = number
        yield line


def _of_json(raw: bytes, name: str, line: int) -> TrainingLine:
    row = json_object(raw, name, line)
    return TrainingLine(
        query=json_id(row.get("query"), "query", name, line),
        document=json_id(row.get("document"), "document", name, line),
        grade=json_grade(row.get("grade"), name, line),
        explanation=json_text(row.get("explanation"), "explanation", name, line).strip(),
        line=line,
    )


def _of_columns(raw: bytes, name: str, line: int) -> TrainingLine:
    columns = raw.split(b"\t")
    if len(columns) not in (3, 4) or not columns[0].strip() or not columns[1].strip():
        raise FileError(
            name, line, f"expected query, document, grade and explanation parted by tabs, found {shown(raw)}."
        )
    query, document, grade = columns[:3]
    explanation = columns[3].decode().strip() if len(columns) == 4 else ""
    return TrainingLine(query.decode(), document.decode(), parse_grade(grade, name, line), explanation, line)
