from math import isnan

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from judging.measures.counts import mcnemar, wilson


@pytest.mark.parametrize(("successes", "of"), [(0, 10), (1, 10), (7, 19), (50, 50), (400, 1000)])
def test_wilsons_interval_is_that_of_statsmodels(successes, of):
    share = wilson(successes, of)

    assert share.value == successes / of
    assert (share.interval.low, share.interval.high) == pytest.approx(
        proportion_confint(successes, of, method="wilson"), abs=1e-12
    )


def test_nothing_counted_is_undefined():
    share = wilson(0, 0)

    assert isnan(share.value)
    assert share.reason == share.interval.reason == "nothing was counted"


def test_more_successes_than_were_counted_are_refused():
    with pytest.raises(ValueError, match="0 to 3"):
        wilson(4, 3)


@pytest.mark.parametrize(("first", "second"), [(8, 1), (1, 8), (3, 3), (0, 5), (600, 500)])
def test_mcnemars_p_is_that_of_the_exact_binomial_test(first, second):
    assert mcnemar(first, second) == pytest.approx(stats.binomtest(first, first + second).pvalue)


def test_where_nothing_differs_nothing_speaks_for_a_difference():
    assert mcnemar(0, 0) == 1
