"""Judgments as JSON lines, CSV and Parquet: what is written comes back to the byte."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError
from judging.formats.judgment_rows import KEYS
from judging.formats.judgments import FORMS, read_all_judgments, read_judgments
from judging.formats.judgments_csv import guarded, unguarded
from judging.formats.records import JudgmentLine
from tests.formats.test_judgments import JUDGMENT, TEXT

TIME = st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
FORMULA = st.builds("".join, st.tuples(st.text("'", max_size=3), st.sampled_from("=+-@\t\r\n＝"), TEXT))
FULL = st.builds(
    lambda judgment, raw, comment, created, updated: replace(
        judgment, raw=raw, comment=comment, created_at=created, updated_at=updated
    ),
    JUDGMENT,
    TEXT | FORMULA,
    TEXT | FORMULA,
    TIME,
    TIME,
)


def written(kind: str, judgments) -> bytes:
    return b"".join(FORMS[kind](judgments))


def read(kind: str, data: bytes, **options) -> list[JudgmentLine]:
    return list(read_judgments(io.BytesIO(data), name=f"labels.{kind}", warn=[].append, **options))


def without_lines(judgments) -> list[JudgmentLine]:
    return [replace(judgment, line=0) for judgment in judgments]


@pytest.mark.parametrize("kind", FORMS)
@given(judgments=st.lists(FULL, unique_by=lambda judgment: (judgment.query, judgment.document)))
def test_everything_that_is_known_of_a_judgment_comes_back(kind, judgments):
    data = written(kind, judgments)
    found = without_lines(read(kind, data))
    assert found == judgments
    assert written(kind, found) == data


ONE = JudgmentLine(
    query="q",
    document="d",
    outcome="graded",
    grade=-1,
    probabilities={0: 0.1, -1: 1 / 3},
    raw='=HYPERLINK("http://x")\r\n',
    comment='\'@x, "y"',
    seconds=0.1,
    assisted=True,
    judge="+phi",
    kind="llm",
    fingerprint="f",
    truncated=True,
    prompt_tokens=87,
    completion_tokens=1,
    created_at=datetime(2026, 1, 31, 13, 0, 0, 1, tzinfo=timezone(timedelta(hours=1))),
    updated_at=datetime(2026, 1, 31, 12, 0, 1, tzinfo=UTC),
)


def test_a_file_of_every_kind_looks_the_same_each_time():
    assert written("csv", [ONE]).decode() == (
        "query,document,outcome,grade,probabilities,raw,comment,seconds,assisted,truncated,prompt_tokens,"
        "completion_tokens,judge,kind,fingerprint,created_at,updated_at\r\n"
        'q,d,graded,-1,"{""-1"":0.3333333333333333,""0"":0.1}","\'=HYPERLINK(""http://x"")\r\n","\'\'@x, ""y""",0.1,'
        "true,true,87,1,'+phi,llm,f,2026-01-31T12:00:00.000001Z,2026-01-31T12:00:01Z\r\n"
    )
    assert (
        written("jsonl", [ONE])
        .decode()
        .endswith('"fingerprint":"f","created_at":"2026-01-31T12:00:00.000001Z","updated_at":"2026-01-31T12:00:01Z"}\n')
    )
    assert written("parquet", [ONE]) == written("parquet", [ONE])


@pytest.mark.parametrize("kind", FORMS)
def test_times_come_back_in_utc(kind):
    (found,) = read(kind, written(kind, [ONE]))
    assert found.created_at == ONE.created_at
    assert found.created_at.tzinfo == UTC


class TestFormulas:
    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "'=", "''@"])
    def test_a_text_that_a_spreadsheet_would_run_is_guarded(self, start):
        assert guarded(f"{start}1+1") == f"'{start}1+1"

    @pytest.mark.parametrize("text", ["", "'", "it's", "'quoted'", "1", "a=b", " =1"])
    def test_other_texts_stand_as_they_are(self, text):
        assert guarded(text) == text == unguarded(text)

    @given(TEXT | FORMULA)
    def test_guarding_is_undone_by_reading(self, text):
        assert unguarded(guarded(text)) == text

    @given(st.lists(FULL, unique_by=lambda judgment: (judgment.query, judgment.document)))
    def test_no_cell_of_text_begins_like_a_formula(self, judgments):
        rows = csv.DictReader(io.StringIO(written("csv", judgments).decode(), newline=""))
        for row in rows:
            assert not any(value.startswith(tuple("=+-@\t\r\n")) for key, value in row.items() if key != "grade")


