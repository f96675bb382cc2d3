"""The BEIR layout: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``.

As BEIR's own loader reads it (https://github.com/beir-cellar/beir), but without its silent losses: a qrels file needs
no header line, and repeated ids are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import Any, TypeVar

import orjson

from judging.errors import FileError, UserError
from judging.formats.checksum import checksum
from judging.formats.fields import Warn, json_id, json_object, json_text, parse_grade, shown, unique_pairs
from judging.formats.ids import SeenIds
from judging.formats.lines import COMPRESSIONS, File, OnError, Progress, name_of, read_raw_lines, refuse
from judging.formats.records import Document, Qrel, Query
from judging.formats.source import DAMAGED, EXPECTED, QRELS, ZipSource, open_source
from judging.formats.tsv import tsv_lines

Record = TypeVar("Record", Document, Query)

QRELS_COLUMNS = ("query-id", "corpus-id", "score")

QRELS_HEADER = (
    {"query-id", "queryid", "query", "qid", "q-id"},
    {"corpus-id", "corpusid", "document-id", "document", "doc-id", "docid", "doc", "did", "pid", "passage-id"},
    {"score", "grade", "relevance", "rel", "label", "judgment", "judgement"},
)


def read_documents(
    file: File, *, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Document]:
    """The documents of a ``corpus.jsonl``. Keys beside BEIR's own are kept in the metadata.

    Of the ids read so far some 24 bytes each are kept in memory; for one that comes twice, the file is read again up
    to the first, so that the error can name both lines.
    """
    return _records(file, name_of(file, name), _document, progress, on_error)


def read_queries(
    file: File, *, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Query]:
    """The queries of a ``queries.jsonl``; else as ``read_documents``."""
    return _records(file, name_of(file, name), _query, progress, on_error)


def _document(row: dict[str, Any], identifier: str, name: str, line: int) -> Document:
    title, text = row.pop("title", ""), row.pop("text", "")
    if type(title) is not str:
        title = json_text(title, "title", name, line)
    if type(text) is not str:
        text = json_text(text, "text", name, line)
    return Document(identifier, title, text, _metadata(row, name, line) if row else row)


def _query(row: dict[str, Any], identifier: str, name: str, line: int) -> Query:
    text = json_text(row.pop("text", None), "text", name, line)
    return Query(identifier, text, _metadata(row, name, line))


def _records(
    file: File,
    name: str,
    record: Callable[[dict[str, Any], str, str, int], Record],
    progress: Progress | None,
    on_error: OnError,
) -> Iterator[Record]:
    """What ``record`` makes of the JSON object, id, name and number of each line; no id twice."""
    seen, repeats = SeenIds(), _Repeats.of(file, name)
    for line, raw in read_raw_lines(file, name=name, progress=progress, on_error=on_error):
        if not raw or raw.isspace():
            continue
        try:
            row = json_object(raw, name, line)
            identifier = json_id(row.pop("_id", None), "_id", name, line)
            if seen.add(identifier):
                repeats.refuse(identifier, line)
            found = record(row, identifier, name, line)
        except FileError as error:
            on_error(error)
            continue
        yield found


@dataclass(slots=True)
class _Repeats:
    """Where an id that comes twice stood first: found by reading the file again, as its text was not kept."""

    file: File
    name: str
    start: int | None
    searches: int = 20  # so that a file of repeats takes no hours where bad lines may pass

    @classmethod
    def of(cls, file: File, name: str) -> _Repeats:
        if isinstance(file, str | PurePath):
            return cls(file, name, None)
        return cls(file, name, file.tell() if file.seekable() else None)

    def refuse(self, identifier: str, line: int) -> None:
        """FileError with both lines; none where nothing but the hashes of two ids were equal."""
        first = "before"
        if self.searches and (self.start is not None or isinstance(self.file, str | PurePath)):
            self.searches -= 1
            found = self._first(identifier, line)
            if found is None:
                return
            first = f"at line {found}"
        problem = f"expected every _id once, found {shown(identifier)} here and {first}; remove one of them."
        raise FileError(self.name, line, problem)

    def _first(self, identifier: str, end: int) -> int | None:
        """The first line before ``end`` with this id. A stream is left where it stood."""
        file = self.file
        if isinstance(file, str | PurePath):
            return _line_of(read_raw_lines(file, name=self.name, on_error=_pass_over), identifier, end)
        here = file.tell()
        file.seek(self.start or 0)
        try:
            return _line_of(read_raw_lines(file, name=self.name, on_error=_pass_over), identifier, end)
        finally:
            file.seek(here)


def _line_of(lines: Iterable[tuple[int, bytes]], identifier: str, end: int) -> int | None:
    for line, raw in lines:
        if line >= end:
            return None
        try:
            if raw and json_id(json_object(raw, "", line).get("_id"), "_id", "", line) == identifier:
                return line
        except FileError:
            continue
    return None


def _pass_over(error: FileError) -> None:
    """It was reported when the line was read the first time."""


def _metadata(row: dict[str, Any], name: str, line: int) -> dict[str, Any]:
    """``metadata`` and the keys beside it as one; metadata that is no object is kept under its own name."""
    metadata = row.pop("metadata", None)
    if not isinstance(metadata, dict):
        return {"metadata": metadata, **row} if metadata else row
    for key in metadata.keys() & row.keys():
        if metadata[key] != row[key]:
            problem = (
                f"expected one value of {shown(key)}, found one in the metadata and another beside it; remove one."
            )
            raise FileError(name, line, problem)
    return metadata | row


def read_qrels(
    file: File, *, warn: Warn, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Qrel]:
    """The judgments of a TSV of query, document and grade, with or without BEIR's header line.

    Columns are parted by tabs, so that ids may hold blanks; by runs of blanks where the first line has no tab. A pair
    that comes twice with one grade is yielded once and ``warn`` is called at the end; with two grades it is an error.
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
    filled = ((line, raw) for line, raw in lines if raw and not raw.isspace())
    first = next(filled, None)
    if first is not None and is_header(first[1]):
        first = next(filled, None)
    if first is None:
        return
    has_tabs = b"\t" in first[1]
    split = _by_tabs if has_tabs else _by_blanks
    for line, raw in chain([first], filled):
        try:
            fields = split(raw)
            if len(fields) != 3 or (not has_tabs and b"\t" in raw):
                raise FileError(name, line, _wrong_columns(fields, raw, has_tabs=has_tabs))
            query, document, grade = fields
            if not query.strip() or not document.strip():
                raise FileError(
                    name, line, f"expected a query id and a document id, found {shown(raw)}; mend or remove it."
                )
            qrel = Qrel(query.decode(), document.decode(), parse_grade(grade, name, line), line)
        except FileError as error:
            on_error(error)
            continue
        yield qrel


