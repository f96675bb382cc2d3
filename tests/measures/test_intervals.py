from math import isnan

import numpy as np
import pytest

from judging.measures.intervals import cluster_bootstrap, mean_interval, percentile_interval, share_interval
from judging.measures.resampling import resampled_totals

VALUES = np.random.default_rng(5).beta(2, 3, 50)


def test_resampled_totals_are_totals_of_as_many_clusters_drawn_with_replacement():
    totals = resampled_totals(np.eye(6), resamples=2000)

    assert totals.shape == (2000, 6)
    assert (totals.sum(axis=1) == 6).all()
    assert totals.mean(axis=0) == pytest.approx(np.ones(6), abs=0.1)
    assert totals.var(axis=0) == pytest.approx(np.full(6, 5 / 6), abs=0.1)


def test_the_shape_of_the_statistics_is_kept():
    assert resampled_totals(np.ones((7, 4, 4)), resamples=10).shape == (10, 4, 4)


def test_drawing_in_portions_loses_no_resample():
    assert resampled_totals(np.ones((9_000, 1)), resamples=1_001).tolist() == [[9_000]] * 1_001


def test_the_mean_has_about_the_interval_of_the_normal_approximation():
    margin = 1.96 * VALUES.std() / np.sqrt(50)

    assert mean_interval(VALUES)[:2] == pytest.approx((VALUES.mean() - margin, VALUES.mean() + margin), abs=0.01)


def test_the_interval_of_the_mean_is_the_same_at_each_call():
    assert mean_interval(VALUES) == mean_interval(VALUES) != mean_interval(VALUES, seed=1)


def test_ninety_five_of_a_hundred_intervals_hold_the_true_mean():
    random = np.random.default_rng(0)
    intervals = [mean_interval(random.beta(2, 3, 60), seed=i) for i in range(400)]

    assert np.mean([i.low <= 0.4 <= i.high for i in intervals]) == pytest.approx(0.95, abs=0.03)


def test_queries_without_a_value_are_left_out():
    assert mean_interval([0.1, np.nan, 0.5, 0.9]) == mean_interval([0.1, 0.5, 0.9])


@pytest.mark.parametrize(
    ("values", "reason"), [([0.5], "only one query"), ([], "no query has a value"), ([np.nan], "no query has a value")]
)
def test_the_interval_of_the_mean_is_undefined_with_fewer_than_two_queries(values, reason):
    interval = mean_interval(values)

    assert isnan(interval.low)
    assert isnan(interval.high)
    assert interval.reason == reason


def test_a_few_resamples_without_a_value_are_left_out_and_counted():
    resampled = np.append(np.linspace(0, 1, 1001), [np.nan] * 20)

    assert percentile_interval(resampled) == pytest.approx((0.025, 0.975, "", 20), abs=1e-9)


def test_many_resamples_without_a_value_leave_the_interval_undefined():
    interval = percentile_interval(np.append(np.ones(90), [np.nan] * 10))

    assert isnan(interval.low)
    assert interval.reason == "without a value in 10 of 100 resamples"


def test_any_statistic_of_additive_parts_can_be_resampled():
    parts = np.stack([VALUES, np.ones(50)], axis=1)

    assert cluster_bootstrap(parts, lambda totals: totals[:, 0] / totals[:, 1]) == pytest.approx(mean_interval(VALUES))


@pytest.mark.parametrize(("clusters", "reason"), [(0, "no pair was graded by both"), (1, "only one query")])
def test_fewer_than_two_clusters_have_no_interval(clusters, reason):
    assert cluster_bootstrap(np.ones((clusters, 2, 2)), lambda stack: stack[:, 0, 0]).reason == reason


def test_a_share_is_weighted_by_the_inverse_inclusion_probability():
    estimate = share_interval([1, 0, 1, None], ["a", "a", "b", "b"], sample_weight=[2, 1, 1, 9])

    assert estimate.value == pytest.approx(3 / 4)
    assert estimate.interval[:2] == pytest.approx((2 / 3, 1))


def test_the_interval_of_a_share_is_wider_where_the_pairs_of_a_query_are_alike():
    successes = np.repeat([0, 1, 1, 0, 1, 1, 0, 1, 1, 1], 20)
    clustered = share_interval(successes, np.repeat(np.arange(10), 20))
    plain = share_interval(successes, np.arange(200))

    assert clustered.value == plain.value == 0.7
    assert clustered.interval.high - clustered.interval.low > 3 * (plain.interval.high - plain.interval.low)


def test_the_study_in_numbers():
    """288 of 500 pairs of 100 queries, 57.6 %, spread evenly: the interval is about that of a binomial share."""
    successes = np.random.default_rng(2).permutation(np.repeat([1, 0], [288, 212]))
    estimate = share_interval(successes, np.repeat(np.arange(100), 5))

    assert estimate.value == 0.576
    assert estimate.interval[:2] == pytest.approx((0.533, 0.619), abs=0.01)


def test_a_share_of_all_or_none_has_no_interval():
    for value in (0, 1):
        estimate = share_interval([value] * 4, [1, 1, 2, 2])
        assert estimate.value == value
        assert isnan(estimate.interval.low)
        assert estimate.interval.reason.startswith("the same in every resample")


def test_a_share_of_no_answers_is_undefined():
    estimate = share_interval([None, None], [1, 2])

    assert isnan(estimate.value)
    assert isnan(estimate.interval.low)
    assert estimate.reason == estimate.interval.reason == "no pair has an answer"


def test_a_share_takes_yes_and_no_only():
    with pytest.raises(ValueError, match="1, 0 or nan"):
        share_interval([0, 2], [1, 1])


def test_a_share_of_pairs_of_weight_0_is_undefined_and_one_of_them_counts_for_nothing():
    nothing = share_interval([1, 0, 1], [1, 2, 3], sample_weight=[0, 0, 0])
    with_one, without = (
        share_interval([1, 0, 1, 1][:n], [1, 2, 3, 4][:n], sample_weight=[1, 2, 3, 0][:n]) for n in (4, 3)
    )

    assert (isnan(nothing.value), nothing.reason) == (True, "every pair with an answer has weight 0")
    assert with_one == without
