import csv
import io

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError, UserError
from judging.formats.beir import (
    document_lines,
    qrels_lines,
    query_lines,
    read_documents,
    read_qrels,
    read_queries,
)
from judging.formats.records import Document, Qrel, Query

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
ID = st.text(st.characters(exclude_characters="\0\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def documents_of(*lines: str | bytes) -> list[Document]:
    data = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)
    return list(read_documents(io.BytesIO(data), name="corpus.jsonl"))


def qrels_of(data: str, warnings: list[str] | None = None) -> list[tuple[str, str, int]]:
    warn = [].append if warnings is None else warnings.append
    return [(q.query, q.document, q.grade) for q in read_qrels(io.BytesIO(data.encode()), name="test.tsv", warn=warn)]


def written(lines_of, records) -> bytes:
    return b"".join(lines_of(records))


class TestDocuments:
    def test_a_document_has_id_title_text_and_metadata(self):
        line = '{"_id": "d1", "title": "T", "text": "X", "metadata": {"url": "u"}, "year": 1999}'
        assert documents_of(line) == [Document("d1", "T", "X", {"url": "u", "year": 1999})]

    @pytest.mark.parametrize(
        ("identifier", "expected"),
        [
            ('"0042"', "0042"),
            ("42", "42"),
            ("-1", "-1"),
            ('"Nike"', "Nike"),
            ('"a b "', "a b "),
            ('"\\u00a0x"', "\xa0x"),
        ],
    )
    def test_an_id_is_kept_as_it_is_and_a_number_becomes_its_text(self, identifier, expected):
        assert documents_of(f'{{"_id": {identifier}}}') == [Document(expected)]

    def test_ids_that_differ_in_zeros_or_case_are_different(self):
        lines = ('{"_id": "0042"}', '{"_id": "42"}', '{"_id": "Nike"}', '{"_id": "nike"}')
        assert [document.id for document in documents_of(*lines)] == ["0042", "42", "Nike", "nike"]

    @pytest.mark.parametrize("identifier", ["true", "1.0", '""', '" "', "null", "[]", "123456789012345678901234567890"])
    def test_an_id_that_is_no_text_and_no_whole_number_is_an_error(self, identifier):
        with pytest.raises(FileError, match=r'^corpus\.jsonl:2: expected a text that is not empty as "_id", found '):
            documents_of('{"_id": "d1"}', f'{{"_id": {identifier}}}')

    def test_a_missing_id_is_an_error(self):
        with pytest.raises(
            FileError, match=r'^corpus\.jsonl:1: expected a text .* as "_id", found none; give it one, in quotes\.$'
        ):
            documents_of('{"id": "d1", "text": "x"}')

    @pytest.mark.parametrize("line", ['{"_id": "d"}', '{"_id": "d", "title": null, "text": null, "metadata": null}'])
    def test_missing_and_null_texts_are_empty(self, line):
        assert documents_of(line) == [Document("d", "", "", {})]

    @pytest.mark.parametrize("key", ["title", "text"])
    @pytest.mark.parametrize("value", ["1", "[]", "false", "{}"])
    def test_a_title_or_text_that_is_no_text_is_an_error(self, key, value):
        with pytest.raises(FileError, match=rf'^corpus\.jsonl:1: expected a text as "{key}", found '):
            documents_of(f'{{"_id": "d", "{key}": {value}}}')

    @pytest.mark.parametrize(
        ("rest", "metadata"),
        [
            ('"metadata": {}', {}),
            ('"metadata": []', {}),
            ('"metadata": "m"', {"metadata": "m"}),
            ('"metadata": {"a": 1}, "a": 1', {"a": 1}),
            ('"metadata": {"a": 1}, "b": [2]', {"a": 1, "b": [2]}),
        ],
    )
    def test_no_metadata_is_lost(self, rest, metadata):
        assert documents_of(f'{{"_id": "d", {rest}}}')[0].metadata == metadata

    def test_two_values_for_one_piece_of_metadata_are_an_error(self):
        with pytest.raises(FileError, match=r"expected one value of 'a'"):
            documents_of('{"_id": "d", "metadata": {"a": 1}, "a": 2}')

    def test_documents_do_not_share_their_metadata(self):
        one, two = documents_of('{"_id": "1"}', '{"_id": "2"}')
        assert one.metadata is not two.metadata

    @pytest.mark.parametrize(("first", "second"), [('"d1"', '"d1"'), ("7", '"7"')])
    def test_a_repeated_id_names_both_lines(self, first, second):
        with pytest.raises(
            FileError, match=r"^corpus\.jsonl:4: expected every _id once, found '.+' here and at line 1"
        ):
            documents_of(f'{{"_id": {first}}}', '{"_id": "x"}', "", f'{{"_id": {second}}}')

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ('{"_id": "d"', r"expected a JSON object, found '\{\"_id\": \"d\"': .+ at column \d+; mend the line"),
            ("[1]", r"expected a JSON object, found '\[1\]'; make lines of the list"),
            ("null", "expected a JSON object, found 'null'"),
            ('{"_id": "d", "text": NaN}', "expected a JSON object"),
            ('{"_id": "d", "text": "\\ud800"}', "surrogate"),
            ('{"_id": "d", "text": "a\\u0000b"}', "found a NUL character"),
            ('{"_id": "d", "metadata": {"a": [{"b\\u0000": 1}]}}', "found a NUL character"),
            (b'{"_id": "d", "text": "\xff"}', "expected UTF-8, found the byte 0xff"),
            (b'{"_id": "d", "text": "a\0b"}', "found a NUL byte"),
        ],
    )
    def test_a_line_that_is_no_json_object_is_an_error_with_its_line(self, line, problem):
        with pytest.raises(FileError, match=rf"^corpus\.jsonl:2: .*{problem}"):
            documents_of('{"_id": "a"}', line)

    def test_an_escaped_backslash_before_u0000_is_text(self):
        assert documents_of('{"_id": "d", "text": "\\\\u0000"}')[0].text == "\\u0000"

    def test_line_separators_inside_a_text_are_not_line_ends(self):
        text = "a\u2028b\u2029c\u0085d\x7f"
        assert documents_of(orjson.dumps({"_id": "d", "text": text}))[0].text == text

    def test_mojibake_stays_as_it_is(self):
        assert documents_of('{"_id": "d", "text": "donâ€™t"}')[0].text == "donâ€™t"

    @pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b" \r\n\r\n"])
    def test_a_blank_file_has_no_documents(self, data):
        assert list(read_documents(io.BytesIO(data), name="corpus.jsonl")) == []

    @given(
        st.lists(
            st.builds(Document, ID, TEXT, TEXT, st.dictionaries(st.sampled_from("abc"), TEXT)), unique_by=lambda d: d.id
        )
    )
    def test_documents_come_back_as_they_were_written(self, documents):
        assert list(read_documents(io.BytesIO(written(document_lines, documents)), name="c")) == documents


