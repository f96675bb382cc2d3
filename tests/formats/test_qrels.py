import io

import pytest

from judging.errors import FileError
from judging.formats.qrels import read_any_qrels
from judging.formats.records import Qrel


def qrels_of(data: str) -> list[Qrel]:
    return list(read_any_qrels(io.BytesIO(data.encode()), name="labels.txt", warn=[].append))


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("q\td\t2\n", 1),
        ("query-id\tcorpus-id\tscore\nq\td\t2\n", 2),
        ("\n\nq d 2\n", 3),
        ("q 0 d 2\n", 1),
        ("q\t0\td\t2\r\n", 1),
        ("\ufeff\nq Q0 d 2", 2),
    ],
)
def test_both_forms_are_told_apart_by_their_columns(data, line):
    assert qrels_of(data) == [Qrel("q", "d", 2, line)]


def test_two_tabs_make_three_columns_whatever_blanks_the_ids_hold():
    assert qrels_of("my query\td\t2\n") == [Qrel("my query", "d", 2, 1)]


@pytest.mark.parametrize("data", ["", "\n \n"])
def test_a_blank_file_has_no_judgments(data):
    assert qrels_of(data) == []


def test_a_run_is_recognised():
    with pytest.raises(FileError) as caught:
        qrels_of("q Q0 d 1 2.5 tag\n")
    assert str(caught.value) == (
        "labels.txt:1: expected 3 columns (query, document, grade: BEIR) or 4 (query, 0, document, grade: TREC), "
        "got 6: 'q Q0 d 1 2.5 tag'. Six columns are a TREC run: import it as a run."
    )


def test_a_later_line_of_the_other_form_is_an_error():
    with pytest.raises(FileError, match=r"^labels\.txt:2: expected 4 columns"):
        qrels_of("q 0 d 2\nq d 2\n")
