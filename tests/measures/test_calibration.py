from math import isnan

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics

from judging.measures.calibration import calibrate

_ = None
RANDOM = np.random.default_rng(2)
QUERIES = np.arange(3_000) // 30
SAID = RANDOM.beta(0.5, 0.8, 3_000)
TRUE = (RANDOM.random(3_000) < SAID).astype(float)
OVERCONFIDENT = np.clip(SAID + 0.15, 0, 1)


def test_bins_by_hand():
    said = calibrate([0.0, 0.1, 0.5, 0.6, 1.0, 0.9], [0, 1, 1, 0, 1, 1], bins=2)

    assert [(b.low, b.high, b.pairs) for b in said.bins] == [(0, 0.5, 3), (0.5, 1, 3)]
    assert [b.mean_probability for b in said.bins] == pytest.approx([0.2, 2.5 / 3])
    assert [b.relevant.value for b in said.bins] == pytest.approx([2 / 3, 2 / 3])
    assert said.expected_error.value == pytest.approx(0.5 * (2 / 3 - 0.2) + 0.5 * (2.5 / 3 - 2 / 3))
    assert said.brier.value == pytest.approx((0 + 0.81 + 0.25 + 0.36 + 0 + 0.01) / 6)
    assert said.bias.value == pytest.approx((3.1 - 4) / 6)


def test_a_probability_on_the_edge_belongs_to_the_bin_below():
    pairs = [b.pairs for b in calibrate(np.arange(1, 101) / 100, np.ones(100), bins=100).bins]

    assert pairs == [1] * 100


def test_the_brier_score_and_the_bins_are_those_of_scikit_learn():
    weight = RANDOM.uniform(1, 5, 3_000)
    shares, means = sklearn.calibration.calibration_curve(TRUE, SAID, n_bins=10)
    judged = calibrate(SAID, TRUE)

    assert judged.brier.value == pytest.approx(sklearn.metrics.brier_score_loss(TRUE, SAID))
    assert calibrate(SAID, TRUE, sample_weight=weight).brier.value == pytest.approx(
        sklearn.metrics.brier_score_loss(TRUE, SAID, sample_weight=weight)
    )
    assert [b.relevant.value for b in judged.bins] == pytest.approx(shares)
    assert [b.mean_probability for b in judged.bins] == pytest.approx(means)


def test_probabilities_that_mean_what_they_say_have_a_small_error_and_overconfident_ones_their_bias():
    honest, claiming = (calibrate(said, TRUE, clusters=QUERIES) for said in (SAID, OVERCONFIDENT))

    assert honest.expected_error.value < 0.03
    assert honest.bias.interval.low < 0 < honest.bias.interval.high
    assert claiming.expected_error.value == pytest.approx(OVERCONFIDENT.mean() - SAID.mean(), abs=0.03)
    assert claiming.bias.interval.low > 0.05
    assert claiming.brier.value > honest.brier.value


def test_an_llm_that_knows_nothing_is_no_better_than_a_constant():
    judged = calibrate(np.random.default_rng(0).permutation(SAID), TRUE)

    assert judged.brier.value > judged.brier_constant == pytest.approx(TRUE.mean() * (1 - TRUE.mean()))


def test_a_weight_of_two_is_the_pair_twice():
    said, true, weight = [0.1, 0.3, 0.35, 0.9], [0, 1, 0, 1], [1, 2, 3, 1]
    weighted = calibrate(said, true, sample_weight=weight)
    twice = calibrate(np.repeat(said, weight), np.repeat(true, weight))

    assert weighted.weighted
    assert weighted.pairs == 4
    for name in ("expected_error", "brier", "bias"):
        assert getattr(weighted, name).value == pytest.approx(getattr(twice, name).value)
    assert [b.relevant.value for b in weighted.bins] == pytest.approx(
        [b.relevant.value for b in twice.bins], nan_ok=True
    )


def test_every_bin_has_its_interval_clustered_by_query():
    judged = calibrate(SAID, TRUE, clusters=QUERIES)

    assert all(b.relevant.interval.low < b.relevant.value < b.relevant.interval.high for b in judged.bins)
    assert judged.brier.interval.low < judged.brier.value < judged.brier.interval.high


def test_pairs_with_one_side_only_are_counted_beside():
    judged = calibrate([0.2, _, 0.9, _], [0, 1, _, _], clusters=[1, 1, 2, 2])

    assert (judged.pairs, judged.no_probability, judged.no_answer) == (1, 1, 1)
    assert judged.brier.value == pytest.approx(0.04)
    assert judged.brier.interval.reason == "only one query"


def test_an_empty_bin_is_undefined_and_says_so():
    empty = calibrate([0.9], [1], bins=2, clusters=["q"]).bins[0]

    assert (empty.pairs, isnan(empty.mean_probability), isnan(empty.relevant.value)) == (0, True, True)
    assert empty.relevant.reason == empty.relevant.interval.reason == "no pair has such a probability"


@pytest.mark.parametrize(("said", "true"), [([], []), ([0.5, _], [_, 1])])
def test_without_a_pair_nothing_is_defined(said, true):
    judged = calibrate(said, true, clusters=[1] * len(said))

    for estimate in (judged.expected_error, judged.brier, judged.bias):
        assert isnan(estimate.value)
        assert estimate.reason == "no pair has a probability and an answer by people"
    assert isnan(judged.brier_constant)


def test_one_class_has_scores_but_a_constant_would_have_been_perfect():
    judged = calibrate([0.2, 0.4], [0, 0], clusters=[1, 2])

    assert judged.brier.value == pytest.approx(0.1)
    assert judged.brier_constant == 0
    assert judged.bins[1].relevant.interval.reason == "only one query"


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (([1.2], [1]), "between 0 and 1"),
        (([0.5], [2]), "1 .relevant., 0 or nan"),
        (([0.5, 0.1], [1]), "found 2 and 1"),
    ],
)
def test_what_is_no_probability_or_no_answer_is_refused(wrong, problem):
    with pytest.raises(ValueError, match=problem):
        calibrate(*wrong)
    with pytest.raises(ValueError, match="at least 1 bin"):
        calibrate([0.5], [1], bins=0)