def _by_tabs(raw: bytes) -> list[bytes]:
    fields = raw.split(b"\t")
    return [_unquoted(field) for field in fields] if b'"' in raw else fields


def _by_blanks(raw: bytes) -> list[bytes]:
    return raw.split()


def _unquoted(field: bytes) -> bytes:
    """BEIR's loader reads the file as CSV: a column in double quotes stands for what is inside them."""
    if len(field) < 2 or field[:1] != b'"' or field[-1:] != b'"':
        return field
    inner = field[1:-1].replace(b'""', b"")
    return field if b'"' in inner else field[1:-1].replace(b'""', b'"')


def _wrong_columns(fields: list[bytes], raw: bytes, *, has_tabs: bool) -> str:
    if not has_tabs and b"\t" in raw:
        return f"expected columns parted by blanks as in the lines before, found tabs in {shown(raw)}; use one of them."
    parted = "tabs" if has_tabs else "blanks"
    hint = " Four columns are TREC qrels." if len(fields) == 4 else ""
    hint = hint or f" Part the columns of every line by {parted}."
    return f"expected 3 columns (query, document, grade) parted by {parted}, got {len(fields)}: {shown(raw)}.{hint}"


def is_header(raw: bytes) -> bool:
    """Is this line a header such as ``query-id corpus-id score``, whatever parts its columns?"""
    fields = raw.split(b"\t") if b"\t" in raw else raw.split()
    words = [field.strip(b" \"'#").lower().replace(b"_", b"-").replace(b" ", b"-").decode() for field in fields]
    return len(words) == 3 and all(word in known for word, known in zip(words, QRELS_HEADER, strict=True))


