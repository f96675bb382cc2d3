from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from judging.engines.search.analyzer import analyzer_for
from judging.engines.search.base import IndexInfo
from judging.engines.search.elastic import ElasticsearchEngine
from judging.engines.search.embedded import TantivyEngine
from judging.errors import UserError
from judging.formats.records import Document, Query
from tests.conftest import DATA
from tests.engines.search.corpora import ANIMALS, query, random_corpus
from tests.services import free_port

CRANFIELD = DATA / "cranfield"


@pytest.fixture
def engine(elasticsearch_url: str) -> ElasticsearchEngine:
    return ElasticsearchEngine(elasticsearch_url, f"test-{uuid.uuid4().hex}")


@pytest.fixture
def client(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elasticsearch_url) as client:
        yield client


def ids(engine: ElasticsearchEngine, text: str, *, top: int = 10) -> list[str]:
    (ranking,) = engine.search([query(text)], top=top)
    return [document for document, _ in ranking.hits]


def same_rankings(
    engine: ElasticsearchEngine,
    folder: Path,
    documents: list[Document],
    queries: list[Query],
    *,
    top: int,
    tolerance: float,
) -> None:
    """Both engines name the same documents in the same order, with scores that differ by a ``tolerance`` at most."""
    embedded = TantivyEngine(folder)
    embedded.build(documents, corpus="c")
    engine.build(documents, corpus="c")
    for ours, theirs in zip(embedded.search(queries, top=top), engine.search(queries, top=top), strict=True):
        assert [document for document, _ in ours.hits] == [document for document, _ in theirs.hits], ours.query
        assert [score for _, score in ours.hits] == pytest.approx([score for _, score in theirs.hits], rel=tolerance)


def test_both_engines_rank_alike(engine: ElasticsearchEngine, tmp_path: Path) -> None:
    documents = random_corpus(300, seed=3)
    documents.append(Document("copy", documents[0].title, documents[0].text))
    queries = [Query(str(number), f"w{number}x w{number + 9}x w{number}x") for number in range(20)]
    same_rankings(engine, tmp_path, documents, queries, top=50, tolerance=1e-5)


@pytest.mark.skipif(not CRANFIELD.is_dir(), reason=f"no Cranfield collection in {CRANFIELD}")
def test_both_engines_rank_alike_on_cranfield(engine: ElasticsearchEngine, tmp_path: Path) -> None:
    with gzip.open(CRANFIELD / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line, _ in zip(file, range(300), strict=False)]
    with (CRANFIELD / "queries.jsonl").open(encoding="utf-8") as file:
        queries = [Query(each["_id"], each["text"]) for each in map(json.loads, file)][:20]
    documents = [Document(each["_id"], each["title"], each["text"]) for each in lines]
    # Snowball's newer English stemmer keeps a few words apart that Lucene's joins, such as internal and intern.
    same_rankings(engine, tmp_path, documents, queries, top=10, tolerance=0.02)


def test_both_engines_make_the_same_terms(engine: ElasticsearchEngine, client: Elasticsearch) -> None:
    text = (
        "The dog's DOG’S don't O'Neil's U.S.A. 3.14 1,000 foo:bar foo_bar naïve 中文カタカナひら 🙂 e-mail a;b 1.a 3,a "
        "1990's generously running it's what dogs' _x_ C++ 3% สวัสดี foo AND (bar) title:baz*"
    )
    engine.build(ANIMALS, corpus="c")
    answer = client.indices.analyze(index=engine._alias, analyzer="terms", text=text)
    assert analyzer_for("en").terms(text) == [token["token"] for token in answer["tokens"]]


def test_ties_beyond_any_spare_stand_in_order_of_the_id(engine: ElasticsearchEngine) -> None:
    documents = [Document(f"{number:03}", "", "same words") for number in range(300)]
    engine.build([*documents, Document("best", "same", "same words")], corpus="c")
    assert ids(engine, "same", top=4) == ["best", "299", "298", "297"]


@pytest.mark.parametrize("text", ["", "  ", "the of and", "unheard", "title:cats"])
def test_a_query_without_a_known_word_has_no_hits(engine: ElasticsearchEngine, text: str) -> None:
    engine.build(ANIMALS, corpus="c")
    assert ids(engine, text) == []


