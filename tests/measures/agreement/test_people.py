from math import isnan

import numpy as np
import pytest

from judging.measures.agreement import ceiling, leave_one_out, majority, panel, self_agreement

_ = None


def test_each_person_is_held_against_the_majority_of_the_others():
    a, b, c = [1, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]

    first, second, third = leave_one_out(a, b, c, grades=(0, 1))

    assert first.panel.graded["raw_agreement"].value == pytest.approx(2 / 3)  # b and c are tied on the third pair
    assert (first.panel.pairs, first.ties, first.alone) == (3, 1, 0)
    assert (second.panel.pairs, second.ties) == (3, 1)
    assert (third.panel.pairs, third.ties) == (2, 2)


def test_a_person_is_no_part_of_the_majority_that_they_are_held_against():
    """With the person's own vote the two others' tie would be broken, and the agreement 1."""
    (first, *_others) = leave_one_out([1, 1], [1, 0], [0, 1], grades=(0, 1))

    assert (first.panel.pairs, first.ties) == (0, 2)
    assert isnan(first.panel.graded["raw_agreement"].value)
    assert first.panel.graded["raw_agreement"].reason == "no pair was graded by both"


def test_the_majority_is_the_reference_so_bias_above_0_is_a_generous_person():
    generous = leave_one_out([1, 2, 2], [0, 1, 2], [0, 1, 2], [0, 1, 1], grades=(0, 1, 2))[0]

    assert generous.panel.graded["bias"].value == pytest.approx(2 / 3)


def test_pairs_that_nobody_else_graded_are_counted_beside():
    alone, other = leave_one_out([1, 1, 0], [1, _, _], grades=(0, 1))

    assert (alone.panel.pairs, alone.alone, alone.panel.only_second) == (1, 2, 2)
    assert (other.panel.pairs, other.alone) == (1, 0)


def test_of_two_people_each_is_the_rest_of_the_other():
    a, b = np.random.default_rng(0).integers(0, 3, (2, 60))
    first, second = leave_one_out(a, b, grades=(0, 1, 2), clusters=np.arange(60) // 4)

    assert first.panel.graded == panel(b, a, grades=(0, 1, 2), clusters=np.arange(60) // 4).graded
    assert second.panel.graded["bias"].value == -first.panel.graded["bias"].value


def test_grades_outside_the_scale_have_no_vote():
    assert majority([9, 9], [9, 1], [0, 1], grades=(0, 1)).tolist() == [0, 1]


def test_the_majority_is_undefined_on_a_tie_and_without_a_grade():
    table = majority([0, 1, _, 2], [1, 1, _, _], [2, 0, _, _], grades=(0, 1, 2))

    np.testing.assert_array_equal(table, [np.nan, 1, np.nan, 2])
    assert np.isnan(majority([0], [0], grades=())).all()


def test_a_person_agrees_with_the_majority_of_many_better_than_with_one_other():
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 2000)
    people = [np.where(random.random(2000) < 0.8, truth, 1 - truth) for _ in range(5)]

    one_by_one = ceiling(*people, grades=(0, 1)).graded["raw_agreement"].value
    with_the_rest = [left_out.panel.graded["raw_agreement"].value for left_out in leave_one_out(*people, grades=(0, 1))]

    assert one_by_one == pytest.approx(0.68, abs=0.02)
    assert min(with_the_rest) > one_by_one + 0.04


def test_one_person_alone_cannot_be_left_out():
    with pytest.raises(ValueError, match="at least two people; found 1"):
        leave_one_out([1], grades=(0, 1))


def test_a_person_against_themselves_is_a_panel_whose_bias_is_the_drift():
    first, again = [0, 1, 1, 2, _], [0, 1, 2, 2, 1]
    themselves = self_agreement(first, again, grades=(0, 1, 2), clusters=["a", "a", "b", "b", "b"])

    assert (themselves.pairs, themselves.queries) == (4, 2)
    assert themselves.graded["raw_agreement"].value == 0.75
    assert themselves.graded["bias"].value == 0.25


def test_a_person_who_was_never_asked_again_has_no_agreement_with_themselves():
    kappa = self_agreement([0, 1], [_, _], grades=(0, 1), clusters=[1, 2]).graded["cohen_kappa"]

    assert isnan(kappa.value)
    assert kappa.reason == kappa.interval.reason == "no pair was graded by both"
