from math import inf, isnan

import numpy as np
import pytest
import statsmodels.api

from judging.measures.estimation import join
from judging.measures.ranking import evaluate
from judging.measures.student import t_quantile

_ = np.nan
RANDOM = np.random.default_rng(3)
TRUTH = RANDOM.beta(2, 2, 53)
LLM = np.clip(TRUTH + RANDOM.normal(0.1, 0.05, 53), 0, 1)
JUDGED = np.where(RANDOM.permutation(53) < 15, TRUTH, _)


def test_the_joined_mean_is_that_of_the_llm_plus_the_mean_correction_where_people_judged():
    joined = join([0.5, _, 0.7, _], [0.6, 0.8, 0.9, 0.5])

    assert (joined.queries, joined.judged, joined.population) == (4, 2, 4)
    assert joined.llm.value == pytest.approx(0.7)
    assert joined.correction == pytest.approx(-0.15)
    assert joined.joined.value == pytest.approx(0.55)
    assert joined.people.value == pytest.approx(0.6)


def test_the_intervals_by_hand():
    """Corrections −.1 and −.2: variance .005, two of four queries: (1/2 − 1/4) · .005; t of one degree is 12.706."""
    joined = join([0.5, _, 0.7, _], [0.6, 0.8, 0.9, 0.5])
    margin = t_quantile(1) * np.sqrt(0.25 * 0.005)
    of_people = t_quantile(1) * np.sqrt(0.25 * 0.02)

    assert joined.joined.interval[:2] == pytest.approx((0.55 - margin, 0.55 + margin))
    assert joined.people.interval[:2] == pytest.approx((0.6 - of_people, 0.6 + of_people))


def test_a_larger_population_widens_by_what_the_queries_at_hand_differ():
    at_hand, like_these = join(JUDGED, LLM), join(JUDGED, LLM, population=inf)
    judged = JUDGED[~np.isnan(JUDGED)]

    def variance(estimate):
        return ((estimate.interval.high - estimate.value) / t_quantile(14)) ** 2

    assert variance(like_these.joined) - variance(at_hand.joined) == pytest.approx(judged.var(ddof=1) / 53)
    assert variance(like_these.people) == pytest.approx(judged.var(ddof=1) / 15)
    assert like_these.joined.value == at_hand.joined.value


def test_a_tuning_of_0_ignores_the_llm():
    joined = join(JUDGED, LLM, tuning=0.0)

    assert joined.joined == joined.people
    assert joined.gain.says == "The LLM adds nothing: people alone give as narrow an interval."


def test_the_fitted_tuning_is_the_regression_estimator_of_statsmodels():
    both = ~np.isnan(JUDGED)
    line = statsmodels.api.OLS(JUDGED[both], statsmodels.api.add_constant(LLM[both])).fit()
    predicted = line.get_prediction([1, LLM.mean()])

    joined = join(JUDGED, LLM, tuning="fitted", population=inf)

    assert joined.tuning == pytest.approx(line.params[1])
    assert joined.joined.value == pytest.approx(predicted.predicted[0])
    # of the mean of the 53 queries at hand: the same prediction less the share of its error that is no sampling
    at_hand = join(JUDGED, LLM, tuning="fitted").joined
    margin = t_quantile(13) * np.sqrt(predicted.se[0] ** 2 - line.mse_resid / 53)
    assert at_hand.interval[:2] == pytest.approx((at_hand.value - margin, at_hand.value + margin))


def test_a_strong_judge_gains_and_the_gain_is_stated():
    gain = join(JUDGED, LLM).gain

    assert gain.width_ratio > 2
    assert gain.effective_queries > 30
    assert gain.says.startswith("The LLM makes the interval ")
    assert f"15 queries judged by people tell as much as {gain.effective_queries:.0f} would" in gain.says


def test_the_effective_number_of_queries_is_the_one_whose_people_only_variance_is_as_small():
    joined = join(JUDGED, LLM)
    spread = JUDGED[~np.isnan(JUDGED)].var(ddof=1)
    margin = joined.joined.interval.high - joined.joined.value

    as_if = (1 / joined.gain.effective_queries - 1 / 53) * spread
    assert t_quantile(14) * np.sqrt(as_if) == pytest.approx(margin)


