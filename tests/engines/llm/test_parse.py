from __future__ import annotations

import time

import pytest

from judging.engines.llm.parse import Reading, parse
from judging.formats.scale import Grade, Scale, default_scale, parse_scale

GRADED = default_scale(3)
BINARY = default_scale(1)
UNPARSED = Reading("unparsed")

# Each text, and the number it gives on the scale 0 to 3: an int, or None where it is unparsed.
PITFALLS = [
    ("10", 10),
    ("Grade: 10", 10),
    ("On the scale of 0 to 3, final score: 1", 1),
    ("-1", -1),
    ("Grade: -1", -1),
    ("Published 2021. Not relevant", None),
    ("Irrelevant", None),
    ("not at all relevant", None),
    ("The document is not at all relevant.", None),
    ("5", 5),
    ("Grade: 5", 5),
    ("", None),
    ('{"grade": 2', None),
]

BARE = [
    ("2", 2),
    (" 2\n", 2),
    ("2.", 2),
    ("0", 0),
    ("+2", 2),
    ("2.0", 2),
    ("2.00", 2),
    ("2.5", None),
    ("2.05", None),
    ("2,5", None),
    ("1,000", None),
    ("0.5", None),
    (".5", None),
    ("02", None),
    ("0x2", None),
    ("1e0", None),
    ("2:30", None),
    ("1 0", None),
    ("2 3", None),
    ("2-3", None),
    ("2–3", None),
    ("0 to 3", None),
    ("2 or 3", None),
    ("2, 3", None),
    ("2/3", 2),
    ("0/3", 0),
    ("5/3", 5),
    ("2/10", None),
    ("1/2", None),
    ("3 out of 3", 3),
    ("2 of 3", 2),
    ("2 out of 5", None),
    ("2.0/3.0", None),
    ("66%", None),
    ("2 %", None),
    ("2 percent", None),
    ("2‰", None),
    ("1st", None),
    ("2nd", None),
    ("third", None),
    ("2 stars", None),
    ("3+", None),
    (">2", None),
    ("≥ 2", None),
    ("~2", 2),
    ("½", None),
    ("2½", None),
    ("²", None),
    ("Ⅱ", None),
    ("II", None),
    ("②", None),
    ("2️⃣", None),
    ("#2", None),
    ("−1", -1),
    ("- 2", None),
    ("– 1", None),
    ("two", 2),
    ("Two.", 2),
    ("ZERO", 0),
    ("one", 1),
    ("ten", 10),
    ("one-half", None),
    ("none", None),
    ("zero relevance", None),
    ("２", 2),
    ("٢", 2),
    ("३", 3),
    ("১", 1),
    ("١٠", 10),
    ("二", None),
    ("\ufeff2", 2),
    ("\u200b2\u200b", 2),
    ("\u200f2", 2),
    ("2\x00", None),
    ("9" * 5000, 999_999_999),
    ("2021", 2021),
]

DECORATED = [
    ("**2**", 2),
    ("`2`", 2),
    ('"2"', 2),
    ("'2'", 2),
    ("«2»", 2),
    ("(2)", 2),
    ("[2]", 2),
    ("[1, 2]", None),
    ("* 2", 2),
    ("• 2", 2),
    ("> 2", 2),
    ("| 2 |", 2),
    ("```\n2\n```", 2),
    ("$\\boxed{2}$", 2),
    ("\\boxed{\\text{2}}", 2),
    ("<grade>2</grade>", 2),
    ("<answer> 2 </answer> as asked", 2),
    ("<b>2</b>", None),
    ("##final score: 1", 1),
    ("### Final grade\n\n2", 2),
    ("**Grade:** 2", 2),
    ("**Grade: 2**", 2),
    ("__Final score__: *2*", 2),
    ("- Grade: 2", 2),
    ("3. Final grade: 2", 2),
    ("| Grade: 2 |", 2),
]

