"""Elasticsearch 8 or 9, for collections that one machine cannot serve.

Imports elasticsearch; so it is imported only where this engine was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elasticsearch import helpers

from judging.engines.search import ties
from judging.engines.search.analyzer import analyzer_for, well_formed
from judging.engines.search.base import FIELDS, K1, TIE_BREAKER, B, IndexInfo, Ranking, bm25_identity
from judging.engines.search.elastic_client import connect, readable_errors, without_credentials
from judging.errors import UserError
from judging.formats.records import Document, Query

_BATCH = 100
_BULK_ITEMS = 1_000
_BULK_BYTES = 20_000_000
_MOST_HITS = 1_000_000


class ElasticsearchEngine:
    """BM25 over the documents of one collection, kept under the alias ``index_name``.

    Behind the alias stand two places in turn, ``index_name-a`` and ``index_name-b``: one serves while the other is
    built. ``analyzer`` names one of Elasticsearch's ready-made analyzers (such as ``english``, which stems with the
    older Porter stemmer); without it the analyzer is the one that the embedded engine has, too.
    """

    def __init__(
        self,
        url: str,
        index_name: str,
        *,
        language: str = "en",
        analyzer: str | None = None,
        client_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._url = without_credentials(url)
        self._alias = index_name
        self._analyzer = analyzer_for(language)
        self._ready_made = analyzer
        self._client = connect(url, client_options or {})

    def identity(self) -> dict[str, Any]:
        with readable_errors(self._url):
            server = self._client.info()["version"]["number"]
        return {"engine": "elasticsearch", "version": server, **self._index_identity()}

    def info(self) -> IndexInfo | None:
        with readable_errors(self._url):
            index = self._serving()
            if index is None:
                return None
            meta = self._client.indices.get_mapping(index=index)[index]["mappings"].get("_meta", {})
        if meta.get("identity") != self._index_identity():
            return None
        return IndexInfo(corpus=meta["corpus"], documents=meta["documents"])

    def build(self, documents: Iterable[Document], *, corpus: str) -> int:
        with readable_errors(self._url):
            old, new = self._places()
            self._client.options(ignore_status=404).indices.delete(index=new)
            self._client.indices.create(index=new, settings=self._settings(), mappings=self._mappings())
            try:
                count = self._write(new, documents)
                self._publish(new, corpus=corpus, documents=count)
            except BaseException:
                self._client.options(ignore_status=404).indices.delete(index=new)
                raise
            if old:
                self._client.options(ignore_status=404).indices.delete(index=old)
        return count

    def search(self, queries: Sequence[Query], *, top: int) -> Iterator[Ranking]:
        if top < 1:
            raise ValueError(f"top must be at least 1, not {top}")
        if self.info() is None:
            raise UserError(
                f"Elasticsearch at {self._url}: expected a complete index {self._alias!r}, found none. "
                "Index the collection first."
            )
        return self._rankings(queries, top)

    def _index_identity(self) -> dict[str, Any]:
        analyzer = {"ready-made": self._ready_made} if self._ready_made else self._analyzer.identity()
        return {"analyzer": analyzer, **bm25_identity()}

    def _settings(self) -> dict[str, Any]:
        return {
            # One shard, so that every score comes from the statistics of the whole corpus.
            "number_of_shards": 1,
            "refresh_interval": "-1",
            "max_result_window": _MOST_HITS,
            "similarity": {"default": {"type": "BM25", "k1": K1, "b": B}},
            "analysis": self._analyzer.for_elasticsearch(),
        }

    def _mappings(self) -> dict[str, Any]:
        field = {"type": "text", "analyzer": self._ready_made or "terms", "index_options": "freqs"}
        return {"dynamic": False, "_source": {"enabled": False}, "properties": dict.fromkeys(FIELDS, field)}

    def _serving(self) -> str | None:
        """The index that the alias stands for."""
        found = self._client.options(ignore_status=404).indices.get_alias(name=self._alias)
        return None if "error" in found else next(iter(found))

    def _places(self) -> tuple[str | None, str]:
        """The index that serves, if any, and the name for the next one."""
        old = self._serving()
        if old:
            return old, f"{self._alias}-{'b' if old.endswith('-a') else 'a'}"
        if self._client.indices.exists(index=self._alias):
            raise UserError(
                f"Elasticsearch at {self._url}: {self._alias!r} is already an index that was not made here. "
                "Choose another index name."
            )
        return None, f"{self._alias}-a"

    def _write(self, index: str, documents: Iterable[Document]) -> int:
        # streaming_bulk, not parallel_bulk: a database cursor that the documents come from belongs to this thread.
        outcomes = helpers.streaming_bulk(
            self._client,
            (_action(index, document) for document in documents),
            chunk_size=_BULK_ITEMS,
            max_chunk_bytes=_BULK_BYTES,
            max_retries=5,
            raise_on_error=False,
        )
        count = 0
        for accepted, outcome in outcomes:
            if not accepted:
                raise UserError(f"Elasticsearch at {self._url} refused {_refusal(outcome)} Nothing was indexed.")
            count += 1
        self._client.indices.put_settings(index=index, settings={"refresh_interval": None})
        self._client.indices.refresh(index=index)
        held = self._client.count(index=index)["count"]
        if held != count:
            raise UserError(
                f"Elasticsearch at {self._url}: expected {count} documents in {index!r}, found {held}. "
                "Is the collection being indexed twice at once? Index it again."
            )
        return count

    def _publish(self, index: str, *, corpus: str, documents: int) -> None:
        meta = {"corpus": corpus, "documents": documents, "identity": self._index_identity()}
        self._client.indices.put_mapping(index=index, meta=meta)
        self._client.indices.update_aliases(
            actions=[
                {"remove": {"index": f"{self._alias}-*", "alias": self._alias, "must_exist": False}},
                {"add": {"index": index, "alias": self._alias}},
            ]
        )

    def _rankings(self, queries: Sequence[Query], top: int) -> Iterator[Ranking]:
        for start in range(0, len(queries), _BATCH):
            batch = queries[start : start + _BATCH]
            for query, hits in zip(batch, self._hits(batch, top), strict=True):
                yield Ranking(query.id, ties.best(hits, top=top))

    def _hits(self, queries: Sequence[Query], top: int) -> list[list[tuple[str, float]]]:
        """Of each query at least the best ``top`` documents and all that tie with the last of them."""
        size = top + ties.SPARE
        found = self._fetch(queries, size)
        while True:
            tied = [
                place
                for place, hits in enumerate(found)
                if ties.tied_at_cut([score for _, score in hits], top=top, fetched=size)
            ]
            if not tied:
                return found
            size *= 4
            for place, hits in zip(tied, self._fetch([queries[place] for place in tied], size), strict=True):
                found[place] = hits

    def _fetch(self, queries: Sequence[Query], size: int) -> list[list[tuple[str, float]]]:
        searches: list[dict[str, Any]] = []
        for query in queries:
            searches += [
                {"index": self._alias, "allow_partial_search_results": False},
                {"query": _best_fields(query.text), "size": size, "track_total_hits": False},
            ]
        with readable_errors(self._url):
            responses = self._client.msearch(searches=searches)["responses"]
        return [self._read(query, response) for query, response in zip(queries, responses, strict=True)]

    def _read(self, query: Query, response: Mapping[str, Any]) -> list[tuple[str, float]]:
        if "error" in response:
            raise UserError(f"Elasticsearch at {self._url} could not answer query {query.id}: {_reason(response)}")
        if response["timed_out"] or response["_shards"]["failed"]:
            raise UserError(
                f"Elasticsearch at {self._url} answered query {query.id} from a part of the index only. "
                "Look after the cluster, then search again."
            )
        return [(hit["_id"], ties.rounded(hit["_score"])) for hit in response["hits"]["hits"]]


def _action(index: str, document: Document) -> dict[str, Any]:
    # "create", so that a second document of the same id is refused, not put in the first one's place.
    return {
        "_op_type": "create",
        "_index": index,
        "_id": document.id,
        "title": well_formed(document.title),
        "text": well_formed(document.text),
    }


def _best_fields(text: str) -> dict[str, Any]:
    return {
        "multi_match": {
            "query": well_formed(text),
            "type": "best_fields",
            "fields": list(FIELDS),
            "tie_breaker": TIE_BREAKER,
        }
    }


def _refusal(outcome: Mapping[str, Any]) -> str:
    """``document <id>: <reason>`` of a failed item of a bulk request."""
    item = next(iter(outcome.values()))
    return f"document {item.get('_id', '')!r}: {_reason(item)}"


def _reason(item: Mapping[str, Any]) -> str:
    error = item.get("error")
    if not isinstance(error, Mapping):
        return f"{error or item}."
    causes = [error, error.get("caused_by") or {}, *error.get("root_cause", [])]
    if any("too_many" in str(cause.get("type")) for cause in causes):
        return (
            "it has more terms than the server takes. Raise indices.query.bool.max_clause_count or shorten the query."
        )
    return f"{error.get('type')}: {error.get('reason')}."
