from __future__ import annotations

from pathlib import Path

import pytest

from judging.engines.search import open_engine
from judging.engines.search.elastic import ElasticsearchEngine
from judging.engines.search.embedded import TantivyEngine
from judging.errors import UserError


def test_an_engine_is_opened_by_its_name(tmp_path: Path) -> None:
    assert isinstance(open_engine("tantivy", folder=tmp_path), TantivyEngine)
    assert isinstance(open_engine("elasticsearch", url="http://127.0.0.1:1", index_name="x"), ElasticsearchEngine)


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(UserError, match="tantivy, elasticsearch, found 'solr'"):
        open_engine("solr")


def test_what_an_engine_needs_is_asked_for() -> None:
    with pytest.raises(UserError, match="needs a folder"):
        open_engine("tantivy")
    with pytest.raises(UserError, match="ELASTICSEARCH_URL"):
        open_engine("elasticsearch", index_name="x")