LABELLED = [
    ("grade: 1.", 1),
    ("GRADE = 1", 1),
    ("Grade：２", 2),
    ("Grade 2", 2),
    ("Score: 2/3", 2),
    ("Score: 2 / 3.", 2),
    ("Score: 3 out of 3", 3),
    ("Score: 7/10", None),
    ("Score: 2/3 of the question is answered", None),
    ("Grade: two", 2),
    ("Grade: Two (of three)", 2),
    ("Grade: one of the best", None),
    ("Grade: one-half", None),
    ("Grade: 02", None),
    ("Grade: 2.5", None),
    ("Grade: 1.0", 1),
    ("Grade: 50%", None),
    ("Grade: 2nd", None),
    ("Grade: 2 or 3", None),
    ("Grade: 2-3", None),
    ("Grade: 2 to 3", None),
    ("Grade: between 2 and 3", None),
    ("Grade: 2, maybe 3", None),
    ("Grade: 2, 3", None),
    ("Grade: 2; 3", None),
    ("Grade: 2 (perhaps a 3)", None),
    ("Grade: 2. Actually, I am not sure.", None),
    ("Grade: 2, no, one", None),
    ("Grade: not 2", None),
    ("The grade is not 2", None),
    ("Grade: 2 is too high", None),
    ("Grade: 2 stars", None),
    ("Grade: N/A", None),
    ("Grade: none", None),
    ("Grade:", None),
    ("Grade: high", None),
    ("Grade: - 2", None),
    ("Grade: −1", -1),
    ("Grade: 2 because it answers in part", 2),
    ("Grade: 2, since it answers in part", 2),
    ("Grade: 2 – answers in part", 2),
    ("Grade: 2. It was published in 2021.", 2),
    ("Grade: 1. Not directly an answer.", 1),
    ("Grade: 2 (on a scale from 0 to 3)", 2),
    ("Grade: 2 (on a scale of 1 to 5)", None),
    ("Grade: 2 (out of 10)", None),
    ("Grade: 2 (Relevant)", 2),
    ("Grade: 2 = Relevant", 2),
    ("Grade: 2 Relevant", 2),
    ("Grade: 2 (Not relevant)", None),
    ("Grade: 2 - Perfect", None),
    ("Grade: Perfect", 3),
    ("Grade: Not relevant", 0),
    ("Grade: Irrelevant", None),
    ("Grade: 2, accuracy: 3", None),
    ("The final grade is 2.", 2),
    ("So the grade is 2", 2),
    ("Therefore, my rating would be 2.", 2),
    ("Relevance score: 2", 2),
    ("Relevance grade of the document: 2", 2),
    ("Judgement: 2", 2),
    ("Relevance depends on the question", None),
    ("Score range: 0 to 3", None),
    ("Maximum score: 3", None),
    ("Score 3 is for perfect documents", None),
    ("The answer is 3", None),
    ("The answer is in the document", None),
    ("Final answer: 3", 3),
    ("Answer: 2", 2),
    ("Question 2", None),
    ("评分：2", None),
]

WORDS_OF_THE_SCALE = [
    ("Not relevant", 0),
    ("not relevant.", 0),
    ("RELATED", 1),
    ("Relevant", 2),
    ("2 = Relevant", 2),
    ("2 = Relevant: Answers in part or indirectly", 2),
    ("2 (Relevant)", 2),
    ("2 - relevant", 2),
    ("2 = Perfect", None),
    ("2 = Not relevant", None),
    ("Highly relevant", None),
    ("Relevant and perfect", None),
    ("Relevant?", None),
    ("The document is relevant", None),
    ("Yes", None),
    ("0 = Not relevant\n1 = Related\n2 = Relevant\n3 = Perfect", None),
]

LONGER = [
    ("2\n\nIt answers in part.", 2),
    ("2\nGrade: 3", None),
    ("It answers in part.\n\n2", 2),
    ("The document names 3 of 4 causes.\nGrade: 2", 2),
    ("In 2021 there were 10 of them.\n\nGrade: 1\n", 1),
    ("Answer: Paris is the capital.\nGrade: 2", 2),
    ("Relevance: the subject is the same.\nGrade: 1", 1),
    ("Grade: 1\nGrade: 1", 1),
    ("Grade: 1\nWait, it does answer.\nGrade: 2", None),
    ("Grade: 1\nOn second thought.\nFinal grade: 2", 2),
    ("Final grade: 1\nFinal grade: 2", None),
    ("Grade 0: no overlap\nGrade 1: related\nFinal grade: 1", 1),
    ("Grade 0: no overlap\nGrade 1: related", None),
    ("Topic match: 3\nTrust: 1", None),
    ("1\n2\n3", None),
    ("1. The query asks who.\n2. The document says when.", None),
    ("1. The query asks who.\n2. The document says when.\n3", 3),
    ("<think>Grade: 3, or rather less.</think>\nGrade: 1", 1),
    ("<think>Grade: 3", None),
    ("I cannot judge this document.", None),
    ("I'm sorry, but as an AI I can't rate 2 documents.", None),
    ("I would give it a 2.", None),
    ("Grade\n2", 2),
    ("Grade:\n2 or 3", None),
    ("It was published in\n2021", 2021),
    ("Grade: 2\r\nReason: it answers.\r\n", 2),
    ("Grade: 2\u2028Grade: 3", None),
    ("\n\n\n", None),
    ("?", None),
]

