from __future__ import annotations

import numpy as np
import pytest

from judging.engines.llm import grades
from judging.errors import UserError
from judging.formats.scale import Grade, Scale, default_scale


class Spelled:
    """A tokenizer as the reader sees one: a vocabulary, and the text that each token decodes to."""

    def __init__(self, **texts: str) -> None:
        self._texts = list(texts.values())
        self._vocab = {token: number for number, token in enumerate(texts)}
        self.all_special_ids = [number for token, number in self._vocab.items() if token.startswith("special")]

    def get_vocab(self) -> dict[str, int]:
        return self._vocab

    def decode(self, ids: list[int]) -> str:
        return "".join(self._texts[number] for number in ids)


TOKENIZER = Spelled(
    t0="0", t1="1", b1=" 1", n1="1\n", t10="10", t5="5", fs="\x1c7", x="1st", blank=" ", word="Yes", special1="1"
)
READER = grades.GradeTokens(TOKENIZER, default_scale(1))


def row(**weights: float) -> grades.Row:
    vocabulary = TOKENIZER.get_vocab()
    return np.array([weights.get(token, 0.0) for token in vocabulary])


def answer(**weights: float) -> grades.Answer:
    there = row(**weights)
    return grades.answer(READER.probabilities(there), READER.text(there))


def test_all_spellings_of_a_grade_count_and_nothing_that_only_begins_like_it() -> None:
    spread = row(t0=0.1, t1=0.2, b1=0.2, n1=0.1, t10=0.2, x=0.1, special1=0.1)
    assert READER.probabilities(spread) == pytest.approx({0: 0.1, 1: 0.5})


def test_the_grade_is_the_likeliest_of_the_scale() -> None:
    given = answer(t0=0.3, t1=0.2, b1=0.35, word=0.15)
    assert (given.outcome, given.grade) == ("graded", 1)
    assert given.probabilities == pytest.approx({0: 0.3, 1: 0.55})


def test_an_answer_mostly_off_the_scale_is_unparsed_and_never_a_zero() -> None:
    given = answer(t0=0.4, t1=0.05, word=0.55)
    assert (given.outcome, given.grade, given.raw) == ("unparsed", None, "Yes")
    assert given.probabilities == pytest.approx({0: 0.4, 1: 0.05})


@pytest.mark.parametrize("token", ["t5", "t10", "fs"])
def test_another_whole_number_is_out_of_scale(token: str) -> None:
    given = answer(t1=0.2, **{token: 0.8})
    assert (given.outcome, given.grade) == ("out_of_scale", None)


def test_a_grade_that_is_likeliest_alone_but_not_likely_enough_is_unparsed() -> None:
    assert answer(t1=0.4, t0=0.05, word=0.3, t5=0.25).outcome == "unparsed"


def test_one_half_of_the_mass_is_enough() -> None:
    assert answer(t1=0.5, word=0.5).grade == 1


def test_of_equally_likely_grades_the_lowest_is_taken() -> None:
    assert answer(t1=0.5, t0=0.5).grade == 0


def test_a_blank_is_followed_only_where_it_is_likely() -> None:
    assert READER.likeliest_blank(row(blank=0.5, t1=0.5)) == TOKENIZER.get_vocab()["blank"]
    assert READER.likeliest_blank(row(blank=0.005, t1=0.995)) is None


def test_the_step_after_a_blank_adds_to_what_was_said_at_once() -> None:
    assert grades.add_step({0: 0.1, 1: 0.2}, 0.5, {0: 0.0, 1: 1.0}) == pytest.approx({0: 0.1, 1: 0.7})


def test_a_scale_with_a_grade_of_several_tokens_is_refused() -> None:
    with pytest.raises(UserError, match="writes the grade 11 in several tokens"):
        grades.GradeTokens(TOKENIZER, Scale((Grade(0, "No"), Grade(11, "Yes")), relevant_from=11))


def test_softmax_sums_to_one_and_does_not_overflow() -> None:
    assert grades.softmax(np.array([1e4, 1e4, 0.0])) == pytest.approx([0.5, 0.5, 0.0])
