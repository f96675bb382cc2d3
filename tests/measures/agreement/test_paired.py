from math import isnan

import numpy as np
import pytest

from judging.measures.agreement import cohen_kappa, paired, panel

SCALE = (0, 1, 2, 3)
RANDOM = np.random.default_rng(8)
QUERIES = np.repeat(np.arange(40), 25)
PEOPLE = RANDOM.choice(4, 1000, p=[0.5, 0.25, 0.15, 0.1]).astype(float)
HARD = RANDOM.random(40)[QUERIES]  # what a query costs every judge


def judge(skill, seed):
    random = np.random.default_rng(seed)
    return np.where(random.random(1000) < skill * (1 - 0.8 * HARD), PEOPLE, random.integers(0, 4, 1000))


BETTER, WORSE = judge(0.9, 1), judge(0.7, 2)


def test_a_difference_is_the_first_judges_coefficient_minus_the_seconds_on_the_whole_scale_and_on_every_binarisation():
    compared = paired(PEOPLE, BETTER, WORSE, grades=SCALE, relevant_from=2)
    better, worse = (panel(PEOPLE, side, grades=SCALE, relevant_from=2) for side in (BETTER, WORSE))

    assert list(compared.binary) == [2, 1, 3]
    for ours, first, second in [
        (compared.graded, better.graded, worse.graded),
        *((compared.binary[at], better.binary[at], worse.binary[at]) for at in SCALE[1:]),
    ]:
        assert list(ours) == list(first)
        for name, contrast in ours.items():
            assert (contrast.first, contrast.second) == pytest.approx((first[name].value, second[name].value))
            assert contrast.difference.value == pytest.approx(first[name].value - second[name].value)
            assert contrast.difference.interval is None


def test_both_judges_are_resampled_together():
    """The slow way: draw queries, put their pairs together, take both kappas on the same pairs."""
    random = np.random.default_rng(11)
    members = [np.flatnonzero(query == QUERIES) for query in range(40)]
    differences = []
    for _ in range(1000):
        drawn = np.concatenate([members[i] for i in random.integers(0, 40, 40)])
        differences.append(cohen_kappa(PEOPLE[drawn], BETTER[drawn]) - cohen_kappa(PEOPLE[drawn], WORSE[drawn]))

    contrast = paired(PEOPLE, BETTER, WORSE, grades=SCALE, clusters=QUERIES).graded["cohen_kappa"]

    assert contrast.difference.interval[:2] == pytest.approx(np.quantile(differences, [0.025, 0.975]), abs=0.008)


def test_two_judges_whose_intervals_overlap_can_still_differ():
    alone = [panel(PEOPLE, side, grades=SCALE, clusters=QUERIES).graded["cohen_kappa"] for side in (BETTER, WORSE)]
    contrast = paired(PEOPLE, BETTER, WORSE, grades=SCALE, clusters=QUERIES).graded["cohen_kappa"]

    assert alone[0].interval.low < alone[1].interval.high
    assert contrast.difference.interval.low > 0
    assert contrast.settled


def test_ninety_five_of_a_hundred_intervals_hold_0_where_two_judges_are_alike():
    random = np.random.default_rng(5)
    settled = []
    for seed in range(200):
        people = random.integers(0, 2, 300)
        sides = [np.where(random.random(300) < 0.6, people, random.integers(0, 2, 300)) for _ in range(2)]
        compared = paired(people, *sides, grades=(0, 1), clusters=np.arange(300) // 6, resamples=500, seed=seed)
        settled.append(compared.graded["cohen_kappa"].settled)

    assert np.mean(settled) == pytest.approx(0.05, abs=0.04)


def test_swapping_the_judges_turns_the_difference_round():
    one = paired(PEOPLE, BETTER, WORSE, grades=SCALE, clusters=QUERIES).graded["krippendorff_alpha"].difference
    other = paired(PEOPLE, WORSE, BETTER, grades=SCALE, clusters=QUERIES).graded["krippendorff_alpha"].difference

    assert one.value == pytest.approx(-other.value)
    assert one.interval[:2] == pytest.approx((-other.interval.high, -other.interval.low))


def test_only_pairs_that_all_three_graded_within_the_scale_count():
    compared = paired([0, 1, 1, 0, None, 1], [0, 1, 0, None, 1, 7], [0, 1, 1, 0, 1, 1], grades=(0, 1))

    assert (compared.pairs, compared.left_out) == (3, 2)
    assert compared.graded["raw_agreement"].first == pytest.approx(2 / 3)
    assert compared.graded["raw_agreement"].second == 1


def test_pairs_are_weighted_by_the_inverse_inclusion_probability():
    weight = np.random.default_rng(0).uniform(1, 5, 1000)
    compared = paired(PEOPLE, BETTER, WORSE, grades=SCALE, sample_weight=weight)

    assert compared.weighted
    assert compared.graded["cohen_kappa"].first == pytest.approx(cohen_kappa(PEOPLE, BETTER, sample_weight=weight))


def test_two_judges_who_gave_the_same_grades_have_a_difference_of_0_and_no_interval():
    difference = paired(PEOPLE, BETTER, BETTER, grades=SCALE, clusters=QUERIES).graded["cohen_kappa"].difference

    assert difference.value == 0
    assert difference.interval.reason == "the two judges gave the same grade to every pair"


def test_without_a_common_pair_every_difference_says_so():
    compared = paired([0, 1], [0, None], [None, 1], grades=(0, 1), clusters=["a", "b"])
    contrasts = [*compared.graded.values(), *compared.binary[1].values()]

    assert (compared.pairs, compared.queries, compared.left_out) == (0, 0, 2)
    reason = "no pair was graded by the reference and by both judges"
    assert {(c.difference.reason, c.difference.interval.reason) for c in contrasts} == {(reason, reason)}
    assert not any(c.settled for c in contrasts)


def test_one_query_has_differences_but_no_interval():
    difference = paired([0, 1, 1], [0, 1, 0], [0, 1, 1], grades=(0, 1), clusters=["q"] * 3).graded["cohen_kappa"]

    assert difference.difference.value == pytest.approx(-0.6)
    assert difference.difference.interval.reason == "only one query"


def test_a_coefficient_that_one_judge_lacks_has_no_difference_and_says_whose():
    compared = paired([0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 1], grades=(0, 1), clusters=[1, 1, 2, 2])
    precision = compared.binary[1]["precision"]

    assert isnan(precision.difference.value)
    assert precision.second == pytest.approx(2 / 3)
    assert precision.difference.reason == ("undefined for the first judge: the second judge called nothing relevant")


def test_judges_of_different_pairs_are_refused():
    with pytest.raises(ValueError, match="same pairs; found 2, 2 and 1"):
        paired([0, 1], [0, 1], [0], grades=(0, 1))


def test_two_runs_of_llmjudge_differ_by_kappa_and_cannot_be_told_apart_by_alpha(llmjudge):
    compared = paired(
        llmjudge.people,
        llmjudge.llm("willia-umbrela1"),
        llmjudge.llm("Olz-exp"),
        grades=SCALE,
        clusters=llmjudge.queries,
    )

    assert compared.graded["cohen_kappa"].settled
    assert not compared.graded["krippendorff_alpha"].settled
