"""Examples of the literature, and tables small enough for a pencil."""

import numpy as np
import pytest

from judging.measures.agreement import (
    bias,
    ceiling,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    precision_recall_f1,
    prevalence,
    raw_agreement,
)

_ = None
FOUR_CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def judges(table):
    """Two judges whose confusion matrix is ``table``."""
    counts = np.asarray(table)
    rows, columns = np.indices(counts.shape)
    return np.repeat(rows.ravel(), counts.ravel()), np.repeat(columns.ravel(), counts.ravel())


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_four_coders(level, expected):
    assert round(krippendorff_alpha(*FOUR_CODERS, level=level), 3) == expected


def test_krippendorffs_two_observers_of_a_binary_property():
    """Computing Krippendorff's alpha-reliability, section A: α = .095."""
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]

    assert round(krippendorff_alpha(first, second, level="nominal"), 3) == 0.095


def test_cohens_kappa_by_hand():
    """25 of 50 relevant to the one, 30 to the other; agreement .7, by chance .5: kappa .4."""
    a, b = judges([[15, 10], [5, 20]])

    assert raw_agreement(a, b) == 0.7
    assert cohen_kappa(a, b) == pytest.approx(0.4)


def test_weighted_kappa_by_hand():
    """Margins (1, 2, 1)/4 and (2, 0, 2)/4; steps cost ½ linear or ¼ quadratic, the whole scale 1."""
    a, b = [0, 1, 1, 2], [0, 0, 2, 2]
    linear = ((0.5 + 0.5) / 4) / ((1 * 2 * 1 + 2 * 2 * 0.5 + 2 * 2 * 0.5 + 1 * 2 * 1) / 16)
    quadratic = ((0.25 + 0.25) / 4) / ((1 * 2 * 1 + 2 * 2 * 0.25 + 2 * 2 * 0.25 + 1 * 2 * 1) / 16)

    assert cohen_kappa(a, b, weights="linear") == pytest.approx(1 - linear)
    assert cohen_kappa(a, b, weights="quadratic") == pytest.approx(1 - quadratic)


def test_weights_follow_the_grades_even_where_nobody_gave_the_grade_between():
    a, b = [0, 0, 1, 3], [0, 1, 1, 0]
    scaled = cohen_kappa(a, b, weights="quadratic", grades=(0, 1, 2, 3))

    assert cohen_kappa(a, b, weights="quadratic") == pytest.approx(scaled)


def test_gwets_ac1_where_kappa_is_negative():
    """Gwet, Kappa statistic is not satisfactory, 2002: 118 + 2 of 125 alike or not; AC1 .9408."""
    a, b = judges([[118, 5], [2, 0]])

    assert cohen_kappa(a, b) == pytest.approx(-0.0234, abs=5e-5)
    assert gwet_ac(a, b) == pytest.approx(0.9408, abs=5e-5)


def test_gwets_ac1_counts_the_grades_of_the_whole_scale():
    a, b = judges([[118, 5], [2, 0]])
    spread = 2 * (121.5 / 125) * (3.5 / 125)

    assert gwet_ac(a, b, grades=(0, 1, 2, 3)) == pytest.approx((118 / 125 - spread / 3) / (1 - spread / 3))


def test_gwets_ac2_by_hand():
    """Linear weights over three grades: p_a = 1 − ½·2/4; Σw = 5; π = (3, 3, 2)/8."""
    a, b = [0, 1, 1, 2], [0, 0, 2, 1]
    agreed = 1 - (0.5 * 3) / 4
    by_chance = 5 / (3 * 2) * (3 / 8 * 5 / 8 + 3 / 8 * 5 / 8 + 2 / 8 * 6 / 8)

    assert gwet_ac(a, b, weights="linear") == pytest.approx((agreed - by_chance) / (1 - by_chance))


def test_high_agreement_with_low_kappa_does_not_hide():
    a, b = judges([[963, 17], [18, 2]])

    assert raw_agreement(a, b) == 0.965
    assert round(cohen_kappa(a, b), 2) == 0.08
    assert round(gwet_ac(a, b), 2) == 0.96


