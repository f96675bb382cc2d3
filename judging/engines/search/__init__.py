"""Search engines, each imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judging.engines.search.base import SearchEngine
from judging.errors import UserError

ENGINES = ("tantivy", "elasticsearch")


def open_engine(
    kind: str,
    *,
    language: str = "en",
    folder: Path | None = None,
    url: str = "",
    index_name: str = "",
    analyzer: str | None = None,
    client_options: Mapping[str, Any] | None = None,
) -> SearchEngine:
    """The search engine of one collection.

    ``tantivy`` takes ``folder``, where its index lies. ``elasticsearch`` takes ``url``, ``index_name``, optionally the
    name of a ready-made ``analyzer`` and ``client_options`` for ``elasticsearch.Elasticsearch`` (such as ``api_key``).
    """
    if kind == "tantivy":
        from judging.engines.search.embedded import TantivyEngine

        if folder is None:
            raise UserError("The search engine tantivy needs a folder for its index, and none was given.")
        return TantivyEngine(folder, language)
    if kind == "elasticsearch":
        from judging.engines.search.elastic import ElasticsearchEngine

        if not url or not index_name:
            raise UserError(
                "The search engine elasticsearch needs an address and an index name. Set ELASTICSEARCH_URL."
            )
        return ElasticsearchEngine(
            url, index_name, language=language, analyzer=analyzer, client_options=client_options or {}
        )
    raise UserError(f"Expected a search engine out of {', '.join(ENGINES)}, found {kind!r}.")
