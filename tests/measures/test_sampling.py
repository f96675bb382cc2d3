from collections import Counter
from math import isnan

import numpy as np
import pytest

from judging.errors import UserError
from judging.measures.agreement import cohen_kappa
from judging.measures.intervals import share_interval
from judging.measures.sampling import (
    at_rates,
    draw,
    effective_size,
    hajek,
    horvitz_thompson,
    inverse_probability,
    neyman,
    uncertainty,
    uncertainty_strata,
)

_ = None
RANDOM = np.random.default_rng(0)
QUERIES = np.repeat(np.arange(100), 20)
PROBABILITY = RANDOM.beta(0.4, 0.6, 2_000)  # of "relevant", by the LLM: it is mostly sure
PEOPLE = (RANDOM.random(2_000) < PROBABILITY).astype(float)
LLM = (PROBABILITY >= 0.5).astype(float)
STRATA = uncertainty_strata(uncertainty(np.stack([1 - PROBABILITY, PROBABILITY], axis=1)))
UNSURE_FIRST = {"uncertainty-2": 30, "uncertainty-3": 120}


def test_uncertainty_is_0_where_the_llm_is_sure_and_1_where_all_grades_are_alike():
    values = uncertainty([[1, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0], [0.9, 0.1, 0, 0], [np.nan] * 4, [0] * 4])

    assert values[:3] == pytest.approx([0, 1, 0.5])
    assert 0 < values[3] < 0.5
    assert np.isnan(values[4:]).all()


def test_uncertainty_reads_proportions_only():
    assert uncertainty([[0.2, 0.3]]) == pytest.approx(uncertainty([[0.4, 0.6]]))


def test_strata_of_uncertainty_are_of_equal_size_and_pairs_without_a_label_have_their_own():
    strata = uncertainty_strata([0.1, 0.9, 0.5, np.nan, 0.2, 0.6, 0.8])

    assert strata == (
        *("uncertainty-1", "uncertainty-3", "uncertainty-2", "no-label"),
        *("uncertainty-1", "uncertainty-2", "uncertainty-3"),
    )


def test_pairs_of_the_same_uncertainty_are_never_parted():
    assert set(uncertainty_strata([0.3] * 10)) == {"uncertainty-1"}


def test_no_pair_has_no_stratum():
    assert uncertainty_strata([]) == ()


def test_a_draw_holds_as_many_pairs_as_wanted_each_once_and_says_what_it_was_drawn_for():
    drawn = draw(STRATA, random=50, by_stratum=UNSURE_FIRST)

    assert len(set(drawn.chosen.tolist())) == drawn.chosen.size == 200
    assert (np.diff(drawn.chosen) > 0).all()
    assert Counter(drawn.strata) == {"random": 50, **UNSURE_FIRST}
    assert all(name in ("random", STRATA[pair]) for pair, name in zip(drawn.chosen, drawn.strata, strict=True))


def test_the_same_seed_draws_the_same_pairs_and_another_seed_others():
    first, again, other = (draw(STRATA, random=50, by_stratum=UNSURE_FIRST, seed=s).chosen.tolist() for s in (1, 1, 2))

    assert first == again != other


def test_a_draw_does_not_depend_on_the_order_in_which_strata_are_given():
    turned = dict(reversed(UNSURE_FIRST.items()))

    assert draw(STRATA, random=9, by_stratum=turned).chosen.tolist() == (
        draw(STRATA, random=9, by_stratum=UNSURE_FIRST).chosen.tolist()
    )


def test_the_inclusion_probabilities_are_how_often_a_pair_is_drawn():
    """Given how many of a stratum are among the random ones, so on average over draws."""
    strata, drawn, probability = ["a"] * 10 + ["b"] * 30 + ["c"] * 20, np.zeros(60), np.zeros(60)
    for seed in range(4_000):
        one = draw(strata, random=12, by_stratum={"a": 4, "b": 6}, seed=seed)
        drawn[one.chosen] += 1 / 4_000
        probability[one.chosen] += one.weights / 4_000

    assert drawn[40:] == pytest.approx(np.full(20, 12 / 60), abs=0.025)
    assert drawn[:10] == pytest.approx(np.full(10, (12 / 60 * 10 + 4) / 10), abs=0.025)
    assert probability == pytest.approx(np.ones(60), abs=0.13)


def test_a_random_draw_alone_has_one_probability_for_all():
    assert set(draw(STRATA, random=100).inclusion) == {0.05}