def test_fleiss_fourteen_raters():
    """Ten subjects, fourteen raters, five categories: kappa .210."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    raters = np.array([np.repeat(range(5), row) for row in counts]).T

    assert round(fleiss_kappa(*raters), 3) == 0.210


def test_fleiss_kappa_with_differing_numbers_of_judges_by_hand():
    """Pair 1: 1, 1, 1. Pair 2: 0, 1. Pair 3 has one grade and does not count. P_o = ½; π = (1/4, 3/4)."""
    expected = (1 / 2 - 10 / 16) / (1 - 10 / 16)

    assert fleiss_kappa([1, 0, 0], [1, 1, _], [1, _, _]) == pytest.approx(expected)


def test_precision_recall_and_f1_of_relevant():
    people, llm = judges([[50, 10], [20, 30]])

    assert precision_recall_f1(people, llm) == pytest.approx((30 / 40, 30 / 50, 2 * 30 / 90))
    assert prevalence(people, llm) == pytest.approx((50 / 110, 40 / 110))


def test_the_threshold_decides_what_is_relevant():
    people, llm = [0, 1, 2, 3], [0, 2, 1, 3]

    assert precision_recall_f1(people, llm, relevant_from=1) == (1, 1, 1)
    assert precision_recall_f1(people, llm, relevant_from=2) == (0.5, 0.5, 0.5)
    assert precision_recall_f1(people, llm, relevant_from=3) == (1, 1, 1)


def test_bias_is_above_zero_where_the_second_judge_is_the_more_generous():
    assert bias([0, 1, 2], [1, 1, 3]) == pytest.approx(2 / 3)
    assert bias([-2, 0], [0, 0]) == 1.0


def test_the_confusion_matrix_has_the_first_judge_in_rows():
    assert confusion([0, 0, 1, 2], [0, 1, 1, 0], grades=(0, 1, 2)).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_only_pairs_that_both_judges_graded_count():
    """Pitfall: a grade missing on one side is no grade 0, and the divisor is the number of shared pairs."""
    a, b = [1, 1, 0, 0, _, 0], [1, 0, 0, _, 1, np.nan]

    assert raw_agreement(a, b) == pytest.approx(2 / 3)
    assert confusion(a, b, grades=(0, 1)).sum() == 3


def test_a_weight_of_two_is_the_pair_twice():
    a, b, weight = [0, 1, 2, 2, 1], [0, 2, 2, 1, 1], [1, 2, 1, 3, 1]
    twice_a, twice_b = np.repeat(a, weight), np.repeat(b, weight)

    assert raw_agreement(a, b, sample_weight=weight) == pytest.approx(raw_agreement(twice_a, twice_b))
    assert cohen_kappa(a, b, sample_weight=weight) == pytest.approx(cohen_kappa(twice_a, twice_b))
    assert gwet_ac(a, b, weights="linear", sample_weight=weight) == pytest.approx(
        gwet_ac(twice_a, twice_b, weights="linear")
    )
    assert fleiss_kappa(a, b, sample_weight=weight) == pytest.approx(fleiss_kappa(twice_a, twice_b))


def test_weights_decide_by_their_proportions_alone():
    a, b, weight = [0, 1, 2, 2, 1], [0, 2, 2, 1, 1], np.array([1, 2, 1, 3, 1])

    assert krippendorff_alpha(a, b, sample_weight=weight) == pytest.approx(
        krippendorff_alpha(a, b, sample_weight=10 * weight)
    )
    assert confusion(a, b, grades=(0, 1, 2), sample_weight=weight).sum() == pytest.approx(5)


def test_the_ceiling_of_two_people_is_their_alpha_and_scotts_pi():
    a, b = judges([[15, 10], [5, 20]])
    by_chance = 0.45**2 + 0.55**2

    people = ceiling(a, b, grades=(0, 1))

    assert people.pairs == 50
    assert people.confusion.tolist() == [[15, 7.5], [7.5, 20]]
    assert people.graded["cohen_kappa"].value == pytest.approx((0.7 - by_chance) / (1 - by_chance))
    assert people.graded["krippendorff_alpha"].value == pytest.approx(krippendorff_alpha(a, b))


def test_the_ceiling_matches_every_two_grades_of_a_pair():
    people = ceiling(*FOUR_CODERS, grades=range(1, 6), clusters=[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])

    assert (people.pairs, people.single, people.queries) == (11, 1, 4)
    assert people.graded["krippendorff_alpha"].value == pytest.approx(0.815, abs=5e-4)
    assert people.graded["krippendorff_alpha"].interval.low < 0.815 < people.graded["krippendorff_alpha"].interval.high
