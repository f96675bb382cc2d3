from math import isnan

import numpy as np
import pytest

from judging.measures.association import correlation

RANDOM = np.random.default_rng(3)
QUERIES = np.arange(300) // 10
PEOPLE = RANDOM.integers(0, 4, 300).astype(float)
WITH = PEOPLE + RANDOM.normal(0, 1.5, 300)


def test_the_correlation_is_numpys():
    assert correlation(WITH, PEOPLE, clusters=QUERIES).value == pytest.approx(np.corrcoef(WITH, PEOPLE)[0, 1])


def test_a_judge_that_turns_the_scale_round_lies_below_0_with_its_whole_interval():
    against = correlation(-WITH, PEOPLE, clusters=QUERIES)

    assert against.interval.high < 0
    assert against.value == pytest.approx(-correlation(WITH, PEOPLE, clusters=QUERIES).value)


def test_noise_is_not_taken_for_an_order():
    interval = correlation(RANDOM.normal(size=300), PEOPLE, clusters=QUERIES).interval

    assert interval.low < 0 < interval.high


def test_a_weight_of_two_is_the_pair_twice_and_a_missing_value_leaves_the_pair_out():
    weighted = correlation(
        [1, 2, 4, None, 9], [1, 3, 2, 7, None], clusters=[0, 1, 2, 3, 4], sample_weight=[1, 2, 1, 5, 5]
    )

    assert weighted.value == pytest.approx(np.corrcoef([1, 2, 2, 4], [1, 3, 3, 2])[0, 1])


def test_without_a_pair_or_without_variation_it_says_why():
    assert correlation([1, None], [None, 2], clusters=[0, 1]).reason == "no pair was graded by both"
    constant = correlation([1, 1, 1], [0, 1, 2], clusters=[0, 1, 2])
    assert isnan(constant.value)
    assert constant.reason == "one of the two gave the same value to every pair"


def test_one_query_has_a_value_without_an_interval():
    one = correlation([1, 2, 3], [1, 3, 2], clusters=[7, 7, 7])

    assert one.value == pytest.approx(0.5)
    assert one.interval.reason == "only one query"


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same pairs"):
        correlation([1, 2], [1], clusters=[0, 1])