class BeirFolder:
    """A test collection in BEIR layout: a folder, or a zip of one.

    UserError where the corpus or the queries are missing, or stand there twice.
    """

    def __init__(self, path: str | PurePath) -> None:
        self.source = open_source(path)
        names = self.source.names()
        self._corpus = self._one_of(names, "corpus.jsonl")
        self._queries = self._one_of(names, "queries.jsonl")
        inner = (name.removeprefix(f"{QRELS}/") for name in names if name.startswith(f"{QRELS}/"))
        found = {split for name in inner if (split := _split_of(name))}
        self._splits = {split: self._one_of(names, f"{QRELS}/{split}.tsv") for split in sorted(found)}

    def _one_of(self, names: list[str], plain: str) -> str:
        candidates = [plain + suffix for suffix in COMPRESSIONS if plain + suffix in names]
        if len(candidates) > 1:
            raise UserError(
                f"{self.source.path}: expected one of {', '.join(candidates)}, found them all; remove the others."
            )
        if not candidates:
            raise UserError(f"{self.source.path}: expected {EXPECTED}; {plain} is missing; found {_listing(names)}.")
        return candidates[0]

    @property
    def name(self) -> str:
        """The name of the folder, or of the zip without its ending."""
        name = self.source.path.resolve().name
        return name[:-4] if isinstance(self.source, ZipSource) and name.lower().endswith(".zip") else name

    def splits(self) -> list[str]:
        """The names of the qrels files, sorted."""
        return list(self._splits)

    def label(self, split: str) -> str:
        """What messages call the qrels of a split, whether there are any or not."""
        return f"{QRELS}/{split}.tsv"

    def documents(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Document]:
        with self.source.open(self._corpus) as stream:
            name = self.source.label(self._corpus)
            yield from read_documents(stream, name=name, progress=progress, on_error=on_error)

    def queries(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Query]:
        with self.source.open(self._queries) as stream:
            name = self.source.label(self._queries)
            yield from read_queries(stream, name=name, progress=progress, on_error=on_error)

    def qrels(
        self, split: str, *, warn: Warn, progress: Progress | None = None, on_error: OnError = refuse
    ) -> Iterator[Qrel]:
        """The judgments of one split; UserError with the splits there are where it is none of them."""
        return self._read_qrels(self._split(split), warn, progress, on_error)

    def _read_qrels(self, name: str, warn: Warn, progress: Progress | None, on_error: OnError) -> Iterator[Qrel]:
        with self.source.open(name) as stream:
            label = self.source.label(name)
            yield from read_qrels(stream, name=label, warn=warn, progress=progress, on_error=on_error)

    def _split(self, split: str) -> str:
        if split not in self._splits:
            there = ", ".join(self._splits) or "none: the folder qrels/ holds no .tsv file"
            raise UserError(f"{self.source.path}: expected the name of a split, found {shown(split)}. Splits: {there}.")
        return self._splits[split]

    def files(self, splits: Iterable[str] = ()) -> list[str]:
        """The names of the corpus, the queries and the qrels of these splits, as ``source`` opens them."""
        return [self._corpus, self._queries, *map(self._split, splits)]

    def corpus_size(self) -> int:
        """Bytes that ``progress`` hears of while the documents are read."""
        return self.source.size(self._corpus)

    def checksums(self, splits: Iterable[str]) -> dict[str, str]:
        """SHA-256 of the corpus, the queries and the qrels of these splits, by the name of the file."""
        return {name: self._checksum(name) for name in self.files(splits)}

    def _checksum(self, name: str) -> str:
        with self.source.open(name) as stream:
            try:
                return checksum(stream)
            except DAMAGED as error:
                problem = f"expected intact compressed data, found: {error}. Fetch or compress the file again."
                raise FileError(self.source.label(name), None, problem) from None


def _split_of(name: str) -> str:
    """``test`` of ``test.tsv.gz``; empty for other files."""
    for suffix in COMPRESSIONS:
        if name.endswith(f".tsv{suffix}"):
            return name.removesuffix(f".tsv{suffix}")
    return ""


def _listing(names: list[str]) -> str:
    if not names:
        return "nothing"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more


def document_lines(documents: Iterable[Document]) -> Iterator[bytes]:
    """The lines of a ``corpus.jsonl``, in the order given; the keys of the metadata are sorted."""
    for document in documents:
        yield _line(
            {"_id": document.id, "title": document.title, "text": document.text, "metadata": _sorted(document.metadata)}
        )


def query_lines(queries: Iterable[Query]) -> Iterator[bytes]:
    """The lines of a ``queries.jsonl``; else as ``document_lines``."""
    for query in queries:
        yield _line({"_id": query.id, "text": query.text, "metadata": _sorted(query.metadata)})


def _line(row: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # PostgreSQL gives 1e22 back as a whole number, which JSON readers of 64 bits do not take.
        return orjson.dumps(_as_read(row), option=orjson.OPT_APPEND_NEWLINE)


def _sorted(value: Any) -> Any:
    """The same with the keys of every object in order, for databases keep them in orders of their own."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _as_read(value: Any) -> Any:
    """The same with whole numbers beyond 64 bits as floats, which is what reading makes of them."""
    if isinstance(value, dict):
        return {key: _as_read(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_read(item) for item in value]
    return float(value) if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64 else value


def qrels_lines(qrels: Iterable[Qrel]) -> Iterator[bytes]:
    """The lines of a qrels TSV with BEIR's header, in the order given.

    UserError for an id that a line of tab-separated columns cannot hold.
    """
    return tsv_lines(QRELS_COLUMNS, ((qrel.query, qrel.document, qrel.grade) for qrel in qrels))
