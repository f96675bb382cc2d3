from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judging.engines.search import generations
from judging.engines.search.analyzer import analyzer_for
from judging.engines.search.base import IndexInfo
from judging.engines.search.embedded import TantivyEngine
from judging.errors import UserError
from judging.formats.records import Document, Query
from tests.engines.search.corpora import ANIMALS, query, random_corpus


def indexed(folder: Path, documents: list[Document], *, language: str = "en") -> TantivyEngine:
    engine = TantivyEngine(folder, language)
    assert engine.build(documents, corpus="sha256:1") == len(documents)
    return engine


def ids(engine: TantivyEngine, text: str, *, top: int = 10) -> list[str]:
    (ranking,) = engine.search([query(text)], top=top)
    return [document for document, _ in ranking.hits]


def bm25(documents: list[list[str]], terms: list[str]) -> list[float]:
    """BM25 as Lucene states it, times k1 + 1; for documents of fewer than 40 terms, whose lengths are kept exactly."""
    average = sum(map(len, documents)) / len(documents)

    def score(document: list[str], term: str) -> float:
        containing = sum(term in other for other in documents)
        idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
        frequency = document.count(term)
        return idf * 2.2 * frequency / (frequency + 1.2 * (0.25 + 0.75 * len(document) / average))

    return [sum(score(document, term) for term in terms) for document in documents]


@pytest.mark.parametrize("text", ["w3x", "w0x w5x w20x", "w1x w1x w30x", "w40x w41x w42x w43x w44x"])
def test_a_score_is_the_better_fields_bm25_plus_half_the_others(tmp_path: Path, text: str) -> None:
    documents = [
        Document(document.id, document.title, " ".join(document.text.split()[:39]))
        for document in random_corpus(600, seed=1)
    ]
    terms = analyzer_for("en").terms
    titles = bm25([terms(document.title) for document in documents], terms(text))
    texts = bm25([terms(document.text) for document in documents], terms(text))
    expected = {
        document.id: max(pair) + 0.5 * min(pair)
        for document, pair in zip(documents, zip(titles, texts, strict=True), strict=True)
        if max(pair)
    }

    (ranking,) = indexed(tmp_path, documents).search([query(text)], top=600)

    assert dict(ranking.hits) == pytest.approx(expected, rel=1e-5)
    (shorter,) = TantivyEngine(tmp_path).search([query(text)], top=20)
    assert shorter.hits == ranking.hits[:20]


def test_a_repeated_word_of_the_query_counts_twice(tmp_path: Path) -> None:
    engine = indexed(tmp_path, [Document("both", "", "cat dog dog"), Document("cats", "", "cat cat dog")])
    assert ids(engine, "cat cat dog")[0] == "cats"
    assert ids(engine, "cat dog dog")[0] == "both"


def test_stop_words_endings_and_possessives_do_not_matter(tmp_path: Path) -> None:
    engine = indexed(tmp_path, ANIMALS)
    assert sorted(ids(engine, "the cats’ cat's")) == ["d1", "d2"]


@pytest.mark.parametrize("text", ["", "   ", "the of and", "?!", "unheard"])
def test_a_query_without_a_known_word_has_no_hits(tmp_path: Path, text: str) -> None:
    assert ids(indexed(tmp_path, ANIMALS), text) == []


@pytest.mark.parametrize(
    "text",
    [
        "owl AND",
        "don't ( owl",
        "owl OR NOT",
        "+owl -bird",
        '"owl',
        "owl* [a TO",
        "owl 🦉",
        "owl\x00\ud800",
        "/owl(/ ^2~",
    ],
)
def test_whatever_a_person_types_is_only_words(tmp_path: Path, text: str) -> None:
    assert "d4" in ids(indexed(tmp_path, ANIMALS), text)


def test_a_field_name_in_the_query_is_a_word(tmp_path: Path) -> None:
    assert ids(indexed(tmp_path, ANIMALS), "title:cats") == []


def test_a_query_of_five_thousand_words_is_answered_whole(tmp_path: Path) -> None:
    engine = indexed(tmp_path, ANIMALS)
    assert ids(engine, " ".join(f"word{number}" for number in range(5_000)) + " owl") == ["d4"]


def test_a_text_of_one_endless_word_is_indexed_like_any_other(tmp_path: Path) -> None:
    engine = indexed(tmp_path, [Document("long", "owl", "x" * 450_000), *ANIMALS])
    assert set(ids(engine, "owl")) == {"long", "d4"}


def test_ties_beyond_any_spare_still_stand_in_order_of_the_id(tmp_path: Path) -> None:
    documents = [Document(f"{number:03}", "", "same words") for number in range(400)]
    documents.append(Document("best", "same", "same words"))
    engine = indexed(tmp_path, documents)
    assert ids(engine, "same", top=4) == ["best", "399", "398", "397"]


