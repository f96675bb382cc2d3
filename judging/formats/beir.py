"""The BEIR layout: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``.

As BEIR's own loader reads it (https://github.com/beir-cellar/beir), but without its silent losses: a qrels file needs
no header line, and repeated ids are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import PurePath
from typing import IO, Any, TypeVar

import orjson

from judging.errors import FileError, UserError
from judging.formats.checksum import checksum
from judging.formats.fields import Warn, json_id, json_object, json_text, parse_grade, shown, unique_pairs
from judging.formats.lines import COMPRESSIONS, File, name_of, read_raw_lines
from judging.formats.records import Document, Qrel, Query
from judging.formats.source import EXPECTED, QRELS, ZipSource, open_source

Record = TypeVar("Record", Document, Query)

_HEADER = (
    {"query-id", "queryid", "query", "qid", "q-id"},
    {"corpus-id", "corpusid", "document-id", "document", "doc-id", "docid", "doc", "did", "pid", "passage-id"},
    {"score", "grade", "relevance", "rel", "label", "judgment", "judgement"},
)


def read_documents(file: File, *, name: str | None = None) -> Iterator[Document]:
    """The documents of a ``corpus.jsonl``. Keys beside BEIR's own are kept in the metadata.

    The ids read so far are kept in memory, to name both lines of one that comes twice.
    """
    name = name_of(file, name)
    for line, identifier, row in _rows(file, name):
        title, text = row.pop("title", ""), row.pop("text", "")
        if type(title) is not str:
            title = json_text(title, "title", name, line)
        if type(text) is not str:
            text = json_text(text, "text", name, line)
        yield Document(identifier, title, text, _metadata(row, name, line) if row else row)


def read_queries(file: File, *, name: str | None = None) -> Iterator[Query]:
    """The queries of a ``queries.jsonl``; else as ``read_documents``."""
    name = name_of(file, name)
    for line, identifier, row in _rows(file, name):
        text = json_text(row.pop("text", None), "text", name, line)
        yield Query(identifier, text, _metadata(row, name, line))


def _rows(file: File, name: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line, id, the other keys) of each JSON object."""
    seen: dict[str, int] = {}
    for line, raw in read_raw_lines(file, name=name):
        if not raw or raw.isspace():
            continue
        row = json_object(raw, name, line)
        identifier = json_id(row.pop("_id", None), "_id", name, line)
        first = seen.setdefault(identifier, line)
        if first != line:
            problem = (
                f"expected every _id once, found {shown(identifier)} here and at line {first}; remove one of them."
            )
            raise FileError(name, line, problem)
        yield line, identifier, row


def _metadata(row: dict[str, Any], name: str, line: int) -> dict[str, Any]:
    """``metadata`` and the keys beside it as one; metadata that is no object is kept under its own name."""
    metadata = row.pop("metadata", None)
    if not isinstance(metadata, dict):
        return {"metadata": metadata, **row} if metadata else row
    for key in metadata.keys() & row.keys():
        if metadata[key] != row[key]:
            problem = f"expected one value of {shown(key)}, found one in the metadata and another beside it."
            raise FileError(name, line, problem)
    return metadata | row


def read_qrels(file: File, *, warn: Warn, name: str | None = None) -> Iterator[Qrel]:
    """The judgments of a TSV of query, document and grade, with or without BEIR's header line.

    Columns are parted by tabs, so that ids may hold blanks; by runs of blanks where the first line has no tab. A pair
    that comes twice with one grade is yielded once and ``warn`` is called at the end; with two grades it is an error.
    """
    name = name_of(file, name)
    return parse_qrels(read_raw_lines(file, name=name), name=name, warn=warn)


def parse_qrels(lines: Iterable[tuple[int, bytes]], *, name: str, warn: Warn) -> Iterator[Qrel]:
    """As ``read_qrels``, from lines that were read already."""
    return unique_pairs(_qrels(lines, name), lambda qrel: qrel.grade, name=name, warn=warn)


