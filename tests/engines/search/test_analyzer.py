from __future__ import annotations

import subprocess
import sys

import pytest

from judging.engines.search.analyzer import Token, analyzer_for

english = analyzer_for("en")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The dog's bones and the DOG’S bone", ["dog", "bone", "dog", "bone"]),
        ("generously running flies", ["generous", "run", "fli"]),
        ("don't can’t o'neil's", ["don't", "can’t", "o'neil"]),
        ("it's what it is", ["what"]),
        (
            "U.S.A. 3.14 1,000 example.com foo:bar foo_bar e-mail",
            ["u.s.a", "3.14", "1,000", "example.com", "foo:bar", "foo_bar", "e", "mail"],
        ),
        ("1990's 3a a;b 1.a", ["1990", "s", "3a", "b", "1"]),
        ("naïve Cafe\u0301 中文カタカナひら 🙂", ["naïv", "cafe\u0301", "中", "文", "カタカナ", "ひ", "ら", "🙂"]),
        ('foo AND bar) OR (title:baz* "x', ["foo", "bar", "title:baz", "x"]),
        ("", []),
        ("the of — !?", []),
        ("lone \ud800 surrogate", ["lone", "surrog"]),
        ("nul\x00byte", ["nul", "byte"]),
    ],
)
def test_english_text_becomes_the_terms_that_lucene_makes_of_it(text: str, terms: list[str]) -> None:
    assert english.terms(text) == terms


def test_a_token_knows_which_characters_of_the_text_it_came_from() -> None:
    text = "Ünder the dog’s běds 🙂"
    tokens = english.tokens(text)
    assert tokens[1] == Token("dog", 10, 13)
    assert [text[token.start : token.end] for token in tokens] == ["Ünder", "dog", "běds", "🙂"]


def test_other_languages_are_stemmed_and_rid_of_their_own_stop_words() -> None:
    assert analyzer_for("de").terms("Die Häuser der Stadt") == ["haus", "stadt"]
    assert analyzer_for("ro-RO").terms("și casele") == ["și", "cas"]


def test_an_unknown_language_keeps_every_word_in_lower_case() -> None:
    assert analyzer_for("xx").terms("The Dog's Bones") == ["the", "dog's", "bones"]


def test_the_analyzer_is_described_in_words() -> None:
    assert english.identity() == {
        "tokenizer": "uax29",
        "possessive": True,
        "lowercase": True,
        "stop_words": "lucene english",
        "stemmer": "porter2",
    }
    assert analyzer_for("en-GB") == english


def test_the_room_can_be_entered_without_tantivy_or_elasticsearch() -> None:
    code = (
        "import sys, judging.engines.search, judging.engines.search.base, judging.engines.search.analyzer;"
        "assert not {'tantivy', 'elasticsearch', 'django'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["The captains' captain's Captain sailed, sailing floors", "", "the of", "日本 日本"])
def test_a_text_of_distinct_terms_has_the_same_terms_each_once(text: str) -> None:
    english = analyzer_for("en")
    assert english.terms(english.distinct(text)) == list(dict.fromkeys(english.terms(text)))
