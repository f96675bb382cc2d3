from math import isnan

import numpy as np
import pytest

from judging.measures.agreement import cohen_kappa, panel
from judging.measures.agreement.linearised import linearised
from judging.measures.agreement.pairs import pair_up
from judging.measures.intervals import share_interval
from judging.measures.planning import buy, expected_width, variation_of_coefficient, variation_of_share, width_now

SCALE = (0, 1, 2, 3)
_ = None


def pool(seed, *, queries, pairs, people=1, noise=0.0, spread=0.3):
    """Queries whose share relevant differs, pairs of them, and people who sometimes answer the other way round."""
    random = np.random.default_rng(seed)
    rate = np.clip(random.normal(0.5, spread, queries), 0.02, 0.98)
    clusters = np.repeat(np.arange(queries), pairs)
    truth = random.random(clusters.size) < rate[clusters]
    answers = [(truth ^ (random.random(truth.size) < noise)).astype(float) for _ in range(people)]
    return clusters, answers


def width(estimate):
    return estimate.interval.high - estimate.interval.low


def test_the_variance_is_parted_into_that_between_queries_and_that_within_them():
    clusters, [answers] = pool(0, queries=4_000, pairs=20)
    rate = np.clip(np.random.default_rng(1).normal(0.5, 0.3, 200_000), 0.02, 0.98)

    variation = variation_of_share(answers, clusters=clusters)

    assert variation.between == pytest.approx(rate.var(), rel=0.05)
    assert variation.within == pytest.approx((rate * (1 - rate)).mean(), rel=0.02)
    assert (variation.queries, variation.pairs, variation.labels, variation.unevenness) == (4_000, 20, 1, 1)
    assert isnan(variation.people)


def test_the_intra_cluster_correlation_is_1_where_a_query_has_one_answer_and_0_where_pairs_are_not_alike():
    alike = np.repeat(np.random.default_rng(0).integers(0, 2, 50), 4)
    unlike = np.random.default_rng(0).integers(0, 2, 40_000)

    assert variation_of_share(alike, clusters=np.repeat(np.arange(50), 4)).intra_cluster_correlation == 1
    assert variation_of_share(unlike, clusters=np.arange(40_000) // 4).intra_cluster_correlation == pytest.approx(
        0, abs=0.01
    )


def test_with_even_queries_the_expected_width_is_kishs_design_effect():
    clusters, [answers] = pool(2, queries=60, pairs=5)
    variation = variation_of_share(answers, clusters=clusters)
    total = variation.between + variation.within
    effect = 1 + (8 - 1) * variation.intra_cluster_correlation

    assert expected_width(variation, queries=50, pairs=8) == pytest.approx(
        2 * 1.959964 * np.sqrt(total * effect / (50 * 8)), rel=1e-6
    )


def test_numbers_of_queries_and_pairs_may_be_arrays():
    clusters, [answers] = pool(2, queries=60, pairs=5)
    table = expected_width(
        variation_of_share(answers, clusters=clusters), queries=np.array([[20], [80]]), pairs=[1, 5, 25]
    )

    assert table.shape == (2, 3)
    assert table[0] == pytest.approx(2 * table[1])
    assert (np.diff(table, axis=1) < 0).all()


@pytest.mark.parametrize(("queries", "pairs"), [(120, 5), (40, 15), (120, 15)])
def test_the_width_of_the_share_planned_from_a_pilot_is_the_width_that_larger_pools_have(queries, pairs):
    pilots = [
        variation_of_share(*answers, clusters=c) for c, answers in (pool(s, queries=40, pairs=5) for s in range(30))
    ]
    planned = np.mean([expected_width(pilot, queries=queries, pairs=pairs) for pilot in pilots])

    found = []
    for seed in range(100, 120):
        clusters, [answers] = pool(seed, queries=queries, pairs=pairs)
        found.append(width(share_interval(answers, clusters, resamples=500)))

    assert planned == pytest.approx(np.mean(found), rel=0.06)