@pytest.mark.parametrize("text", ["owl AND", "don't ( owl", '"owl', "owl\x00 \ud800", "owl* [a TO"])
def test_whatever_a_person_types_is_only_words(engine: ElasticsearchEngine, text: str) -> None:
    engine.build(ANIMALS, corpus="c")
    assert ids(engine, text) == ["d4"]


def test_an_index_says_which_corpus_it_was_built_from(engine: ElasticsearchEngine) -> None:
    assert engine.info() is None
    for corpus, documents in (("c1", ANIMALS), ("c2", ANIMALS[:3]), ("c3", ANIMALS[:2])):
        assert engine.build(documents, corpus=corpus) == len(documents)
        assert engine.info() == IndexInfo(corpus=corpus, documents=len(documents))
    assert ids(engine, "owl") == []


def test_the_old_index_serves_until_the_new_one_is_whole_and_then_goes(
    engine: ElasticsearchEngine, client: Elasticsearch
) -> None:
    engine.build(ANIMALS, corpus="c1")

    def documents() -> Iterator[Document]:
        yield Document("new", "", "owl")
        assert engine.info() == IndexInfo(corpus="c1", documents=5)
        assert ids(engine, "owl") == ["d4"]

    engine.build(documents(), corpus="c2")
    assert ids(engine, "owl") == ["new"]
    assert len(client.indices.get(index=f"{engine._alias}*")) == 1


def test_a_refused_document_stops_the_build_and_is_named(engine: ElasticsearchEngine) -> None:
    engine.build(ANIMALS, corpus="c1")
    with pytest.raises(UserError, match=r"document 'x{600}'.*too long"):
        engine.build([*ANIMALS, Document("x" * 600, "", "owl")], corpus="c2")
    with pytest.raises(UserError, match=r"document 'd1'.*already exists"):
        engine.build([*ANIMALS, Document("d1", "", "other")], corpus="c2")
    assert engine.info() == IndexInfo(corpus="c1", documents=5)


def test_a_half_built_index_counts_as_none(engine: ElasticsearchEngine, client: Elasticsearch) -> None:
    client.indices.create(index=f"{engine._alias}-a", aliases={engine._alias: {}})
    assert engine.info() is None
    with pytest.raises(UserError, match="Index the collection first"):
        engine.search([query("owl")], top=10)
    engine.build(ANIMALS, corpus="c")
    assert ids(engine, "owl") == ["d4"]


def test_an_index_made_by_someone_else_is_left_alone(engine: ElasticsearchEngine, client: Elasticsearch) -> None:
    client.indices.create(index=engine._alias)
    with pytest.raises(UserError, match="Choose another index name"):
        engine.build(ANIMALS, corpus="c")
    assert client.indices.exists(index=engine._alias)


def test_the_ready_made_analyzer_is_used_by_name_and_recorded(elasticsearch_url: str) -> None:
    name = f"test-{uuid.uuid4().hex}"
    explicit = ElasticsearchEngine(elasticsearch_url, name)
    ready_made = ElasticsearchEngine(elasticsearch_url, name, analyzer="english")
    documents = [Document("d1", "", "generously"), Document("d2", "", "general")]

    # Porter's older stemmer makes both words "gener"; Porter2 keeps them apart.
    ready_made.build(documents, corpus="c")
    assert ids(ready_made, "generous") == ["d2", "d1"]
    assert ready_made.identity()["analyzer"] == {"ready-made": "english"}
    assert explicit.info() is None

    explicit.build(documents, corpus="c")
    assert ids(explicit, "generous") == ["d1"]
    assert explicit.identity()["analyzer"]["stemmer"] == "porter2"


def test_the_identity_is_json_and_names_the_server(engine: ElasticsearchEngine) -> None:
    identity = json.loads(json.dumps(engine.identity()))
    assert identity["engine"] == "elasticsearch"
    assert identity["version"].split(".")[0] in {"8", "9"}
    assert (identity["k1"], identity["b"], identity["tie_breaker"]) == (1.2, 0.75, 0.5)


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    engine = ElasticsearchEngine(
        f"http://user:secret@127.0.0.1:{free_port()}", "test", client_options={"max_retries": 0}
    )
    with pytest.raises(UserError, match="does not answer") as caught:
        engine.info()
    assert "127.0.0.1" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:9200", "http://user:secret@localhost", "", "ftp//x"])
def test_a_wrong_address_is_explained(url: str) -> None:
    with pytest.raises(UserError, match="scheme, host and port") as caught:
        ElasticsearchEngine(url, "test")
    assert "secret" not in str(caught.value)