class TestCsv:
    @pytest.mark.parametrize(
        "data",
        [
            "query,document,grade,comment\r\nq,d,1,a\r\n",
            "\ufeffquery,document,grade,comment\nq,d,1,a\n",
            "query;document;grade;comment\nq;d;1.0;a",
            "query\tdocument\tgrade\tcomment\n\nq\td\t1\ta\n\n",
            'comment,grade,document,"query"\n"a"," 1 ",d,q\n',
            "\n\nquery, document, grade, comment\nq,d,1,a\n",
        ],
    )
    def test_delimiters_line_ends_and_order_of_columns_may_differ(self, data):
        assert without_lines(read("csv", data.encode())) == [JudgmentLine("q", "d", "graded", 1, comment="a")]

    def test_a_judgment_knows_the_line_where_it_begins(self):
        data = 'query,document,grade,comment\nq,a,1,"x\n\ny"\nq,b,0,\n'
        assert [(one.document, one.line) for one in read("csv", data.encode())] == [("a", 2), ("b", 5)]

    def test_flags_may_be_written_as_spreadsheets_do(self):
        data = "query,document,grade,assisted,truncated\nq,a,1,TRUE,0\nq,b,1,1,False\nq,c,1,,\n"
        assert [(one.assisted, one.truncated) for one in read("csv", data.encode())] == [
            (True, False),
            (True, False),
            (False, False),
        ]

    def test_unknown_columns_are_left_out_with_a_warning(self):
        warnings = []
        stream = io.BytesIO(b"query,document,grade,author\nq,d,1,x\n")
        assert len(list(read_judgments(stream, name="labels.csv", warn=warnings.append))) == 1
        assert warnings == ["labels.csv: keys that judgments do not have were left out: 'author' (first at line 2)."]

    def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module(self):
        long = replace(ONE, raw="x" * 500_000)
        assert without_lines(read("csv", written("csv", [long]))) == [long]

    def test_reading_may_go_on_after_a_bad_record(self):
        errors = []
        data = 'query,document,grade\nq,a,x\nq,b\nq,"c"c,1\nq,d,1\n'
        assert [one.document for one in read("csv", data.encode(), on_error=errors.append)] == ["d"]
        assert [error.line for error in errors] == [2, 3, 4]

    def test_packed_files_are_read_by_the_end_of_their_name(self, tmp_path):
        import gzip

        path = tmp_path / "labels.csv.gz"
        path.write_bytes(gzip.compress(written("csv", [ONE])))
        assert without_lines(read_judgments(path, warn=[].append)) == [ONE]


class TestParquet:
    def test_a_data_frame_reads_every_column(self, tmp_path):
        path = tmp_path / "labels.parquet"
        path.write_bytes(written("parquet", [ONE, replace(ONE, query="r", grade=None, outcome="failed")]))
        frame = pandas.read_parquet(path)
        assert tuple(frame.columns) == KEYS
        assert frame["grade"].tolist()[0] == -1
        assert dict(frame["probabilities"][0]) == {-1: 1 / 3, 0: 0.1}
        assert frame["created_at"][0] == pandas.Timestamp(ONE.created_at)

    def test_a_data_frame_can_write_what_is_read(self, tmp_path):
        path = tmp_path / "labels.parquet"
        frame = pandas.DataFrame(
            {"query": ["1", "1"], "document": ["a", "b"], "grade": [2, None], "comment": ["x", None]}
        )
        frame["outcome"] = ["graded", "cannot_judge"]
        frame["created_at"] = pandas.to_datetime(["2026-01-31T12:00:00.123456789Z"] * 2)
        frame.to_parquet(path)
        time = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
        assert list(read_judgments(path, warn=[].append)) == [
            JudgmentLine("1", "a", "graded", 2, comment="x", line=1, created_at=time),
            JudgmentLine("1", "b", "cannot_judge", line=2, created_at=time),
        ]

    def test_a_file_without_the_ending_says_to_name_it(self):
        with pytest.raises(FileError, match=r"This is Parquet data, let the name end in \.parquet"):
            read("jsonl", written("parquet", [ONE]))


@pytest.mark.parametrize("kind", FORMS)
class TestSeveralJudges:
    OTHER = replace(ONE, judge="ada", fingerprint="", grade=2)

    def test_all_of_them_are_read_on_request(self, kind):
        data = written(kind, [ONE, self.OTHER])
        found = read_all_judgments(io.BytesIO(data), name=f"x.{kind}", warn=[].append)
        assert without_lines(found) == [ONE, self.OTHER]

    def test_one_judge_cannot_say_two_things_of_a_pair(self, kind):
        data = written(kind, [ONE, self.OTHER, replace(ONE, grade=0)])
        with pytest.raises(FileError, match="found 0 here and -1 at line"):
            list(read_all_judgments(io.BytesIO(data), name=f"x.{kind}", warn=[].append))

    def test_one_can_be_picked(self, kind):
        assert without_lines(read(kind, written(kind, [ONE, self.OTHER]), judge="ada")) == [self.OTHER]


@pytest.mark.parametrize("kind", FORMS)
def test_no_judgments_are_a_file_too(kind):
    assert read(kind, written(kind, [])) == []
