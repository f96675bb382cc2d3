import gzip
import io
from dataclasses import replace

import pytest

from judging.errors import UserError
from judging.formats.beir import BeirFolder
from judging.formats.check import check
from judging.formats.encoding import encoding_of
from tests.formats.test_beir_folder import TINY
from tests.formats.test_judgment_files import ONE, written
from tests.formats.test_lines import Trickle
from tests.formats.test_source import make_folder, make_zip
from tests.fuzz.seeds import SEEDS, packed

MESSY = {
    "corpus.jsonl": (
        b'{"_id": "d1", "title": "T", "text": "some  text"}\n'
        b'{"_id": "d2", "title": "T ", "text": "some text"}\n'
        b'{"_id": "d1", "text": "again"}\n'
        b'{"_id": "d3", "text": "caf\xe9"}\n'
        b'{"_id": "d4", "text": " "}\n'
        b'{"_id": "d5", "te\n'
    ),
    "queries.jsonl": b'{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": ""}\n',
    "qrels/test.tsv": (
        b"query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td2\t0.5\r\nq1\td1\t0\r\nq9\td9\t-1\r\nq9\td9\t-1\r\n"
    ),
}


class TestCollection:
    @pytest.mark.parametrize("kind", ["BEIR folder", "BEIR zip"])
    def test_everything_wrong_is_reported_in_one_go(self, tmp_path, kind):
        path = (
            make_folder(tmp_path / "m", MESSY) if kind == "BEIR folder" else make_zip(tmp_path / "m.zip", MESSY, "m/")
        )
        report = check(path)
        assert (report.kind, report.ok, report.errors) == (kind, False, 5)
        name = f"{path}/" if kind == "BEIR folder" else f"{path}!"
        assert [(p.file.removeprefix(name), p.line, p.expected, p.found) for p in report.problems] == [
            (
                "qrels/test.tsv",
                3,
                "a whole number as grade",
                "'0.5'; map the grades to whole numbers, or remove the line.",
            ),
            (
                "qrels/test.tsv",
                4,
                "one grade for query 'q1', document 'd1'",
                "0 here and 1 at line 2; keep one of them.",
            ),
            ("corpus.jsonl", 3, "every _id once", "'d1' here and at line 1; remove one of them."),
            (
                "corpus.jsonl",
                4,
                "UTF-8",
                "the byte 0xe9; save the file as UTF-8 (where it is Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW).",
            ),
            (
                "corpus.jsonl",
                6,
                "a JSON object",
                '\'{"_id": "d5", "te\': unexpected end of data at column 18; '
                "mend the line, or give each object a line of its own (jq -c . OLD > NEW).",
            ),
        ]
        qrels, corpus, queries = report.files
        assert (qrels.records, qrels.grades, qrels.queries) == (2, {1: 1, -1: 1}, 2)
        assert (qrels.without_document, qrels.without_query) == (["d9"], ["q9"])
        assert qrels.warnings == [
            f"{name}qrels/test.tsv: 1 line says again what an earlier line said, and was counted once: "
            "line 6 repeats line 5 (query 'q9', document 'd9')."
        ]
        assert (corpus.records, corpus.empty, corpus.repeated_texts, corpus.errors) == (3, ["d4"], 1, 3)
        assert (queries.records, queries.empty) == (2, ["q2"])
        assert str(corpus.encoding) == "not UTF-8, lines end in LF"
        assert str(qrels.encoding) == "UTF-8, lines end in CR LF"

    def test_a_good_collection_has_no_problem(self, tmp_path):
        report = check(make_folder(tmp_path / "tiny", TINY))
        assert report.ok
        assert [file.kind for file in report.files] == ["qrels", "qrels", "corpus", "queries"]

    def test_what_is_missing_does_not_keep_the_rest_from_being_checked(self, tmp_path):
        report = check(
            make_folder(tmp_path / "m", {name: data for name, data in MESSY.items() if "queries" not in name})
        )
        assert "queries.jsonl is missing" in report.problems[0].message
        assert report.errors == 6
        assert [file.kind for file in report.files] == ["corpus", "qrels"]

    def test_only_the_first_errors_are_kept_and_all_are_counted(self, tmp_path):
        path = tmp_path / "qrels.tsv"
        path.write_text("q\td\t1\n" + "".join(f"q\td{n}\tx\n" for n in range(100)))
        report = check(path, keep=3)
        assert (report.errors, len(report.problems)) == (100, 3)

    def test_repeated_ids_without_end_are_found_quickly(self, tmp_path):
        path = tmp_path / "corpus.jsonl"
        path.write_text("".join(f'{{"_id": "d{n % 5_000}", "text": ""}}\n' for n in range(20_000)))
        report = check(path)
        assert report.errors == 15_000
        assert report.problems[19].found == "'d19' here and at line 20; remove one of them."


