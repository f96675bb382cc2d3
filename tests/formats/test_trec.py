import io

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError, UserError
from judging.formats.records import Qrel, RunLine
from judging.formats.trec import qrels_lines, read_qrels, read_run, run_lines

ID = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda s: s.split() == [s]
)


def qrels_of(data: str, warnings: list[str] | None = None) -> list[tuple[str, str, int]]:
    warn = [].append if warnings is None else warnings.append
    return [(q.query, q.document, q.grade) for q in read_qrels(io.BytesIO(data.encode()), name="qrels.txt", warn=warn)]


def run_of(data: str) -> list[RunLine]:
    return list(read_run(io.BytesIO(data.encode()), name="run.txt"))


def written(lines_of, records) -> bytes:
    return b"".join(lines_of(records))


class TestQrels:
    @pytest.mark.parametrize(
        "data",
        [
            "q1 0 d1 1\nq2 0 d2 -1\n",
            "q1 Q0 d1 1\r\nq2 Q0 d2 -1",
            "\ufeffq1\t0\td1\t1.0\n\nq2  0\td2   -1  \n",
        ],
    )
    def test_the_same_rows_are_read_from_every_form(self, data):
        assert qrels_of(data) == [("q1", "d1", 1), ("q2", "d2", -1)]

    @pytest.mark.parametrize(("line", "count"), [("q d 1", 3), ("q 0 d 1 x", 5), ("q Q0 d 1 2.5 tag", 6)])
    def test_another_number_of_columns_is_an_error(self, line, count):
        with pytest.raises(FileError) as caught:
            qrels_of(f"q 0 a 1\n{line}\n")
        expected = f"qrels.txt:2: expected 4 columns (query, 0, document, grade), got {count}: {line!r}; mend"
        assert str(caught.value).startswith(expected)

    @pytest.mark.parametrize("text", ["0.5", "nan", "x", "1_0"])
    def test_another_grade_is_an_error(self, text):
        with pytest.raises(FileError, match=rf"^qrels\.txt:1: expected a whole number as grade, found '{text}'"):
            qrels_of(f"q 0 d {text}\n")

    def test_other_unicode_spaces_belong_to_the_id(self):
        assert qrels_of("q\xa01 0 d\u20281 1\n") == [("q\xa01", "d\u20281", 1)]

    def test_a_repeated_pair_is_one_row_and_a_warning(self):
        warnings = []
        assert qrels_of("q 0 d 1\nq 0 d 1\n", warnings) == [("q", "d", 1)]
        assert warnings == [
            "qrels.txt: 1 line says again what an earlier line said, and was counted once: "
            "line 2 repeats line 1 (query 'q', document 'd')."
        ]

    def test_a_repeated_pair_with_another_grade_names_both_lines(self):
        with pytest.raises(FileError, match=r"^qrels\.txt:3: .* found 0 here and 1 at line 1; keep one of them\.$"):
            qrels_of("q 0 d 1\nr 0 d 1\nq 0 d 0\n")

    def test_writing_keeps_the_order(self):
        qrels = [Qrel("b", "d", 1), Qrel("a", "é", -1), Qrel("B", "9", 3)]
        assert written(qrels_lines, qrels) == "b 0 d 1\na 0 é -1\nB 0 9 3\n".encode()

    @given(st.dictionaries(st.tuples(ID, ID), st.integers(-9, 99)))
    def test_what_is_written_is_read(self, grades):
        data = written(qrels_lines, [Qrel(q, d, g) for (q, d), g in grades.items()])
        read = [(q.query, q.document, q.grade) for q in read_qrels(io.BytesIO(b"\n" + data), name="x", warn=[].append)]
        assert read == [(q, d, g) for (q, d), g in grades.items()]