def test_a_draw_of_everything_is_certain():
    drawn = draw(["a", "b"], random=2)

    assert drawn.inclusion.tolist() == [1, 1]
    assert draw(["a", "b"], random=0, by_stratum={"a": 1, "b": 1}).inclusion.tolist() == [1, 1]


def test_whole_queries_are_drawn_first_and_multiply_the_probability():
    drawn = draw(STRATA, random=40, by_stratum={"uncertainty-3": 30}, queries=QUERIES, whole_queries=25)
    queries = set(QUERIES[drawn.chosen].tolist())
    inside = np.isin(QUERIES, list(queries))

    assert len(queries) <= 25
    assert drawn.inclusion[np.array(STRATA)[drawn.chosen] != "uncertainty-3"] == pytest.approx(0.25 * 40 / 500)
    assert drawn.inclusion.max() < 0.25
    assert inside.sum() == 20 * len(queries)


def test_of_a_stratum_rare_among_the_drawn_queries_all_there_are_is_taken():
    strata, queries = ["rare", "rare", *["common"] * 8], np.repeat(np.arange(5), 2)
    draws = [
        draw(strata, random=2, by_stratum={"rare": 2}, queries=queries, whole_queries=2, seed=seed)
        for seed in range(20)
    ]
    without = [drawn for drawn in draws if "rare" not in {strata[pair] for pair in drawn.chosen}]

    assert 0 < len(without) < 20
    assert all(drawn.chosen.size == 2 for drawn in without)
    assert all({0, 1} <= set(drawn.chosen.tolist()) for drawn in draws if 0 in drawn.chosen)


def test_all_pairs_of_whole_queries_have_the_probability_of_their_query():
    drawn = draw(STRATA, random=500, queries=QUERIES, whole_queries=25)

    assert set(Counter(QUERIES[drawn.chosen].tolist()).values()) == {20}
    assert set(drawn.inclusion) == {0.25}


@pytest.mark.parametrize("queries", [None, 40])
def test_the_naive_kappa_and_share_of_a_sample_by_uncertainty_are_biased_and_the_weighted_ones_are_not(queries):
    naive, weighted = [], []
    for seed in range(300):
        drawn = draw(STRATA, random=60, by_stratum=UNSURE_FIRST, queries=QUERIES, whole_queries=queries, seed=seed)
        people, llm = PEOPLE[drawn.chosen], LLM[drawn.chosen]
        naive.append((cohen_kappa(people, llm), people.mean()))
        weighted.append((cohen_kappa(people, llm, sample_weight=drawn.weights), hajek(people, drawn.inclusion)))
    kappa, share = cohen_kappa(PEOPLE, LLM), PEOPLE.mean()

    assert np.mean(naive, axis=0)[0] < kappa - 0.15
    assert np.mean(naive, axis=0)[1] > share + 0.05
    assert np.mean(weighted, axis=0) == pytest.approx([kappa, share], abs=0.015)


def test_the_horvitz_thompson_total_estimates_the_positives_of_the_pool():
    totals = []
    for seed in range(300):
        drawn = draw(STRATA, random=60, by_stratum=UNSURE_FIRST, seed=seed)
        totals.append(horvitz_thompson(PEOPLE[drawn.chosen], drawn.inclusion))

    assert np.mean(totals) == pytest.approx(PEOPLE.sum(), rel=0.02)
    assert horvitz_thompson(PEOPLE, np.ones(2_000)) == PEOPLE.sum()


def test_the_weighted_mean_is_that_of_the_share_with_its_interval():
    drawn = draw(STRATA, random=60, by_stratum=UNSURE_FIRST)
    share = share_interval(PEOPLE[drawn.chosen], QUERIES[drawn.chosen], sample_weight=drawn.weights)

    assert hajek(PEOPLE[drawn.chosen], drawn.inclusion) == pytest.approx(share.value)


def test_pairs_without_an_answer_do_not_count_in_the_mean():
    assert hajek([1, _, 0], [0.5, 0.1, 1]) == pytest.approx(2 / 3)
    assert isnan(hajek([_], [0.5]))
    assert isnan(hajek([], []))


def test_uneven_weights_make_a_sample_tell_less():
    assert effective_size([2, 2, 2]) == 3
    assert effective_size([9, 1]) == pytest.approx(100 / 82)
    assert isnan(effective_size([]))


