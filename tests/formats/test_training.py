"""Training files: JSON lines or tab-separated columns of query, document, grade and explanation."""

from __future__ import annotations

import io

import pytest

from judging.errors import FileError
from judging.formats.training import TrainingLine, read_training

WANTED = [TrainingLine("q1", "d 1", 1, "It says so.", 1), TrainingLine("q2", "d2", 0, "", 2)]


def read(text: str, name: str = "t.tsv") -> list[TrainingLine]:
    return list(read_training(io.BytesIO(text.encode()), name=name))


@pytest.mark.parametrize(
    "text",
    [
        "q1\td 1\t1\tIt says so.\nq2\td2\t0\n",
        "q1\td 1\t1\t It says so. \r\nq2\td2\t0\t",
        '{"query": "q1", "document": "d 1", "grade": 1, "explanation": "It says so."}\n'
        '{"query": "q2", "document": "d2", "grade": 0}\n',
    ],
)
def test_both_forms_say_the_same(text):
    assert read(text) == WANTED


def test_a_header_and_blank_lines_are_passed_over():
    lines = read("\nquery\tdocument\tgrade\texplanation\n\nq1\td1\t1\tx\n")
    assert lines == [TrainingLine("q1", "d1", 1, "x", 4)]


def test_a_query_that_is_called_query_is_one_after_the_first_line():
    assert [line.query for line in read("q1\td1\t1\nquery\td2\t0\n")] == ["q1", "query"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\td1\n", "t.tsv:1: expected query, document, grade and explanation parted by tabs, found 'q1\\td1'."),
        ("q1\td1\t1\ta\tb\n", "t.tsv:1: expected query, document, grade"),
        ("q1\t\t1\ta\n", "t.tsv:1: expected query, document, grade"),
        ("q1\td1\thigh\ta\n", "t.tsv:1: expected a whole number as grade, found 'high'."),
        ("q1\td1\t1\nq2\td1\t1\nq1\td1\t0\n", "found query 'q1', document 'd1' here and at line 1."),
        ('{"query": "q1", "document": "d1"}\n', 't.tsv:1: expected a whole number as "grade"'),
        ('{"query": "q1", "grade": 1}\n', 't.tsv:1: expected a text that is not empty as "document"'),
        ('{"query": "q1", "document": "d1", "grade": 1, "explanation": 7}\n', 'as "explanation"'),
        ("[1]\n", "t.tsv:1: expected a JSON object"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(text, message):
    with pytest.raises(FileError) as refused:
        read(text)
    assert message.removesuffix(".") in str(refused.value)
