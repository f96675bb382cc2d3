"""An undefined value is nan with a reason, never 0 or 1."""

from math import isnan

import pytest

from judging.measures.agreement import (
    bias,
    ceiling,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    panel,
    precision_recall_f1,
    prevalence,
    raw_agreement,
)

NOTHING_SHARED = ([0, 1, None], [None, None, 1])
CHANCE_CORRECTED = ["cohen_kappa", "linear_kappa", "quadratic_kappa", "krippendorff_alpha"]


@pytest.mark.parametrize("judges", [NOTHING_SHARED, ([], [])])
@pytest.mark.parametrize("coefficient", [raw_agreement, cohen_kappa, gwet_ac, krippendorff_alpha, fleiss_kappa, bias])
def test_without_a_shared_pair_nothing_is_defined(coefficient, judges):
    assert isnan(coefficient(*judges))


def test_without_a_shared_pair_precision_and_prevalence_are_undefined():
    assert all(isnan(value) for value in (*precision_recall_f1(*NOTHING_SHARED), *prevalence(*NOTHING_SHARED)))


def test_without_a_shared_pair_the_panel_says_so_everywhere():
    judged = panel(*NOTHING_SHARED, grades=(0, 1), clusters=["q", "q", "q"])
    estimates = [*judged.graded.values(), *judged.binary[1].values()]

    assert (judged.pairs, judged.only_first, judged.only_second, judged.queries) == (0, 2, 1, 0)
    assert {estimate.reason for estimate in estimates} == {"no pair was graded by both"}
    assert {estimate.interval.reason for estimate in estimates} == {"no pair was graded by both"}
    assert all(isnan(estimate.value) and isnan(estimate.interval.low) for estimate in estimates)


@pytest.mark.parametrize("coefficient", [cohen_kappa, krippendorff_alpha, fleiss_kappa, gwet_ac])
def test_full_agreement_on_one_single_grade_is_undefined(coefficient):
    assert isnan(coefficient([2, 2, 2], [2, 2, 2]))


def test_full_agreement_on_one_grade_has_a_reason_and_leaves_the_defined_values_standing():
    judged = panel([0, 0, 0], [0, 0, 0], grades=(0, 1, 2), clusters=["q1", "q2", "q3"])

    for name in CHANCE_CORRECTED:
        assert isnan(judged.graded[name].value)
        assert judged.graded[name].reason.startswith("both gave one and the same grade to every pair")
    assert judged.graded["raw_agreement"].value == 1
    assert judged.graded["gwet_ac1"].value == 1
    assert judged.graded["gwet_ac1"].interval.reason.startswith("the same in every resample")


def test_one_constant_judge_has_a_kappa_of_0_as_defined_but_no_interval():
    kappa = panel([0, 1, 0, 1], [1, 1, 1, 1], grades=(0, 1), clusters=[1, 1, 2, 2]).graded["cohen_kappa"]

    assert (kappa.value, kappa.reason) == (0, "")
    assert isnan(kappa.interval.low)
    assert isnan(kappa.interval.high)
    assert kappa.interval.reason.startswith("the same in every resample")


def test_precision_is_undefined_where_the_second_judge_calls_nothing_relevant():
    precision, recall, f1 = precision_recall_f1([1, 1, 0], [0, 0, 0])

    assert isnan(precision)
    assert (recall, f1) == (0, 0)


def test_recall_is_undefined_where_the_first_judge_calls_nothing_relevant():
    precision, recall, f1 = precision_recall_f1([0, 0, 0], [1, 1, 0])

    assert isnan(recall)
    assert (precision, f1) == (0, 0)


def test_each_undefined_part_of_precision_recall_and_f1_has_its_own_reason():
    binary = panel([0, 0], [0, 0], grades=(0, 1)).binary[1]

    assert binary["precision"].reason == "the second judge called nothing relevant"
    assert binary["recall"].reason == "the first judge called nothing relevant"
    assert binary["f1"].reason == "neither judge called anything relevant"


def test_one_query_has_values_but_no_interval():
    kappa = panel([0, 1, 1, 0], [0, 1, 0, 0], grades=(0, 1), clusters=["q"] * 4).graded["cohen_kappa"]

    assert kappa.value == pytest.approx(0.5)
    assert isnan(kappa.interval.low)
    assert isnan(kappa.interval.high)
    assert kappa.interval.reason == "only one query"