class TestRun:
    def test_lines_come_in_the_order_and_with_the_ranks_of_the_file(self):
        data = "q1 Q0 d2 7 1e-3 bm25\r\nq1 Q0 d1 0 2.5E+1 bm25\nq0\tQ0\td1\t-1\t-.5\tx\n"
        assert run_of(data) == [
            RunLine("q1", "d2", 7, 0.001, "bm25", 1),
            RunLine("q1", "d1", 0, 25.0, "bm25", 2),
            RunLine("q0", "d1", -1, -0.5, "x", 3),
        ]

    def test_ties_are_kept(self):
        assert [line.score for line in run_of("q Q0 a 1 2 t\nq Q0 b 1 2 t\n")] == [2.0, 2.0]

    @pytest.mark.parametrize("score", ["nan", "NaN", "inf", "-inf", "infinity", "1e999", "abc", "1_0", "1,5"])
    def test_a_score_that_is_no_finite_number_is_an_error(self, score):
        with pytest.raises(FileError) as caught:
            run_of(f"q Q0 a 1 2.0 t\nq Q0 d 2 {score} t\n")
        assert (
            str(caught.value)
            == f"run.txt:2: expected a finite number as score, found {score!r}; mend or remove the line."
        )

    @pytest.mark.parametrize("rank", ["x", "1.5", "1_0"])
    def test_a_rank_that_is_no_whole_number_is_an_error(self, rank):
        with pytest.raises(FileError, match=r"^run\.txt:1: expected a whole number as rank, found "):
            run_of(f"q Q0 d {rank} 2.0 t\n")

    @pytest.mark.parametrize(
        ("line", "count"), [("q Q0 d 1 2.0", 5), ("q Q0 d 1 2.0 my tag", 7), ("q 0 d 1", 4), ("q d 1", 3)]
    )
    def test_another_number_of_columns_is_an_error(self, line, count):
        with pytest.raises(FileError) as caught:
            run_of(f"{line}\n")
        expected = f"run.txt:1: expected 6 columns (query, Q0, document, rank, score, tag), got {count}: {line!r}; mend"
        assert str(caught.value).startswith(expected)

    @pytest.mark.parametrize(
        ("between", "line"),
        [("", 2), ("q Q0 e 2 1 t\n", 3), ("r Q0 d 1 1 t\n", 3), ("r Q0 d 1 1 t\nq Q0 f 1 1 t\ns Q0 d 1 1 t\n", 5)],
    )
    def test_a_document_twice_in_one_query_names_both_lines(self, between, line):
        with pytest.raises(FileError) as caught:
            run_of(f"q Q0 d 1 3 t\n{between}q Q0 d 9 1 t\n")
        assert str(caught.value) == (
            f"run.txt:{line}: expected every document once a query, found document 'd' in query 'q' here and at "
            "line 1; remove one of them."
        )

    @given(st.lists(st.tuples(st.sampled_from("pqrs"), st.sampled_from("abcdefgh")), max_size=30))
    def test_the_first_repeated_document_is_found_however_the_lines_are_mixed(self, pairs):
        data = "".join(f"{query} Q0 {document} 1 1 t\n" for query, document in pairs)
        again = next((n for n, pair in enumerate(pairs) if pair in pairs[:n]), None)
        if again is None:
            assert [(line.query, line.document) for line in run_of(data)] == pairs
            return
        with pytest.raises(FileError) as caught:
            run_of(data)
        assert caught.value.line == again + 1
        assert str(caught.value).endswith(f"at line {pairs.index(pairs[again]) + 1}; remove one of them.")

    def test_writing_counts_ranks_from_1_in_each_query(self):
        lines = [
            RunLine("q2", "b", 0, 2.5, "my  run"),
            RunLine("q2", "a", 1, 1e-20, "x"),
            RunLine("q1", "b", 5, 1 / 3),
            RunLine("q2", "c", 7, -1, "x"),
        ]
        assert written(run_lines, lines) == (
            b"q2 Q0 b 1 2.5 my-run\nq2 Q0 a 2 1e-20 x\nq1 Q0 b 1 0.3333333333333333 run\nq2 Q0 c 3 -1.0 x\n"
        )

    @pytest.mark.parametrize("score", [float("nan"), float("inf")])
    def test_writing_refuses_a_score_that_is_no_finite_number(self, score):
        with pytest.raises(UserError, match=r"finite number as score; found (nan|inf) for query 'q', document 'd'"):
            written(run_lines, [RunLine("q", "d", 1, score)])

    @given(st.dictionaries(st.tuples(ID, ID), st.floats(allow_nan=False, allow_infinity=False)))
    def test_what_is_written_is_read(self, scores):
        data = written(run_lines, [RunLine(q, d, 1, score, "t") for (q, d), score in scores.items()])
        read = [(line.query, line.document, line.score) for line in read_run(io.BytesIO(b"\n" + data), name="x")]
        assert read == [(q, d, score) for (q, d), score in scores.items()]


def test_what_is_written_loads_unchanged_in_ir_measures_and_pytrec_eval():
    grades = {("0042", "Nike"): 2, ("0042", "nike"): -1, ("é", "10"): 0}
    qrels = written(qrels_lines, [Qrel(q, d, g) for (q, d), g in grades.items()]).decode()
    run = written(run_lines, [RunLine("é", "9", 1, 1e-7), RunLine("é", "10", 2, -3.25)]).decode()

    assert {(q.query_id, q.doc_id): q.relevance for q in ir_measures.read_trec_qrels(qrels)} == grades
    assert [(s.query_id, s.doc_id, s.score) for s in ir_measures.read_trec_run(run)] == [
        ("é", "9", 1e-7),
        ("é", "10", -3.25),
    ]
    assert pytrec_eval.parse_qrel(io.StringIO(qrels)) == {"0042": {"Nike": 2, "nike": -1}, "é": {"10": 0}}
    assert pytrec_eval.parse_run(io.StringIO(run)) == {"é": {"9": 1e-7, "10": -3.25}}


@pytest.mark.parametrize("bad", ["", " ", "a b", "a\tb", "a\n", " a", "a\xa0b", "a\u2028b", "a\x1cb"])
@pytest.mark.parametrize("what", ["query", "document"])
def test_writing_refuses_an_id_that_is_empty_or_holds_white_space(bad, what):
    query, document = (bad, "d") if what == "query" else ("q", bad)
    for lines_of, record in ((qrels_lines, Qrel(query, document, 1)), (run_lines, RunLine(query, document, 1, 1.0))):
        with pytest.raises(UserError) as caught:
            written(lines_of, [record])
        assert f"a {what} id must not be empty" in str(caught.value)
        assert repr(bad) in str(caught.value)
