"""The embedded engine: a tantivy index in a folder, no server needed.

Imports tantivy; so it is imported only where this engine was asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tantivy

from judging.engines.search import generations, ties
from judging.engines.search.analyzer import analyzer_for
from judging.engines.search.base import FIELDS, TIE_BREAKER, IndexInfo, Ranking, bm25_identity
from judging.errors import UserError
from judging.formats.records import Document, Query

_ANALYZER = "terms"
_WRITER_BYTES = 256_000_000
_BATCH = 64


class TantivyEngine:
    """BM25 over the documents of one collection, kept in ``folder``.

    The scores are Elasticsearch's (Lucene's times k1 + 1), but for one thing: tantivy's statistics count every document
    for each field, Lucene's only those where the field is not empty. So they differ a little where some documents
    have a title and others none.
    """

    def __init__(self, folder: Path, language: str = "en") -> None:
        self._folder = folder
        self._analyzer = analyzer_for(language)
        self._schema = _schema()

    def identity(self) -> dict[str, Any]:
        return {
            "engine": "tantivy",
            "version": version("tantivy"),
            "analyzer": self._analyzer.identity(),
            **bm25_identity(),
        }

    def info(self) -> IndexInfo | None:
        manifest = self._manifest()
        return IndexInfo(corpus=manifest.corpus, documents=manifest.documents) if manifest else None

    def build(self, documents: Iterable[Document], *, corpus: str) -> int:
        with generations.new_build(self._folder) as build:
            count = self._write(build, documents)
            manifest = generations.Manifest(build.name, corpus=corpus, documents=count, identity=self.identity())
            generations.publish(self._folder, manifest)
        return count

    def search(self, queries: Sequence[Query], *, top: int) -> Iterator[Ranking]:
        if top < 1:
            raise ValueError(f"top must be at least 1, not {top}")
        return self._rankings(self._searcher(), queries, top)

    def _manifest(self) -> generations.Manifest | None:
        manifest = generations.serving(self._folder)
        return manifest if manifest and manifest.identity == self.identity() else None

    def _write(self, build: Path, documents: Iterable[Document]) -> int:
        index = self._registered(tantivy.Index(self._schema, path=str(build), reuse=False))
        writer = index.writer(heap_size=_WRITER_BYTES)
        try:
            count = self._add(writer, documents)
            writer.commit()
        except BaseException:
            writer.rollback()
            raise
        finally:
            # Its threads would go on writing into the folder.
            writer.wait_merging_threads()
        return count

    def _add(self, writer: Any, documents: Iterable[Document]) -> int:
        count = 0
        for document in documents:
            record = tantivy.Document()
            record.add_bytes("id", document.id.encode())
            record.add_text("title", self._analyzer.prepared(document.title))
            record.add_text("text", self._analyzer.prepared(document.text))
            writer.add_document(record)
            count += 1
        return count

    def _searcher(self) -> Any:
        manifest = self._manifest()
        if manifest is None:
            raise UserError(f"{self._folder}: expected a complete index, found none. Index the collection first.")
        try:
            return self._registered(tantivy.Index.open(str(self._folder / manifest.build))).searcher()
        except ValueError as error:
            if self._manifest() != manifest:  # replaced between the two looks
                return self._searcher()
            raise UserError(
                f"{self._folder}: the index cannot be read ({error}). Index the collection again."
            ) from error

    def _registered(self, index: Any) -> Any:
        index.register_tokenizer(_ANALYZER, self._analyzer.for_tantivy())
        return index

    def _rankings(self, searcher: Any, queries: Sequence[Query], top: int) -> Iterator[Ranking]:
        # tantivy lets go of the interpreter lock while it searches: two cores answer nearly twice as fast as one.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for start in range(0, len(queries), _BATCH):
                batch = queries[start : start + _BATCH]
                yield from pool.map(lambda query: self._ranking(searcher, query, top), batch)

    def _ranking(self, searcher: Any, query: Query, top: int) -> Ranking:
        terms = self._analyzer.terms(query.text)
        if not terms:
            return Ranking(query.id, ())
        hits = _hits(searcher, self._best_fields(terms), top)
        return Ranking(query.id, ties.best(hits, top=top))

    def _best_fields(self, terms: Sequence[str]) -> Any:
        # Of term queries, not by tantivy's query parser: that drops repeated terms and obeys operators in the text.
        fields = [
            tantivy.Query.boolean_query(
                [(tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term, "freq")) for term in terms]
            )
            for field in FIELDS
        ]
        return tantivy.Query.disjunction_max_query(fields, tie_breaker=TIE_BREAKER)


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_bytes_field("id", stored=True)
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name=_ANALYZER, index_option="freq")
    return builder.build()


def _hits(searcher: Any, query: Any, top: int) -> list[tuple[str, float]]:
    """At least the best ``top`` documents and all that tie with the last of them."""
    size = top + ties.SPARE
    while True:
        found = [
            (ties.rounded(score), address) for score, address in searcher.search(query, limit=size, count=False).hits
        ]
        if not ties.tied_at_cut([score for score, _ in found], top=top, fetched=size):
            break
        size *= 4
    cut = found[top - 1][0] if len(found) >= top else 0.0
    return [(_id(searcher, address), score) for score, address in found if score >= cut]


def _id(searcher: Any, address: Any) -> str:
    return bytes(searcher.doc(address).get_first("id")).decode()