def labelled(seed, *, queries, pairs):
    """People and an LLM whose skill differs from query to query."""
    random = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(queries), pairs)
    people = np.minimum(random.poisson(0.8, clusters.size), 3)
    skill = np.clip(random.normal(0.5, 0.3, queries), 0, 1)
    llm = np.where(random.random(clusters.size) < skill[clusters], people, random.integers(0, 4, clusters.size))
    return clusters, people.astype(float), llm.astype(float)


@pytest.mark.parametrize(("queries", "pairs"), [(120, 10), (40, 40)])
def test_the_width_of_kappa_planned_from_a_pilot_is_the_width_that_larger_pools_have(queries, pairs):
    pilots = []
    for seed in range(30):
        clusters, people, llm = labelled(seed, queries=40, pairs=10)
        pilots.append(variation_of_coefficient(people, llm, grades=SCALE, clusters=clusters))
    planned = np.mean([expected_width(pilot, queries=queries, pairs=pairs) for pilot in pilots])

    found = []
    for seed in range(100, 120):
        clusters, people, llm = labelled(seed, queries=queries, pairs=pairs)
        judged = panel(people, llm, grades=SCALE, clusters=clusters, resamples=500)
        found.append(width(judged.graded["cohen_kappa"]))

    assert planned == pytest.approx(np.mean(found), rel=0.07)


def test_a_coefficient_is_to_first_order_a_mean_of_what_each_pair_adds():
    """Weigh a few pairs a little more: kappa moves by the mean of their values."""
    clusters, people, llm = labelled(3, queries=20, pairs=10)
    values = linearised(pair_up(people, llm, grades=SCALE, clusters=clusters), "cohen_kappa")
    more = np.where(np.arange(200) < 20, 1.001, 1.0)

    moved = cohen_kappa(people, llm, sample_weight=more) - cohen_kappa(people, llm)

    assert values.mean() == pytest.approx(0, abs=1e-6)
    assert moved == pytest.approx((values * (more / more.mean() - 1)).mean(), rel=1e-2)


@pytest.mark.parametrize("name", ["raw_agreement", "quadratic_kappa", "krippendorff_alpha", "gwet_ac2", "bias"])
def test_the_width_expected_of_the_design_at_hand_is_about_that_of_the_bootstrap(name):
    clusters, people, llm = labelled(5, queries=150, pairs=8)
    judged = panel(people, llm, grades=SCALE, clusters=clusters).graded[name]

    variation = variation_of_coefficient(people, llm, name, grades=SCALE, clusters=clusters)

    assert width_now(variation) == pytest.approx(width(judged), rel=0.1)


def test_uneven_queries_widen_the_interval(llmjudge):
    """177 pairs a query on average, from 96 to 372; the bootstrap over 25 queries is .137 wide."""
    relevant = (llmjudge.people >= 2).astype(float)
    variation = variation_of_share(relevant, clusters=llmjudge.queries)

    assert variation.unevenness > 1.1
    assert width_now(variation) == pytest.approx(width(share_interval(relevant, llmjudge.queries)), rel=0.05)


def test_kappa_of_llmjudge_has_the_width_of_its_bootstrap_too(llmjudge):
    grades = (llmjudge.people, llmjudge.llm("willia-umbrela1"))
    variation = variation_of_coefficient(*grades, grades=SCALE, clusters=llmjudge.queries, relevant_from=2)
    judged = panel(*grades, grades=SCALE, clusters=llmjudge.queries).binary[2]["cohen_kappa"]

    assert width_now(variation) == pytest.approx(width(judged), rel=0.1)


def test_second_opinions_show_how_much_of_the_variance_is_peoples_noise():
    clusters, answers = pool(4, queries=2_000, pairs=5, people=2, noise=0.1)
    variation = variation_of_share(*answers, clusters=clusters)

    assert variation.people == pytest.approx(0.1 * 0.9, rel=0.05)
    assert variation.labels == 2


