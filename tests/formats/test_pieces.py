"""Files made piece by piece, in a folder and in a zip."""

import io
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.formats.beir import BeirFolder, document_lines, qrels_lines, query_lines
from judging.formats.pieces import write_folder, zip_pieces
from judging.formats.records import Document, Qrel, Query
from tests.formats.test_beir import ID, TEXT

METADATA = st.dictionaries(st.sampled_from("abc"), TEXT | st.integers(-9, 9) | st.lists(TEXT, max_size=2))
DOCUMENTS = st.lists(st.builds(Document, ID, TEXT, TEXT, METADATA), unique_by=lambda document: document.id)
QUERIES = st.lists(st.builds(Query, ID, TEXT, METADATA), unique_by=lambda query: query.id)
QRELS = st.dictionaries(st.tuples(ID, ID), st.integers(-2, 9))


def files_of(documents, queries, qrels):
    return [
        ("corpus.jsonl", document_lines(documents)),
        ("queries.jsonl", query_lines(queries)),
        ("qrels/test.tsv", qrels_lines(qrels)),
    ]


def packed(*records) -> bytes:
    return b"".join(zip_pieces(files_of(*records), folder="tiny"))


def collection(path):
    files = BeirFolder(path)
    qrels = [(q.query, q.document, q.grade) for q in files.qrels("test", warn=[].append)]
    return list(files.documents()), list(files.queries()), qrels


SMALL = (
    [Document("d2", "T", "x", {"year": 1, "b": {"z": 1, "a": [{"d": 1, "c": 2}]}}), Document("d1", "", "é")],
    [Query("q1", "a", {"narrative": "n"})],
    [Qrel("q1", "d2", 1), Qrel("q1", "d1", 0)],
)


def test_a_folder_holds_corpus_queries_and_qrels_with_sorted_metadata(tmp_path):
    write_folder(tmp_path / "out", files_of(*SMALL))
    files = {path.relative_to(tmp_path / "out").as_posix(): path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert files == {
        "corpus.jsonl": '{"_id":"d2","title":"T","text":"x","metadata":{"b":{"a":[{"c":2,"d":1}],"z":1},"year":1}}\n'
        '{"_id":"d1","title":"","text":"é","metadata":{}}\n'.encode(),
        "queries.jsonl": b'{"_id":"q1","text":"a","metadata":{"narrative":"n"}}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td1\t0\n",
    }


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "queries.jsonl").write_text("mine")
    with pytest.raises(FileExistsError):
        write_folder(tmp_path, files_of([], [], []))
    assert (tmp_path / "queries.jsonl").read_text() == "mine"


def test_whole_numbers_beyond_64_bits_are_written_as_they_are_read():
    (line,) = document_lines([Document("d", metadata={"a": [10**22, -(10**22)], "b": 2**64 - 1, "c": {"d": 2**64}})])
    assert line == (
        b'{"_id":"d","title":"","text":"",'
        b'"metadata":{"a":[1e+22,-1e+22],"b":18446744073709551615,"c":{"d":1.8446744073709552e+19}}}\n'
    )


def test_a_zip_has_the_same_bytes_each_time_and_no_times():
    one, other = packed(*SMALL), packed(*SMALL)
    assert one == other
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["tiny/corpus.jsonl", "tiny/queries.jsonl", "tiny/qrels/test.tsv"]
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_zip_comes_while_its_files_are_made_and_takes_no_memory_for_what_is_gone():
    made = 0

    def pieces():
        nonlocal made
        # Does not compress well, so that the zip grows as the files do.
        for number in range(20_000):
            made = number
            yield str(number**30).encode() * 20

    tracemalloc.start()
    stream = zip_pieces([("large", pieces())], folder="f")
    size, first = 0, None
    for piece in stream:
        size += len(piece)
        first = made if first is None and size > 100 else first
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first < 1_000
    assert size > 1_000_000
    assert peak < size / 2


@given(DOCUMENTS, QUERIES, QRELS)
def test_what_is_written_is_read_and_written_alike(tmp_path_factory, documents, queries, grades):
    data = packed(documents, queries, [Qrel(q, d, grade) for (q, d), grade in grades.items()])
    path = tmp_path_factory.mktemp("zip") / "tiny.zip"
    path.write_bytes(data)
    found = collection(path)
    assert found == (documents, queries, [(q, d, grade) for (q, d), grade in grades.items()])
    assert packed(found[0], found[1], [Qrel(*row) for row in found[2]]) == data