def test_an_index_built_again_in_another_order_ranks_the_same(tmp_path: Path) -> None:
    documents = random_corpus(500, seed=2) + [
        Document(f"copy{number}", document.title, document.text)
        for number, document in enumerate(random_corpus(100, seed=2))
    ]
    queries = [Query(str(number), f"w{number}x w{number + 7}x w{2 * number}x") for number in range(40)]
    first = list(indexed(tmp_path / "a", documents).search(queries, top=30))
    again = list(indexed(tmp_path / "b", documents[::-1]).search(queries, top=30))
    assert first == again
    assert [ranking.query for ranking in first] == [each.id for each in queries]


def test_ids_come_back_as_they_were(tmp_path: Path) -> None:
    names = ["0042", "42", "Nike", "nike", "with blank", "ü/\u2028", "x" * 2_000]
    engine = indexed(tmp_path, [Document(name, "", "word") for name in names])
    assert ids(engine, "word") == sorted(names, reverse=True)


def test_an_index_says_which_corpus_it_was_built_from(tmp_path: Path) -> None:
    engine = TantivyEngine(tmp_path)
    assert engine.info() is None
    engine.build(ANIMALS, corpus="sha256:1")
    assert TantivyEngine(tmp_path).info() == IndexInfo(corpus="sha256:1", documents=5)
    engine.build(ANIMALS[:2], corpus="sha256:2")
    assert TantivyEngine(tmp_path).info() == IndexInfo(corpus="sha256:2", documents=2)
    assert ids(engine, "owl") == []


def test_an_index_of_another_analyzer_counts_as_none(tmp_path: Path) -> None:
    indexed(tmp_path, ANIMALS, language="en")
    assert TantivyEngine(tmp_path, "de").info() is None


def test_searching_without_an_index_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Index the collection first"):
        TantivyEngine(tmp_path).search([query("cat")], top=10)


def test_the_old_index_serves_until_the_new_one_is_whole(tmp_path: Path) -> None:
    engine = indexed(tmp_path, ANIMALS)

    def documents() -> Iterator[Document]:
        yield Document("new", "", "owl")
        assert ids(engine, "owl") == ["d4"]
        yield Document("newer", "", "owl")

    engine.build(documents(), corpus="sha256:2")
    assert ids(engine, "owl") == ["newer", "new"]


def test_a_search_that_has_begun_is_finished_on_the_old_index(tmp_path: Path) -> None:
    engine = indexed(tmp_path, ANIMALS)
    rankings = engine.search([query("owl"), query("cat")], top=10)
    engine.build([Document("new", "", "owl")], corpus="sha256:2")
    assert [[document for document, _ in ranking.hits] for ranking in rankings] == [["d4"], ["d1", "d2"]]


def test_a_build_that_fails_leaves_the_old_index_and_no_rubbish(tmp_path: Path) -> None:
    engine = indexed(tmp_path, ANIMALS)

    def documents() -> Iterator[Document]:
        yield ANIMALS[0]
        raise UserError("the file ends here")

    with pytest.raises(UserError, match="the file ends here"):
        engine.build(documents(), corpus="sha256:2")
    assert engine.info() == IndexInfo(corpus="sha256:1", documents=5)
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1


def test_a_killed_build_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from judging.engines.search.embedded import TantivyEngine
from judging.formats.records import Document

def documents():
    yield Document("d1", "", "owl")
    os.kill(os.getpid(), 9)

TantivyEngine(Path({str(tmp_path)!r})).build(documents(), corpus="sha256:1")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert TantivyEngine(tmp_path).info() is None
    assert ids(indexed(tmp_path, ANIMALS), "owl") == ["d4"]
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1


def test_two_builds_at_once_are_refused(tmp_path: Path) -> None:
    with generations.new_build(tmp_path), pytest.raises(UserError, match="no other build"):
        TantivyEngine(tmp_path).build(ANIMALS, corpus="sha256:1")


def test_a_damaged_index_says_what_to_do(tmp_path: Path) -> None:
    engine = indexed(tmp_path, ANIMALS)
    (build,) = (path for path in tmp_path.iterdir() if path.is_dir())
    (build / "meta.json").write_text("{")
    with pytest.raises(UserError, match="Index the collection again"):
        engine.search([query("owl")], top=10)


def test_the_identity_is_json_and_names_what_decides_a_ranking(tmp_path: Path) -> None:
    identity = json.loads(json.dumps(TantivyEngine(tmp_path).identity()))
    assert identity["engine"] == "tantivy"
    assert (identity["k1"], identity["b"], identity["tie_breaker"]) == (1.2, 0.75, 0.5)
    assert identity["fields"] == ["title", "text"]
    assert identity["analyzer"]["stemmer"] == "porter2"