def test_the_width_after_more_overlap_is_the_width_that_pools_with_as_many_people_have():
    pilots = [
        variation_of_share(*answers, clusters=c)
        for c, answers in (pool(s, queries=60, pairs=4, people=2, noise=0.25, spread=0.1) for s in range(30))
    ]
    planned = np.mean([expected_width(pilot, queries=60, pairs=4, labels=5) for pilot in pilots])

    found = []
    for seed in range(100, 130):
        clusters, answers = pool(seed, queries=60, pairs=4, people=5, noise=0.25, spread=0.1)
        means = np.bincount(clusters, np.mean(answers, axis=0)) / 4
        found.append(2 * 1.96 * means.std(ddof=1) / np.sqrt(60))

    assert planned == pytest.approx(np.mean(found), rel=0.05)


def test_fifty_more_labels_buy_most_on_new_queries_where_pairs_of_a_query_are_alike():
    clusters, answers = pool(6, queries=40, pairs=5, people=2, noise=0.02)
    variation = variation_of_share(*answers, clusters=clusters)

    bought = buy(variation, 50)

    assert [purchase.more for purchase in bought] == ["queries", "pairs", "people"]
    assert all(purchase.width < width_now(variation) for purchase in bought)
    assert bought[0].queries == 45
    assert bought[1].pairs == pytest.approx(5.625)
    assert bought[2].labels == 2.25


def test_labels_between_two_whole_numbers_are_a_mixture_of_pairs():
    clusters, answers = pool(6, queries=40, pairs=5, people=2, noise=0.3)
    variation = variation_of_share(*answers, clusters=clusters)
    one, both, two = (expected_width(variation, queries=40, pairs=5, labels=n) ** 2 for n in (1, 1.5, 2))

    assert both == pytest.approx((one + two) / 2)


def test_without_a_second_opinion_what_more_of_them_would_buy_cannot_be_told():
    clusters, [answers] = pool(6, queries=40, pairs=5)

    last = buy(variation_of_share(answers, clusters=clusters), 50)[-1]

    assert (last.more, isnan(last.width)) == ("people", True)
    assert last.reason == "no pair has labels of two people: their noise is unknown"


def test_pairs_are_weighted_by_the_inverse_inclusion_probability():
    weight = np.random.default_rng(0).uniform(1, 9, 2_000)
    clusters, [answers] = pool(6, queries=200, pairs=10)
    variation = variation_of_share(answers, clusters=clusters, sample_weight=weight)

    assert width_now(variation) == pytest.approx(
        width(share_interval(answers, clusters, sample_weight=weight)), rel=0.1
    )


@pytest.mark.parametrize(
    ("answers", "clusters", "reason"),
    [
        ([_, _], [1, 2], "no pair has an answer"),
        ([], [], "no pair has an answer"),
        ([1], [1], "only one query"),
        ([1, 0, 1], [1, 1, 1], "only one query"),
        ([1, 0, 1], [1, 2, 3], "no query has two pairs"),
        ([1, 1, 1, 1], [1, 1, 2, 2], "all pairs are the same"),
    ],
)
def test_where_the_variation_cannot_be_told_every_plan_says_why(answers, clusters, reason):
    variation = variation_of_share(answers, clusters=clusters)

    assert variation.reason.startswith(reason)
    assert isnan(width_now(variation))
    assert all(isnan(purchase.width) and purchase.reason.startswith(reason) for purchase in buy(variation, 50))


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([0, 1], [_, _], "no pair was graded by both"),
        ([1, 1, 1, 1], [1, 1, 1, 1], "cohen_kappa is undefined on these pairs"),
    ],
)
def test_a_coefficient_that_is_undefined_has_no_variation(a, b, reason):
    variation = variation_of_coefficient(a, b, grades=(0, 1), clusters=[1, 1, 2, 2][: len(a)])

    assert variation.reason.startswith(reason)
    assert isnan(width_now(variation))


def test_no_label_and_unknown_coefficients_are_refused():
    clusters, [answers] = pool(6, queries=4, pairs=5)

    with pytest.raises(ValueError, match="at least 1 label"):
        buy(variation_of_share(answers, clusters=clusters), 0)
    with pytest.raises(ValueError, match="'tau' is no coefficient here; there are raw_agreement, cohen_kappa"):
        variation_of_coefficient(answers, answers, "tau", grades=(0, 1), clusters=clusters)
    with pytest.raises(ValueError, match="1, 0 or nan"):
        variation_of_share([2, 1], clusters=[1, 1])
