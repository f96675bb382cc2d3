import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError
from judging.formats.judgments import json_lines, read_judgments
from judging.formats.records import JudgmentLine


def judgments_of(data: str, warnings: list[str] | None = None, judge: str | None = None) -> list[JudgmentLine]:
    warn = [].append if warnings is None else warnings.append
    return list(read_judgments(io.BytesIO(data.encode()), name="labels.jsonl", warn=warn, judge=judge))


def pair(rest: str) -> str:
    return f'{{"query": "q", "document": "d", {rest}}}\n'


def test_every_field_is_read():
    line = pair(
        '"grade": 1, "outcome": "graded", "probabilities": {"0": 0.25, "1": 0.5, "-1": 0}, '
        '"raw": "1", "comment": "c", "seconds": 2, "assisted": true, "judge": "phi", "kind": "llm", '
        '"fingerprint": "f", "truncated": true'
    )
    expected = JudgmentLine(
        query="q",
        document="d",
        outcome="graded",
        grade=1,
        probabilities={0: 0.25, 1: 0.5, -1: 0.0},
        raw="1",
        comment="c",
        seconds=2.0,
        assisted=True,
        judge="phi",
        kind="llm",
        fingerprint="f",
        truncated=True,
        line=1,
    )
    assert judgments_of(line) == [expected]


@pytest.mark.parametrize(
    ("rest", "outcome", "grade"),
    [
        ('"grade": 2', "graded", 2),
        ('"grade": 2.0', "graded", 2),
        ('"grade": -1, "outcome": null', "graded", -1),
        ('"outcome": "cannot_judge"', "cannot_judge", None),
        ('"outcome": "unparsed", "grade": null', "unparsed", None),
        ('"outcome": "failed"', "failed", None),
        ('"outcome": "out_of_scale"', "out_of_scale", None),
        ('"outcome": "out_of_scale", "grade": 10', "out_of_scale", 10),
    ],
)
def test_the_outcome_is_graded_unless_said_otherwise(rest, outcome, grade):
    assert judgments_of(pair(rest)) == [JudgmentLine("q", "d", outcome, grade, line=1)]


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        (
            '"raw": "x"',
            'expected a "grade", or an "outcome" that says why there is none '
            "(cannot_judge, out_of_scale, unparsed, failed); found neither.",
        ),
        (
            '"grade": null',
            'expected a "grade", or an "outcome" that says why there is none '
            "(cannot_judge, out_of_scale, unparsed, failed); found neither.",
        ),
        ('"outcome": "graded"', 'expected a "grade" with the outcome graded, found none.'),
        ('"outcome": "failed", "grade": 0', 'expected no "grade" with the outcome failed, found 0.'),
        (
            '"outcome": "skipped"',
            "expected as \"outcome\" one of graded, cannot_judge, out_of_scale, unparsed, failed; found 'skipped'.",
        ),
        (
            '"outcome": ["graded"], "grade": 1',
            "expected as \"outcome\" one of graded, cannot_judge, out_of_scale, unparsed, failed; found ['graded'].",
        ),
        ('"grade": 0.5', 'expected a whole number as "grade", found 0.5.'),
        ('"grade": "1"', "expected a whole number as \"grade\", found '1'."),
        ('"grade": true', 'expected a whole number as "grade", found True.'),
        ('"grade": 1e300', 'expected a whole number as "grade", found 1e+300.'),
        (
            '"grade": 1, "probabilities": [0.5]',
            'expected as "probabilities" an object of grades and numbers from 0 to 1, found [0.5].',
        ),
        (
            '"grade": 1, "probabilities": {"x": 0.5}',
            "expected as \"probabilities\" an object of grades and numbers from 0 to 1, found {'x': 0.5}.",
        ),
        (
            '"grade": 1, "probabilities": {"1": 1.5}',
            "expected as \"probabilities\" an object of grades and numbers from 0 to 1, found {'1': 1.5}.",
        ),
        ('"grade": 1, "seconds": -1', 'expected as "seconds" a number from 0 on, found -1.'),
        ('"grade": 1, "seconds": true', 'expected as "seconds" a number from 0 on, found True.'),
        ('"grade": 1, "assisted": "yes"', "expected true or false as \"assisted\", found 'yes'."),
        ('"grade": 1, "raw": 1', 'expected a text as "raw", found 1.'),
    ],
)
def test_a_wrong_field_says_what_was_expected_and_found(rest, problem):
    with pytest.raises(FileError) as caught:
        judgments_of(f'{{"query": "q", "document": "a", "grade": 1}}\n{pair(rest)}')
    assert str(caught.value).startswith(f"labels.jsonl:2: {problem.removesuffix('.')}")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"query": "q", "document": "d", "grade": 1', r"expected a JSON object, found '.+' ?: .+ at column \d+"),
        ("[1, 2]", r"expected a JSON object, found '\[1, 2\]'"),
        ('{"document": "d", "grade": 1}', r'expected a text that is not empty as "query", found none'),
        (
            '{"query": "q", "document": "", "grade": 1}',
            r"expected a text that is not empty as \"document\", found ''",
        ),
    ],
)
def test_a_bad_line_is_an_error_with_its_line(line, problem):
    with pytest.raises(FileError, match=rf"^labels\.jsonl:3: {problem}; \w[^;]*\.$"):
        judgments_of(pair('"grade": 1') + f"\n{line}\n")


def test_ids_may_be_numbers():
    assert judgments_of('{"query": 1, "document": 42, "grade": 0}') == [JudgmentLine("1", "42", "graded", 0, line=1)]


def test_unknown_keys_are_left_out_with_one_warning():
    warnings = []
    line = '{"query": "q", "document": "%s", "grade": 1, "author": "x", "grades": 2}\n'
    assert len(judgments_of(line % "a" + line % "b", warnings)) == 2
    assert warnings == [
        "labels.jsonl: keys that judgments do not have were left out: "
        "'author' (first at line 1), 'grades' (first at line 1)."
    ]