def test_where_too_many_resamples_have_no_value_there_is_no_interval():
    """Of two queries one holds all the relevance: every fourth resample has the other one twice."""
    kappa = panel([0, 0, 1, 0], [0, 0, 1, 1], grades=(0, 1), clusters=[1, 1, 2, 2]).graded["cohen_kappa"]

    assert kappa.value == pytest.approx(0.5)
    assert isnan(kappa.interval.low)
    assert kappa.interval.undefined_resamples == pytest.approx(500, abs=100)
    assert "of 2000 resamples" in kappa.interval.reason


def test_a_pair_with_a_single_grade_says_nothing_of_agreement():
    assert isnan(krippendorff_alpha([1, 2, None], [None, None, 3], [None, None, None]))


def test_the_ceiling_of_people_who_share_no_pair_is_undefined():
    people = ceiling(*NOTHING_SHARED, grades=(0, 1), clusters=[1, 2, 3])

    assert (people.pairs, people.single) == (0, 3)
    assert people.graded["krippendorff_alpha"].reason == "no pair was graded by both"


def test_judges_on_different_scales_share_no_pair_and_the_panel_says_why():
    judged = panel([1, 2, 3], [10, 20, 30], grades=(0, 1, 2, 3), clusters=[1, 2, 3])
    estimates = [*judged.graded.values(), *judged.binary[1].values()]

    assert (judged.pairs, judged.out_of_scale) == (0, 3)
    reason = "no pair was graded by both within the scale: the judges may have used different scales"
    assert {(e.reason, e.interval.reason) for e in estimates} == {(reason, reason)}


def test_one_pair_has_a_raw_agreement_but_no_kappa():
    judged = panel([1], [1], grades=(0, 1), clusters=["q"])

    assert judged.graded["raw_agreement"].value == 1
    assert judged.graded["raw_agreement"].interval.reason == "only one query"
    assert judged.graded["cohen_kappa"].reason.startswith("both gave one and the same grade")


def test_a_scale_of_one_grade_leaves_nothing_to_agree_on():
    judged = panel([0, 0], [0, 0], grades=(0,), clusters=[1, 2])

    assert judged.binary == {}
    assert judged.graded["raw_agreement"].value == 1
    assert judged.graded["gwet_ac1"].reason == "the scale has one grade only"


MEASURES = (cohen_kappa, gwet_ac, krippendorff_alpha, fleiss_kappa, bias, raw_agreement)


@pytest.mark.parametrize("measured", MEASURES)
def test_a_pair_of_weight_0_counts_for_nothing(measured):
    assert measured([0, 1, 1, 0], [0, 1, 0, 1], sample_weight=[2, 1, 3, 0]) == pytest.approx(
        measured([0, 1, 1], [0, 1, 0], sample_weight=[2, 1, 3])
    )


@pytest.mark.parametrize("measured", MEASURES)
def test_where_every_weight_is_0_nothing_is_defined(measured):
    assert isnan(measured([0, 1, 1], [0, 1, 0], sample_weight=[0, 0, 0]))


def test_the_panel_and_the_ceiling_say_that_the_weights_are_0():
    options = {"grades": (0, 1), "clusters": [1, 1, 2], "sample_weight": [0, 0, 0]}
    for judged in (panel([0, 1, 1], [0, 1, 0], **options), ceiling([0, 1, 1], [0, 1, 0], **options)):
        estimates = [*judged.graded.values(), *judged.binary[1].values()]

        assert judged.pairs == 0
        assert {(e.reason, e.interval.reason) for e in estimates} == {
            ("every pair that was graded by both has weight 0",) * 2
        }


@pytest.mark.parametrize("weights", [[1, -1, 1], [1, float("nan"), 1], [1, float("inf"), 1]])
@pytest.mark.parametrize("measured", MEASURES)
def test_weights_that_cannot_be_are_refused(measured, weights):
    with pytest.raises(ValueError, match="none is negative, infinite or nan"):
        measured([0, 1, 1], [0, 1, 0], sample_weight=weights)