class TestQueries:
    def test_a_query_keeps_what_stands_beside_its_text(self):
        data = b'{"_id": 1, "text": "q", "title": "t"}\r\n{"_id": "2", "text": "r", "metadata": {"topic": "x"}}'
        expected = [Query("1", "q", {"title": "t"}), Query("2", "r", {"topic": "x"})]
        assert list(read_queries(io.BytesIO(data), name="queries.jsonl")) == expected

    def test_a_repeated_id_names_both_lines(self):
        with pytest.raises(FileError, match=r"^queries\.jsonl:2: .* found '1' here and at line 1"):
            list(
                read_queries(io.BytesIO(b'{"_id": "1", "text": "a"}\n{"_id": "1", "text": "a"}'), name="queries.jsonl")
            )

    @given(
        st.lists(st.builds(Query, ID, TEXT, st.dictionaries(st.sampled_from("abc"), TEXT)), unique_by=lambda q: q.id)
    )
    def test_queries_come_back_as_they_were_written(self, queries):
        assert list(read_queries(io.BytesIO(written(query_lines, queries)), name="q")) == queries


ROWS = [("q1", "d1", 1), ("q2", "d2", 0)]


class TestQrels:
    @pytest.mark.parametrize(
        "data",
        [
            "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0\n",
            "q1\td1\t1\nq2\td2\t0\n",
            "q1\td1\t1\nq2\td2\t0",
            "query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq2\td2\t0\r\n",
            "\ufeffquery-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0\n",
            "\ufeffq1\td1\t1\nq2\td2\t0\n",
            "Query_ID\tDoc ID\tRelevance\nq1\td1\t1\nq2\td2\t0\n",
            '"query-id"\t"corpus-id"\t"score"\n"q1"\t"d1"\t1\n"q2"\t"d2"\t"0"\n',
            "query-id corpus-id score\nq1\td1\t1\nq2\td2\t0\n",
            "query-id corpus-id score\nq1 d1 1\nq2   d2  0\n",
            "q1 d1 1\nq2 d2 0\n",
            "  q1 d1 1  \n\nq2 d2 0\n",
            "\n\nq1\td1\t1\n\nq2\td2\t0\n\n",
            "q1\td1\t 1 \nq2\td2\t0.0\n",
        ],
    )
    def test_the_same_rows_are_read_from_every_form(self, data):
        assert qrels_of(data) == ROWS

    def test_a_row_knows_its_line(self):
        data = b"query-id\tcorpus-id\tscore\nq\td\t2\n\nq\te\t1\n"
        assert list(read_qrels(io.BytesIO(data), name="t", warn=[].append)) == [
            Qrel("q", "d", 2, 2),
            Qrel("q", "e", 1, 4),
        ]

    @pytest.mark.parametrize(
        ("data", "row"),
        [
            ("query 1\tmy doc \t1\n", ("query 1", "my doc ", 1)),
            ("0042\t42\t1\n", ("0042", "42", 1)),
            ("qid\tdocid\t1\n", ("qid", "docid", 1)),
            ("query-id\tcorpus-id\t0\n", ("query-id", "corpus-id", 0)),
            ("a\u2028b\tc\xa0d\t1\n", ("a\u2028b", "c\xa0d", 1)),
            ("a\u2028b c\xa0d 1\n", ("a\u2028b", "c\xa0d", 1)),
            ('5" pipe\t"x\t1\n', ('5" pipe', '"x', 1)),
            ('"a ""b"""\t"c\td\t1\n'.replace("\td", ""), ('a "b"', '"c', 1)),
        ],
    )
    def test_ids_are_opaque(self, data, row):
        assert qrels_of(data) == [row]

    @pytest.mark.parametrize(
        ("text", "grade"),
        [
            ("1.0", 1),
            ("2.", 2),
            ("-1", -1),
            ("-2", -2),
            ("+1", 1),
            ("0", 0),
            ("-0", 0),
            ("10", 10),
            ("007", 7),
            ("-1.00", -1),
        ],
    )
    def test_a_grade_is_a_whole_number(self, text, grade):
        assert qrels_of(f"q\td\t{text}\n") == [("q", "d", grade)]

    @pytest.mark.parametrize(
        "text", ["0.5", "nan", "inf", "", "1e0", "1_0", "one", "0x1", "٣", "1,0", "99999", "1" * 5000, "--1"]
    )
    def test_another_grade_is_an_error_even_in_the_first_line(self, text):
        for before in ("", "q\tc\t1\n"):
            with pytest.raises(FileError, match=r"^test\.tsv:\d: expected a whole number as grade, found") as caught:
                qrels_of(f"{before}q\td\t{text}\n")
            assert caught.value.line == (2 if before else 1)

    def test_a_header_in_the_middle_is_an_error(self):
        with pytest.raises(FileError, match=r"^test\.tsv:2: expected a whole number as grade, found b?'score'"):
            qrels_of("q\td\t1\nquery-id\tcorpus-id\tscore\n")

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            ("q\td\n", "1: expected 3 columns (query, document, grade) parted by tabs, got 2: 'q\\td'."),
            ("q\td\t1\nq d 1\n", "2: expected 3 columns (query, document, grade) parted by tabs, got 1: 'q d 1'."),
            (
                "q\t0\td\t1\n",
                "1: expected 3 columns (query, document, grade) parted by tabs, got 4: 'q\\t0\\td\\t1'."
                " Four columns are TREC qrels.",
            ),
            ("q d\n", "1: expected 3 columns (query, document, grade) parted by blanks, got 2: 'q d'."),
            (
                "q d 1\nq\td\t1\n",
                "2: expected columns parted by blanks as in the lines before, found tabs in 'q\\td\\t1'.",
            ),
            ("\td\t1\n", "1: expected a query id and a document id, found '\\td\\t1'."),
            ("q\t \t1\n", "1: expected a query id and a document id, found 'q\\t \\t1'."),
        ],
    )
    def test_wrong_columns_say_what_was_found(self, data, problem):
        with pytest.raises(FileError) as caught:
            qrels_of(data)
        assert str(caught.value).startswith(f"test.tsv:{problem.removesuffix('.')}")

    @pytest.mark.parametrize("data", ["", "\n", "query-id\tcorpus-id\tscore\n", "query-id\tcorpus-id\tscore"])
    def test_a_file_without_rows_has_no_judgments(self, data):
        assert qrels_of(data) == []

    def test_a_pair_repeated_with_the_same_grade_is_one_row_and_a_warning(self):
        warnings = []
        assert qrels_of("q\td\t1\nq\te\t1\nq\td\t1.0\nq\td\t1\n", warnings) == [("q", "d", 1), ("q", "e", 1)]
        assert warnings == [
            "test.tsv: 2 lines say again what an earlier line said, and was counted once: "
            "line 3 repeats line 1 (query 'q', document 'd')."
        ]

    def test_a_pair_repeated_with_another_grade_names_both_lines(self):
        with pytest.raises(FileError) as caught:
            qrels_of("q\td\t1\nq\te\t1\nq\td\t2\n")
        assert str(caught.value) == (
            "test.tsv:3: expected one grade for query 'q', document 'd', found 2 here and 1 at line 1; "
            "keep one of them."
        )

    def test_the_same_document_for_another_query_is_no_repetition(self):
        warnings = []
        assert len(qrels_of("q\td\t1\nr\td\t1\nQ\td\t2\n", warnings)) == 3
        assert warnings == []

    def test_writing_keeps_the_order_and_has_a_header(self):
        qrels = [Qrel("b", "d", 1), Qrel("a", "é", -1), Qrel("B", "9", 3)]
        expected = "query-id\tcorpus-id\tscore\nb\td\t1\na\té\t-1\nB\t9\t3\n".encode()
        assert written(qrels_lines, qrels) == expected

    @pytest.mark.parametrize("bad", ["", " ", "a\tb", "a\nb", "a\rb"])
    def test_writing_refuses_an_id_that_a_tsv_cannot_hold(self, bad):
        for qrel, what in ((Qrel(bad, "d", 1), "query-id"), (Qrel("q", bad, 1), "corpus-id")):
            with pytest.raises(UserError) as caught:
                written(qrels_lines, [qrel])
            assert what in str(caught.value)
            assert repr(bad) in str(caught.value)

    @given(st.dictionaries(st.tuples(ID, ID), st.integers(-9, 99)))
    def test_what_is_written_is_read_alike_by_us_and_by_a_csv_reader(self, grades):
        data = written(qrels_lines, [Qrel(q, d, g) for (q, d), g in grades.items()])
        expected = [(q, d, g) for (q, d), g in grades.items()]
        assert qrels_of(data.decode()) == expected
        # As BEIR's loader opens and reads the file.
        with io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") as stream:
            rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
            next(rows)
            assert [(q, d, int(g)) for q, d, g in rows] == expected
