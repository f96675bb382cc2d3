import random

import pytest

from judging.errors import UserError
from judging.formats.near_duplicates import near_duplicates

WORDS = [f"word{n}" for n in range(500)]


def text(seed: int, size: int = 200) -> list[str]:
    return random.Random(seed).choices(WORDS, k=size)


def changed(words: list[str], count: int, seed: int = 0) -> list[str]:
    words = list(words)
    for at in random.Random(seed).sample(range(len(words)), count):
        words[at] = f"new{at}"
    return words


def resemblance(one: list[str], other: list[str]) -> float:
    shingles = [{tuple(words[n : n + 3]) for n in range(len(words) - 2)} for words in (one, other)]
    return len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])


def test_texts_that_differ_in_a_few_words_are_one_group():
    one = text(1)
    near = changed(one, 3)
    assert resemblance(one, near) > 0.9
    texts = [("a", one), ("b", text(2)), ("c", near), ("d", text(3))]
    assert near_duplicates((name, " ".join(words)) for name, words in texts) == [("a", "c")]


def test_case_punctuation_and_white_space_do_not_count():
    assert near_duplicates([("a", "The cat, the dog."), ("b", "the CAT\n the dog")]) == [("a", "b")]


def test_groups_are_joined_through_common_members():
    one = text(1)
    two = changed(one, 8, seed=1)
    three = changed(two, 8, seed=2)
    assert resemblance(one, three) < 0.75 < resemblance(one, two)
    texts = [("c", three), ("a", one), ("x", text(9)), ("b", two)]
    assert near_duplicates(((name, " ".join(words)) for name, words in texts), threshold=0.75) == [("c", "a", "b")]


def test_the_threshold_decides():
    one = text(1)
    near = changed(one, 20)
    assert 0.4 < resemblance(one, near) < 0.7
    texts = [("a", " ".join(one)), ("b", " ".join(near))]
    assert near_duplicates(texts, threshold=0.8) == []
    assert near_duplicates(texts, threshold=0.3) == [("a", "b")]


def test_pairs_above_the_threshold_are_found_and_those_below_are_not():
    texts = [(str(n), text(n)) for n in range(100)]
    texts += [(f"{n}-near", changed(text(n), 4, seed=n)) for n in range(100)]
    found = near_duplicates((name, " ".join(words)) for name, words in texts)
    assert found == [(str(n), f"{n}-near") for n in range(100)]


@pytest.mark.parametrize("short", ["", "   ", "…!?"])
def test_texts_without_a_word_resemble_nothing(short):
    assert near_duplicates([("a", short), ("b", short), ("c", "x")]) == []


def test_short_texts_resemble_those_of_the_same_words():
    assert near_duplicates([("a", "x"), ("b", "X!"), ("c", "x y"), ("d", "x, y")]) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_a_threshold_that_is_no_share_is_an_error(threshold):
    with pytest.raises(UserError, match="A threshold of resemblance lies above 0 and is at most 1"):
        near_duplicates([], threshold=threshold)
