"""Collections of the package ir_datasets, by id; the package is not installed with this software.

Their records are named tuples of many shapes (https://ir-datasets.com/python.html); what is no id and no text of ours
is kept in the metadata.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from judging.errors import FileError, UserError
from judging.formats.fields import Warn, holds_nul, json_grade, shown, unique_pairs
from judging.formats.ids import SeenIds
from judging.formats.lines import OnError, Progress, refuse
from judging.formats.records import Document, Qrel, Query


class IrDataset:
    """As ``BeirFolder``, of an id such as ``beir/scifact/test``. Its one split is the last part of the id.

    Raises: UserError where the package is not installed, does not know the id, or has no documents, queries or qrels
    of it.
    """

    def __init__(self, identifier: str) -> None:
        self._dataset = _load(identifier)
        self.identifier = identifier
        missing = [part for part in ("docs", "queries", "qrels") if not getattr(self._dataset, f"has_{part}")()]
        if missing:
            raise UserError(
                f"ir_datasets {identifier}: expected documents, queries and qrels, found no {' and no '.join(missing)}."
                " Name a part of the collection that has them all, such as beir/scifact/test."
            )

    @property
    def name(self) -> str:
        return self.identifier.replace("/", "-")

    def splits(self) -> list[str]:
        return [self.identifier.rpartition("/")[2]]

    def label(self, split: str) -> str:
        """What messages call the qrels of a split."""
        return f"split {split}"

    def documents(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Document]:  # noqa: ARG002
        """``progress`` hears nothing: bytes are not told."""
        yield from _unique(self._records("docs"), "doc_id", self._label("documents"), _document, on_error)

    def queries(self, *, progress: Progress | None = None, on_error: OnError = refuse) -> Iterator[Query]:  # noqa: ARG002
        yield from _unique(self._records("queries"), "query_id", self._label("queries"), _query, on_error)

    def qrels(
        self,
        split: str,
        *,
        warn: Warn,
        progress: Progress | None = None,  # noqa: ARG002
        on_error: OnError = refuse,
    ) -> Iterator[Qrel]:
        self._check(split)
        name = self._label("qrels")
        qrels = _qrels(self._records("qrels"), name, on_error)
        return unique_pairs(qrels, lambda qrel: qrel.grade, name=name, warn=warn, on_error=on_error)

    def _records(self, part: str) -> Iterator[Any]:
        """What the package yields; it fetches the files when the first record is asked for."""
        try:
            yield from getattr(self._dataset, f"{part}_iter")()
        except Exception as error:
            raise UserError(
                f"ir_datasets {self.identifier}: expected its {part}, found: {type(error).__name__}: {error}. "
                "What the package needs for this data set is told at https://ir-datasets.com"
            ) from error

    def _check(self, split: str) -> None:
        if split not in self.splits():
            problem = (
                f"expected the split {self.splits()[0]}, found {shown(split)}; other splits have ids of their own."
            )
            raise UserError(f"ir_datasets {self.identifier}: {problem}")

    def _label(self, part: str) -> str:
        return f"{self.identifier} ({part})"

    def corpus_size(self) -> int:
        """0: the package does not tell."""
        return 0

    def checksums(self, splits: Iterable[str]) -> dict[str, str]:
        """SHA-256 of the records as JSON lines, by part; there are no files of which it could be."""
        for split in splits:
            self._check(split)
        return {
            f"{self.identifier}/{part}": _checksum(records)
            for part, records in (
                ("documents", self._records("docs")),
                ("queries", self._records("queries")),
                ("qrels", self._records("qrels")),
            )
        }


def _load(identifier: str) -> Any:
    try:
        import ir_datasets
    except ImportError:
        raise UserError(
            f"ir_datasets {identifier}: expected the package ir_datasets, found it not installed. "
            "Install it with: pip install ir-datasets"
        ) from None
    try:
        return ir_datasets.load(identifier)
    except KeyError:
        raise UserError(
            f"ir_datasets {identifier}: expected the id of a data set, found none of that name. "
            "They are listed at https://ir-datasets.com"
        ) from None


def _values(record: Any) -> dict[str, Any]:
    return {key: value for key, value in record._asdict().items() if value is not None}


def _unique(
    records: Iterable[Any], key: str, name: str, make: Callable[[Any, str], Document | Query], on_error: OnError
) -> Iterator[Any]:
    seen = SeenIds()
    for line, record in enumerate(records, 1):
        identifier = str(getattr(record, key))
        try:
            if not identifier.strip():
                raise FileError(name, line, f"expected a text that is not empty as {key}, found {shown(identifier)}.")
            if seen.add(identifier):
                raise FileError(name, line, f"expected every {key} once, found {shown(identifier)} here and before.")
            found = make(record, identifier)
            if holds_nul([identifier, found.text, dict(found.metadata)]):
                raise FileError(name, line, "expected text, found a NUL character.")
        except FileError as error:
            on_error(error)
            continue
        yield found


def _document(record: Any, identifier: str) -> Document:
    values = _values(record)
    values.pop("doc_id", None)
    text = _taken(values, "text", "body", "abstract", "contents")
    if text is None:
        # What the package joins holds the title already.
        return Document(identifier, "", _default_text(record), _json(values))
    return Document(identifier, _taken(values, "title") or "", text, _json(values))


def _query(record: Any, identifier: str) -> Query:
    values = _values(record)
    values.pop("query_id", None)
    text = _taken(values, "text", "title")
    return Query(identifier, _default_text(record) if text is None else text, _json(values))


def _taken(values: dict[str, Any], *keys: str) -> str | None:
    """The first of these that is a text, taken out of the values."""
    return next((values.pop(key) for key in keys if isinstance(values.get(key), str)), None)


def _default_text(record: Any) -> str:
    return str(record.default_text()) if hasattr(record, "default_text") else ""


def _json(values: dict[str, Any]) -> dict[str, Any]:
    """The values as JSON has them; those that JSON cannot hold, such as bytes, are left out."""
    kept = {}
    for key, value in values.items():
        try:
            kept[key] = orjson.loads(orjson.dumps(value, default=_plain))
        except (TypeError, ValueError):
            continue
    return kept


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return value._asdict()
    raise TypeError


def _qrels(records: Iterable[Any], name: str, on_error: OnError) -> Iterator[Qrel]:
    for line, record in enumerate(records, 1):
        try:
            qrel = Qrel(str(record.query_id), str(record.doc_id), json_grade(record.relevance, name, line), line)
        except FileError as error:
            on_error(error)
            continue
        yield qrel


def _checksum(records: Iterable[Any]) -> str:
    sha256 = hashlib.sha256()
    for record in records:
        sha256.update(orjson.dumps(_json(record._asdict()), option=orjson.OPT_APPEND_NEWLINE))
    return sha256.hexdigest()