def test_a_repeated_judgment_is_one_and_a_warning():
    warnings = []
    assert len(judgments_of(pair('"grade": 1') + pair('"grade": 1'), warnings)) == 1
    assert warnings == [
        "labels.jsonl: 1 line says again what an earlier line said, and was counted once: "
        "line 2 repeats line 1 (query 'q', document 'd')."
    ]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ('"grade": 1', '"grade": 0', "0 here and 1 at line 1"),
        ('"grade": 1', '"outcome": "failed"', "failed here and 1 at line 1"),
        ('"outcome": "unparsed"', '"outcome": "failed"', "failed here and unparsed at line 1"),
        ('"grade": 5', '"grade": 5, "outcome": "out_of_scale"', "out_of_scale 5 here and 5 at line 1"),
    ],
)
def test_two_different_judgments_of_a_pair_name_both_lines(first, second, found):
    with pytest.raises(FileError, match=rf"^labels\.jsonl:2: .*found {found}; keep one of them\.$"):
        judgments_of(pair(first) + pair(second))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ('"judge": "a"', '"judge": "b"', "b here and a at line 1"),
        ('"judge": "a", "kind": "llm"', '"judge": "a", "kind": "person"', "person a here and llm a at line 1"),
        ('"judge": "a", "fingerprint": "1"', '"judge": "a", "fingerprint": "2"', "a 2 here and a 1 at line 1"),
        ('"judge": "a"', '"comment": ""', "none here and a at line 1"),
    ],
)
def test_a_file_of_several_judges_is_an_error(first, second, found):
    data = pair(f'"grade": 1, {first}') + f'{{"query": "q", "document": "e", "grade": 1, {second}}}\n'
    with pytest.raises(FileError) as caught:
        judgments_of(data)
    assert str(caught.value) == (
        f"labels.jsonl:2: expected the judgments of one judge, found {found}; "
        "name one of them, or make a file for each."
    )


SEVERAL = "".join(
    f'{{"query": "q", "document": "d", "grade": {grade}, "judge": "{judge}", "fingerprint": "{mark}"}}\n'
    for grade, judge, mark in ((0, "phi", "f1f1f1f1"), (1, "phi", "f2f2f2f2"), (2, "ada", ""))
)


@pytest.mark.parametrize(("judge", "grade"), [("ada", 2), ("f1f1f1", 0), ("f2f2f2f2", 1)])
def test_one_judge_of_several_can_be_picked(judge, grade):
    assert [line.grade for line in judgments_of(SEVERAL, judge=judge)] == [grade]


def test_a_name_that_two_judges_share_picks_none_of_them():
    with pytest.raises(FileError, match="found phi f2f2f2f2 here and phi f1f1f1f1 at line 1; name one of them"):
        judgments_of(SEVERAL, judge="phi")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (SEVERAL, "found: phi f1f1f1f1, phi f2f2f2f2, ada."),
        (pair('"grade": 1'), "found: none."),
        ("q\td\t2\n", "found qrels, which name no judge."),
    ],
)
def test_a_judge_that_the_file_lacks_is_answered_with_those_it_has(data, found):
    with pytest.raises(FileError) as caught:
        judgments_of(data, judge="eve")
    assert str(caught.value) == f"labels.jsonl: expected judgments by 'eve', {found}"


@pytest.mark.parametrize("data", ["q\td\t2\n", "q 0 d 2\n", "q d 2\n"])
def test_qrels_are_judgments_too(data):
    assert judgments_of(data) == [JudgmentLine("q", "d", "graded", 2, line=1)]


@pytest.mark.parametrize("data", ["", "\n\n"])
def test_a_blank_file_has_no_judgments(data):
    assert judgments_of(data) == []


def test_writing_leaves_out_what_is_empty():
    lines = [
        JudgmentLine("q", "d", "graded", 0, line=9),
        JudgmentLine(
            "q", "é", "failed", raw="r", comment="c", seconds=0.0, assisted=True, probabilities={1: 0.5, 0: 0.25}
        ),
    ]
    assert b"".join(json_lines(lines)).decode() == (
        '{"query":"q","document":"d","outcome":"graded","grade":0}\n'
        '{"query":"q","document":"é","outcome":"failed","probabilities":{"0":0.25,"1":0.5},"raw":"r","comment":"c",'
        '"seconds":0.0,"assisted":true}\n'
    )


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
ID = TEXT.filter(str.strip)
SAID = st.one_of(
    st.tuples(st.just("graded"), st.integers(-9, 99)),
    st.tuples(st.just("out_of_scale"), st.none() | st.integers(-9, 99)),
    st.tuples(st.sampled_from(["cannot_judge", "unparsed", "failed"]), st.none()),
)
JUDGMENT = st.builds(
    lambda query, document, said, *rest, truncated: JudgmentLine(
        query, document, *said, *rest, judge="phi", kind="llm", fingerprint="f", truncated=truncated
    ),
    ID,
    ID,
    SAID,
    st.none() | st.dictionaries(st.integers(-2, 9), st.floats(0, 1)),
    TEXT,
    TEXT,
    st.none() | st.floats(0, 1e9),
    st.booleans(),
    truncated=st.booleans(),
)


@given(st.lists(JUDGMENT, unique_by=lambda judgment: (judgment.query, judgment.document)))
def test_judgments_come_back_as_they_were_written(judgments):
    stream = io.BytesIO(b"".join(json_lines(judgments)))
    read = list(read_judgments(stream, name="x", warn=[].append))
    assert read == [replace(judgment, line=line) for line, judgment in enumerate(judgments, 1)]