JSON = [
    ('{"grade": 2}', 2),
    ('{"grade": "2"}', 2),
    ('{"grade": 2.0}', 2),
    ('{"grade": 2.5}', None),
    ('{"grade": -1}', -1),
    ('{"grade": 10}', 10),
    ('{"grade": true}', None),
    ('{"grade": null}', None),
    ('{"grade": [2]}', None),
    ('{"grade": NaN}', None),
    ('{"grade": 1e400}', None),
    ('{"grade": "2/3"}', 2),
    ('{"grade": "2 or 3"}', None),
    ('{"grade": "Relevant"}', 2),
    ('{"grade": ""}', None),
    ('{"Final Score": 2}', 2),
    ('{"relevance_score": 1, "reason": "Grade: 3"}', 1),
    ('{"reason": "3 of 3", "grade": 0}', 0),
    ('{"reason": "{\\"grade\\": 3}", "grade": 1}', 1),
    ('{"grade": 1, "grade": 2}', None),
    ('{"relevance": 2, "score": 3}', None),
    ('{"score": 2, "final_score": 1}', 1),
    ('{"result": {"grade": 2}}', 2),
    ('{"answer": {"grade": 2}}', 2),
    ('{"year": 2021}', None),
    ('{"grade": 1}\n{"grade": 2}', None),
    ('[{"grade": 1}, {"grade": 1}]', 1),
    ('Here you are: {"grade": 2} I hope this helps with 3 things.', 2),
    ('```json\n{"grade": 2}\n```\nIt answers.', 2),
    ('{"grade": 2}\nGrade: 1', None),
    ('{"grade": 2,}', None),
    ("{'grade': 2}", None),
    ('{grade: 2} {"grade": 1}', 1),
    ("{" * 50_000, None),
    ('{"a":' * 50_000, None),
]

TABLE = PITFALLS + BARE + DECORATED + LABELLED + WORDS_OF_THE_SCALE + LONGER + JSON


@pytest.mark.parametrize(("text", "number"), TABLE, ids=[f"{n}-{text[:30]!a}" for n, (text, _) in enumerate(TABLE)])
def test_a_text_gives_the_number_it_answers_with_or_none(text: str, number: int | None) -> None:
    if number is None:
        assert parse(text, GRADED) == UNPARSED
    else:
        assert parse(text, GRADED) == Reading("graded" if number in GRADED else "out_of_scale", number)


@pytest.mark.parametrize(
    ("text", "number"), [("Grade: 1", None), ("1", None), ("It answers.\nGrade: 1\nBecause it", 1), ("Grade: 1\n", 1)]
)
def test_the_last_line_of_a_text_that_was_cut_is_not_read(text: str, number: int | None) -> None:
    assert parse(text, GRADED, complete=False).number == number


def test_out_of_how_many_is_measured_by_the_scale_at_hand() -> None:
    assert parse("1/1", BINARY) == Reading("graded", 1)
    assert parse("2/3", BINARY) == UNPARSED


def test_a_negative_grade_is_read_where_the_scale_has_it() -> None:
    scale = Scale((Grade(-1, "Junk"), Grade(0, "No"), Grade(1, "Yes")))
    assert parse("Grade: -1", scale) == Reading("graded", -1)


def test_a_number_of_several_digits_is_a_grade_where_the_scale_has_it() -> None:
    assert parse("100", parse_scale("0=No, 100=Yes")) == Reading("graded", 100)


def test_a_word_that_two_grades_share_tells_nothing() -> None:
    assert parse("Relevant", Scale((Grade(0, "No"), Grade(1, "Relevant"), Grade(2, "Relevant")))) == UNPARSED


@pytest.mark.parametrize("text", ["{" * 200_000, "Grade: " * 30_000, "2 " * 100_000, "final " * 30_000, " " * 200_000])
def test_no_text_takes_long(text: str) -> None:
    started = time.perf_counter()
    parse(text, GRADED)
    assert time.perf_counter() - started < 2