def _qrels(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[Qrel]:
    filled = ((line, raw) for line, raw in lines if raw and not raw.isspace())
    first = next(filled, None)
    if first is not None and is_header(first[1]):
        first = next(filled, None)
    if first is None:
        return
    has_tabs = b"\t" in first[1]
    split = _by_tabs if has_tabs else _by_blanks
    for line, raw in chain([first], filled):
        fields = split(raw)
        if len(fields) != 3 or (not has_tabs and b"\t" in raw):
            raise FileError(name, line, _wrong_columns(fields, raw, has_tabs=has_tabs))
        query, document, grade = fields
        if not query.strip() or not document.strip():
            raise FileError(name, line, f"expected a query id and a document id, found {shown(raw)}.")
        yield Qrel(query.decode(), document.decode(), parse_grade(grade, name, line), line)


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
        return f"expected columns parted by blanks as in the lines before, found tabs in {shown(raw)}."
    parted = "tabs" if has_tabs else "blanks"
    hint = " Four columns are TREC qrels." if len(fields) == 4 else ""
    return f"expected 3 columns (query, document, grade) parted by {parted}, got {len(fields)}: {shown(raw)}.{hint}"


def is_header(raw: bytes) -> bool:
    """Is this line a header such as ``query-id corpus-id score``, whatever parts its columns?"""
    fields = raw.split(b"\t") if b"\t" in raw else raw.split()
    words = [field.strip(b" \"'#").lower().replace(b"_", b"-").replace(b" ", b"-").decode() for field in fields]
    return len(words) == 3 and all(word in known for word, known in zip(words, _HEADER, strict=True))


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

    def documents(self) -> Iterator[Document]:
        with self.source.open(self._corpus) as stream:
            yield from read_documents(stream, name=self.source.label(self._corpus))

    def queries(self) -> Iterator[Query]:
        with self.source.open(self._queries) as stream:
            yield from read_queries(stream, name=self.source.label(self._queries))

    def qrels(self, split: str, *, warn: Warn) -> Iterator[Qrel]:
        """The judgments of one split; UserError with the splits there are where it is none of them."""
        name = self._split(split)
        return self._read_qrels(name, warn)

    def _read_qrels(self, name: str, warn: Warn) -> Iterator[Qrel]:
        with self.source.open(name) as stream:
            yield from read_qrels(stream, name=self.source.label(name), warn=warn)

    def _split(self, split: str) -> str:
        if split not in self._splits:
            there = ", ".join(self._splits) or "none: the folder qrels/ holds no .tsv file"
            raise UserError(f"{self.source.path}: expected the name of a split, found {shown(split)}. Splits: {there}.")
        return self._splits[split]

    def checksums(self, splits: Iterable[str]) -> dict[str, str]:
        """SHA-256 of the corpus, the queries and the qrels of these splits, by the name of the file."""
        return {name: self._checksum(name) for name in (self._corpus, self._queries, *map(self._split, splits))}

    def _checksum(self, name: str) -> str:
        with self.source.open(name) as stream:
            return checksum(stream)


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


def write_documents(stream: IO[bytes], documents: Iterable[Document]) -> None:
    """Writes a ``corpus.jsonl``, in the order given."""
    _write(stream, documents, lambda d: {"_id": d.id, "title": d.title, "text": d.text, "metadata": dict(d.metadata)})


def write_queries(stream: IO[bytes], queries: Iterable[Query]) -> None:
    """Writes a ``queries.jsonl``, in the order given."""
    _write(stream, queries, lambda query: {"_id": query.id, "text": query.text, "metadata": dict(query.metadata)})


def _write(stream: IO[bytes], records: Iterable[Record], row: Callable[[Record], dict[str, Any]]) -> None:
    stream.writelines(orjson.dumps(row(record), option=orjson.OPT_APPEND_NEWLINE) for record in records)


def write_qrels(stream: IO[bytes], qrels: Iterable[Qrel]) -> None:
    """Writes a qrels TSV with BEIR's header, sorted by the code points of query and document.

    UserError for an id that a line of tab-separated columns cannot hold.
    """
    stream.write(b"query-id\tcorpus-id\tscore\n")
    for qrel in sorted(qrels, key=lambda qrel: (qrel.query, qrel.document)):
        query, document = _field(qrel.query, "query"), _field(qrel.document, "document")
        stream.write(f"{query}\t{document}\t{qrel.grade}\n".encode())


def _field(identifier: str, what: str) -> str:
    """The id as a column; in quotes where it begins with one, which BEIR's loader would strip otherwise."""
    if not identifier.strip() or any(character in identifier for character in "\t\n\r\0"):
        raise UserError(f"A qrels TSV needs a {what} id without tabs and line ends; found {shown(identifier)}.")
    return '"' + identifier.replace('"', '""') + '"' if identifier.startswith('"') else identifier