def test_labels_are_shared_out_by_size_and_by_what_the_llm_is_unsure_of():
    """Of strata as large, p = .5 and p = .1 have standard deviations .5 and .3."""
    strata = ["sure"] * 100 + ["unsure"] * 100

    assert neyman(strata, [0.1] * 100 + [0.5] * 100, 80) == {"sure": 30, "unsure": 50}


def test_every_stratum_gets_a_label_and_none_more_than_it_has_pairs():
    strata = ["certain"] * 50 + ["few"] * 3 + ["many"] * 50

    assert neyman(strata, [0.0] * 50 + [0.5] * 3 + [np.nan] * 50, 40) == {"certain": 1, "few": 2, "many": 37}
    assert neyman(strata, [0.0] * 50 + [0.5] * 53, 103) == {"certain": 50, "few": 3, "many": 50}


def test_a_stratum_that_mixes_the_surely_relevant_with_the_surely_irrelevant_counts_as_uncertain():
    assert neyman(["mixed"] * 100 + ["low"] * 100, [0.0, 1.0] * 50 + [0.1] * 100, 80) == {"low": 30, "mixed": 50}


def test_neymans_allocation_has_a_narrower_share_than_an_even_one():
    narrow, even = [], []
    strata = uncertainty_strata(PROBABILITY)  # here by the probability itself
    wanted = neyman(strata, PROBABILITY, 150)
    for seed in range(300):
        for kept, numbers in ((narrow, wanted), (even, dict.fromkeys(wanted, 50))):
            drawn = draw(strata, random=0, by_stratum=numbers, seed=seed)
            kept.append(hajek(PEOPLE[drawn.chosen], drawn.inclusion))

    assert np.std(narrow) < 0.95 * np.std(even)


def test_rates_become_numbers_of_pairs():
    strata = ["a"] * 10 + ["b"] * 30

    assert at_rates(strata, {"a": 0.5, "b": 0.01}) == {"a": 5, "b": 1}
    assert at_rates(strata, {"a": 0, "c": 1}) == {"c": 0}


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"random": 3}, "between 0 and 2 pairs to draw at random, found 3"),
        ({"random": -1}, "between 0 and 2 pairs"),
        ({"random": 1, "by_stratum": {"c": 1}}, "no stratum 'c'; there are a, b"),
        ({"random": 1, "by_stratum": {"a": 2}}, "between 0 and 1 pairs to draw for a, found 2"),
        ({"random": 0, "by_stratum": {"a": 1}}, "No pair of b could be drawn"),
        ({"random": 0}, "No pair of a, b could be drawn"),
        ({"random": 1, "queries": ["q", "q"], "whole_queries": 2}, "between 1 and 1 queries"),
        ({"random": 2, "queries": ["q", "r"], "whole_queries": 1}, "Only 1 pairs are there"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_could(wrong, problem):
    with pytest.raises(UserError, match=problem):
        draw(["a", "b"], **wrong)


def test_whole_queries_need_the_query_of_each_pair():
    with pytest.raises(ValueError, match="query of each pair"):
        draw(["a"], random=1, whole_queries=1)
    with pytest.raises(ValueError, match="Expected 1 queries"):
        draw(["a"], random=1, queries=["q", "r"], whole_queries=1)


def test_the_name_of_the_random_draw_is_no_stratum():
    with pytest.raises(ValueError, match="no stratum can have that name"):
        draw(["random"], random=1)


def test_no_pair_gives_an_empty_draw():
    assert draw([], random=0).chosen.size == 0


@pytest.mark.parametrize("inclusion", [[0.0], [1.5], [-0.1], [np.nan]])
def test_what_could_not_be_drawn_has_no_weight(inclusion):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        inverse_probability(inclusion)


def test_more_labels_than_pairs_and_fewer_than_strata_cannot_be_shared_out():
    for labels in (1, 4):
        with pytest.raises(UserError, match="2 strata and at most one for each of the 3 pairs"):
            neyman(["a", "b", "b"], [0.5] * 3, labels)


def test_rates_and_parts_out_of_range_are_refused():
    with pytest.raises(UserError, match=r"found a 1\.5"):
        at_rates(["a"], {"a": 1.5})
    with pytest.raises(UserError, match="at least 1 stratum"):
        uncertainty_strata([0.5], parts=0)
    with pytest.raises(ValueError, match="at least two grades"):
        uncertainty([0.5, 0.5])
    with pytest.raises(ValueError, match="not negative"):
        uncertainty([[1.5, -0.5]])
