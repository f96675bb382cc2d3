"""What a search engine must offer, whichever it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judging.engines.search.ties import RULE
from judging.formats.records import Document, Query

K1 = 1.2
B = 0.75
TIE_BREAKER = 0.5
FIELDS = ("title", "text")


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an existing index says of itself. ``corpus`` is the fingerprint of the corpus it was built from."""

    corpus: str
    documents: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits of one query, best first: (document id, score). Ties stand in descending order of the id."""

    query: str
    hits: tuple[tuple[str, float], ...]


class SearchEngine(Protocol):
    """One index of one collection.

    The query is BM25 (k1 1.2, b 0.75) as Elasticsearch's ``multi_match`` of type ``best_fields`` over title and text
    with tie_breaker 0.5: the better field's score plus half the other's.
    """

    def identity(self) -> dict[str, Any]:
        """Every determinant of a ranking: engine, version, analyzer, k1, b, fields, tie_breaker. JSON-serialisable."""
        ...

    def info(self) -> IndexInfo | None:
        """The existing, complete index, or None. An index that was left half built counts as none."""
        ...

    def build(self, documents: Iterable[Document], *, corpus: str) -> int:
        """Index the documents anew and return their number; the old index serves until the new one is whole."""
        ...

    def search(self, queries: Sequence[Query], *, top: int) -> Iterator[Ranking]:
        """The best ``top`` documents of each query, in the order of ``queries``; a query without hits has none."""
        ...


def bm25_identity() -> dict[str, Any]:
    """The part of ``identity()`` that is the same for every engine."""
    return {"k1": K1, "b": B, "query": "best_fields", "fields": list(FIELDS), "tie_breaker": TIE_BREAKER, "ties": RULE}
