from __future__ import annotations

import pytest

from judging.engines.llm import distribution
from judging.engines.llm.base import Answer


def test_the_expected_grade_is_the_mean_given_that_a_grade_is_said() -> None:
    assert distribution.expected_grade({0: 0.1, 1: 0.1, 3: 0.2}) == pytest.approx(1.75)


@pytest.mark.parametrize(
    ("probabilities", "bits"), [({0: 1.0, 1: 0.0}, 0.0), ({0: 0.2, 1: 0.2}, 1.0), (dict.fromkeys(range(4), 0.25), 2.0)]
)
def test_entropy_is_in_bits_and_does_not_see_the_mass_outside(probabilities: dict[int, float], bits: float) -> None:
    assert distribution.entropy(probabilities) == pytest.approx(bits)


def test_what_the_grades_lack_to_one_is_outside() -> None:
    assert distribution.mass_outside({0: 0.25, 1: 0.5}) == pytest.approx(0.25)
    assert distribution.mass_outside({0: 0.5, 1: 0.5000001}) == 0.0


def test_without_any_probability_of_a_grade_nothing_is_expected() -> None:
    nothing = {0: 0.0, 1: 0.0}
    assert distribution.expected_grade(nothing) is None
    assert distribution.entropy(nothing) is None
    assert distribution.mass_outside(nothing) == 1.0


def test_an_answer_has_them_where_it_has_probabilities() -> None:
    answer = Answer("graded", 1, {0: 0.2, 1: 0.6})
    assert (answer.expected_grade, answer.mass_outside) == (pytest.approx(0.75), pytest.approx(0.2))
    assert answer.entropy == pytest.approx(0.8112781)
    without = Answer("graded", 1)
    assert (without.expected_grade, without.entropy, without.mass_outside) == (None, None, None)
