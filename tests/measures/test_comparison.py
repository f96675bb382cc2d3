from itertools import product
from math import isnan

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from judging.measures.comparison import holm, kendall_tau, paired_difference
from judging.measures.intervals import mean_interval

RANDOM = np.random.default_rng(4)
FIRST = RANDOM.beta(2, 3, 40)
BETTER = np.clip(FIRST + RANDOM.normal(0.08, 0.1, 40), 0, 1)


def test_the_difference_is_the_first_run_minus_the_second_on_the_same_queries():
    compared = paired_difference(BETTER, FIRST)

    assert compared.value == pytest.approx((BETTER - FIRST).mean())
    assert compared.interval == mean_interval(BETTER - FIRST)
    assert (compared.queries, compared.left_out) == (40, 0)
    assert compared.interval.low > 0
    assert compared.p < 0.001


def test_two_overlapping_intervals_can_still_differ_as_pairs():
    assert mean_interval(BETTER).low < mean_interval(FIRST).high
    assert paired_difference(BETTER, FIRST).p < 0.05


def test_p_is_that_of_the_exact_test_over_all_signs():
    difference = np.array([0.3, -0.1, 0.2, 0.05, 0.4, -0.02, 0.1, 0.15])
    sums = [abs(np.dot(signs, difference)) for signs in product((-1, 1), repeat=8)]
    exact = np.mean([total >= abs(difference.sum()) - 1e-12 for total in sums])

    assert paired_difference(difference, np.zeros(8), randomisations=50_000).p == pytest.approx(exact, abs=0.004)


def test_p_is_about_that_of_scipy():
    expected = scipy.stats.permutation_test(
        (FIRST, BETTER), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=9999, rng=1
    )
    noisy = paired_difference(FIRST, BETTER)

    assert noisy.p == pytest.approx(expected.pvalue, abs=0.002)


def test_p_counts_the_observed_order_too_and_is_never_0():
    assert paired_difference(np.full(60, 0.5), np.zeros(60), randomisations=999).p == 1 / 1000


def test_runs_that_do_not_differ_have_a_p_of_1():
    compared = paired_difference(FIRST, FIRST)

    assert (compared.value, compared.p) == (0, 1)
    assert compared.interval[:2] == (0, 0)


def test_under_the_null_hypothesis_p_is_below_a_twentieth_in_a_twentieth_of_cases():
    random = np.random.default_rng(0)
    ps = [paired_difference(*random.random((2, 30)), randomisations=999, seed=i).p for i in range(400)]

    assert np.mean(np.array(ps) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_swapping_the_runs_turns_the_difference_round():
    one, other = paired_difference(FIRST, BETTER), paired_difference(BETTER, FIRST)

    assert (one.value, one.p) == (-other.value, other.p)
    assert one.interval[:2] == pytest.approx((-other.interval.high, -other.interval.low))


def test_queries_without_a_value_on_either_side_are_left_out_and_counted():
    compared = paired_difference([0.5, np.nan, 0.25, 1.0], [0.25, 0.5, np.nan, 0.5])

    assert (compared.value, compared.queries, compared.left_out) == (0.375, 2, 2)


def test_one_query_has_a_difference_but_no_interval():
    compared = paired_difference([0.5], [0.25])

    assert (compared.value, compared.p) == (0.25, 1)
    assert compared.interval.reason == "only one query"


def test_no_query_has_nothing():
    compared = paired_difference([np.nan], [0.25])

    assert isnan(compared.value)
    assert isnan(compared.p)
    assert compared.interval.reason == "no query has a value"


def test_runs_over_different_queries_are_refused():
    with pytest.raises(ValueError, match="same queries"):
        paired_difference([0.1, 0.2], [0.1])


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_is_that_of_statsmodels():
    p = RANDOM.random(28) ** 3

    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_leaves_out_what_is_undefined():
    assert holm([0.02, np.nan, 0.5]) == pytest.approx([0.04, np.nan, 0.5], nan_ok=True)
    assert holm([]).size == 0


def test_kendalls_tau_by_hand():
    assert kendall_tau([1, 2, 3, 4], [1, 2, 3, 4]) == 1
    assert kendall_tau([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    assert kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)


def test_kendalls_tau_is_the_tau_b_of_scipy_with_ties():
    a, b = RANDOM.integers(0, 6, (2, 30))

    assert kendall_tau(a, b) == pytest.approx(scipy.stats.kendalltau(a, b, variant="b").statistic)


@pytest.mark.parametrize("scores", [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, np.nan], [1, 2])])
def test_kendalls_tau_is_undefined_without_two_orders(scores):
    assert isnan(kendall_tau(*scores))