def test_a_judge_that_knows_nothing_does_harm_and_that_is_stated_too():
    gain = join(JUDGED, np.random.default_rng(0).permutation(LLM)).gain

    assert gain.width_ratio < 1
    assert gain.effective_queries < 15
    assert gain.says.startswith("The LLM does harm")


def test_queries_without_a_value_by_the_llm_are_left_out_and_counted():
    joined = join([0.5, 0.4, 0.7, _, _], [0.6, _, 0.9, 0.5, _])

    assert (joined.queries, joined.judged, joined.left_out) == (3, 2, 1)
    assert joined.people.value == pytest.approx(0.6)


def test_once_people_have_judged_every_query_nothing_is_estimated():
    joined = join(TRUTH, LLM)

    assert joined.joined.value == joined.people.value == pytest.approx(TRUTH.mean())
    assert joined.joined.interval.reason == "people judged every query: the value is known, not estimated"
    assert isnan(joined.gain.width_ratio)
    assert join(TRUTH, LLM, population=inf).people.interval.reason == ""


def test_without_a_query_judged_by_people_the_llm_stands_alone():
    joined = join([_, _, _], [0.1, 0.2, 0.4])

    assert isnan(joined.joined.value)
    assert joined.joined.reason == joined.people.reason == "no query has a value by people and by the LLM"
    assert joined.llm.value == pytest.approx(0.7 / 3)
    assert joined.gain.says == "Without a query judged by people nothing can be said of the gain."


def test_without_any_query_nothing_is_defined():
    joined = join([], [])

    assert isnan(joined.llm.value)
    assert joined.llm.reason == "no query has a value by the LLM"


def test_one_judged_query_gives_values_but_no_interval():
    joined = join([0.5, _, _], [0.6, 0.7, 0.8])

    assert joined.joined.value == pytest.approx(0.6)
    assert joined.joined.interval.reason == "too few queries judged by both to see how they vary"
    assert joined.people.interval.reason == "too few queries judged by people to see how they vary"
    assert joined.gain.says.startswith("The gain cannot be told")


def test_two_judged_queries_are_too_few_to_fit_the_tuning():
    joined = join([0.5, 0.9, _], [0.6, 0.7, 0.8], tuning="fitted")

    assert joined.joined.interval.reason.startswith("too few queries")
    assert joined.people.interval.reason == ""


def test_an_llm_that_gives_every_query_the_same_value_has_a_fitted_tuning_of_0():
    joined = join(JUDGED, np.full(53, 0.5), tuning="fitted")

    assert joined.tuning == 0
    assert joined.joined.value == joined.people.value


def test_where_the_correction_is_the_same_everywhere_no_certainty_is_claimed():
    reason = join(JUDGED, TRUTH).joined.interval.reason
    assert reason == "the LLM is off by the same on every query: the queries judged by both show no variation"


def test_the_values_may_come_from_a_ranking_measure():
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}, "q3": {"a": 1, "b": 1}}
    llm = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1, "b": 1}}
    run = {query: ["a", "b"] for query in qrels}

    by_people, by_llm = (evaluate(judged, run, ["P@1"]).values["P@1"] for judged in (qrels, llm))
    joined = join([by_people[0], by_people[1], _], by_llm)

    assert joined.joined.value == 0.5


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"people": [1.0], "llm": [1.0, 2.0]}, "same queries"),
        ({"people": [1.0, _], "llm": [1.0, 2.0], "population": 1}, "population holds the 2 queries"),
        ({"people": [1.0, _], "llm": [1.0, 2.0], "population": _}, "population holds the 2 queries"),
        ({"people": [1.0, 0.0], "llm": [1.0, 2.0], "tuning": _}, "tuning is a number"),
    ],
)
def test_what_cannot_be_joined_is_refused(wrong, problem):
    with pytest.raises(ValueError, match=problem):
        join(**wrong)