class TestFile:
    @pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed.kind], ids=lambda seed: seed.name)
    def test_its_kind_is_told_by_name_and_content(self, tmp_path, seed):
        path = tmp_path / seed.name
        path.write_bytes(packed(seed.data, seed.pack))
        report = check(path)
        assert report.problems == []
        assert report.kind == seed.kind
        assert report.files[0].records > 0

    @pytest.mark.parametrize(
        ("name", "data", "kind"),
        [
            ("x.txt", "q 0 d 1\n", "qrels"),
            ("x.txt", "q\td\t1\n", "qrels"),
            ("x.txt", "q Q0 d 1 2.5 t\n", "run"),
            ("x.txt", "301\tthree four five\n", "topics"),
            ("x.txt", "<top><num>1<title>a</top>", "topics"),
            ("x", '{"query": "q", "document": "d", "grade": 1}', "judgments"),
            ("topics.jsonl", '{"_id": "q", "text": "x"}', "queries"),
            ("x.jsonl", '{"_id": "q", "text": "x"}', "corpus"),
            ("qrels.tsv", "", "qrels"),
            ("corpus.jsonl.gz", "", "corpus"),
        ],
    )
    def test_without_a_telling_name_the_first_line_decides(self, tmp_path, name, data, kind):
        path = tmp_path / name
        path.write_bytes(gzip.compress(data.encode()) if name.endswith(".gz") else data.encode())
        assert check(path).kind == kind

    def test_what_it_is_can_be_said(self, tmp_path):
        path = tmp_path / "x.jsonl"
        path.write_text('{"_id": "q", "text": "x"}\n')
        assert check(path, kind="queries").files[0].queries == 1
        with pytest.raises(UserError, match="expected as kind one of corpus, queries, topics, qrels, run, judgments"):
            check(path, kind="documents")

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("none.txt", "expected a file, found nothing of that name; check the path."),
            (
                "five.txt",
                "expected 2 columns parted by a tab (topics), 3 (BEIR qrels), 4 (TREC qrels) or 6 (a TREC run), ",
            ),
            (
                "empty.txt",
                "expected a file of the kind corpus, queries, topics, qrels, run, judgments; found none of them.",
            ),
        ],
    )
    def test_what_cannot_be_told_is_a_problem(self, tmp_path, name, problem):
        (tmp_path / "five.txt").write_text("one two three four five\n")
        (tmp_path / "empty.txt").write_text("")
        report = check(tmp_path / name)
        assert (report.kind, report.errors) == ("unknown", 1)
        assert problem in report.problems[0].message

    def test_a_run_tells_where_its_ranks_and_scores_disagree(self, tmp_path):
        path = tmp_path / "run.txt"
        path.write_text(
            "q Q0 a 1 3 t\nq Q0 b 2 2 t\nr Q0 a 1 1 t\nr Q0 b 2 2 t\nr Q0 c 3 0 t\ns Q0 a 0 5 t\ns Q0 b 1 5 t\n"
        )
        (file,) = check(path).files
        assert (file.records, file.queries, file.rank_disagreements) == (7, 3, 4)

    def test_judgments_tell_judges_outcomes_and_grades(self, tmp_path):
        path = tmp_path / "labels.csv"
        other = replace(ONE, judge="ada", fingerprint="", outcome="failed", grade=None)
        path.write_bytes(written("csv", [ONE, other, replace(ONE, document="e", grade=2)]))
        report = check(path)
        assert report.ok
        (file,) = report.files
        assert file.judges == {"llm +phi f": 2, "llm ada": 1}
        assert file.outcomes == {"graded": 2, "failed": 1}
        assert file.grades == {-1: 1, 2: 1}

    @pytest.mark.parametrize("name", ["run.txt", "qrels.txt", "labels.csv"])
    def test_ids_that_a_collection_lacks_are_named(self, tmp_path, name):
        path = tmp_path / name
        data = {
            "run.txt": b"q1 Q0 d1 1 2 t\nq1 Q0 D1 2 1 t\nq7 Q0 d1 1 1 t\n",
            "qrels.txt": b"q1 0 d1 1\nq1 0 D1 1\nq7 0 d1 1\n",
            "labels.csv": b"query,document,grade\nq1,d1,1\nq1,D1,1\nq7,d1,1\n",
        }[name]
        path.write_bytes(data)
        (file,) = check(path, against=BeirFolder(make_folder(tmp_path / "tiny", TINY))).files
        assert (file.without_document, file.without_query) == (["D1"], ["q7"])

    def test_a_folder_of_runs_is_checked_file_by_file(self, tmp_path):
        (tmp_path / "a.txt").write_text("q Q0 d 1 1 t\n")
        (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"q Q0 d 1 nan t\n"))
        report = check(tmp_path)
        assert (report.kind, report.errors) == ("folder", 1)
        assert [(file.kind, file.records, file.errors) for file in report.files] == [("run", 1, 0), ("run", 0, 1)]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "UTF-8, lines end in LF"),
        (b"\xef\xbb\xbfa\n", "UTF-8 with a byte order mark, lines end in LF"),
        (b"a\r\nb\r\n", "UTF-8, lines end in CR LF"),
        (b"a\r\nb\n", "UTF-8, lines end in CR LF and LF"),
        (b"\xe9\n", "not UTF-8, lines end in LF"),
        ("donâ€™t Ã© \n".encode(), "UTF-8, lines end in LF, 2 places of broken encoding such as â€™"),
        ("garçon São\n".encode(), "UTF-8, lines end in LF"),
    ],
)
def test_the_encoding_of_a_file_is_told(data, shown):
    assert str(encoding_of(io.BytesIO(data), "a.txt")) == shown
    assert str(encoding_of(io.BytesIO(gzip.compress(data)), "a.txt.gz")) == shown


def test_an_end_of_line_that_is_cut_in_two_by_a_short_read_is_one():
    assert str(encoding_of(Trickle(b"a\r\nb\n"), "a.txt")) == "UTF-8, lines end in CR LF and LF"
    assert str(encoding_of(Trickle(b"\r\na\r\n"), "a.txt")) == "UTF-8, lines end in CR LF"
