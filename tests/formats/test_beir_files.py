import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import UserError
from judging.formats.beir import BeirFolder
from judging.formats.beir_files import beir_files, write_folder, write_zip
from judging.formats.records import Document, Qrel, Query
from tests.formats.test_beir import ID, TEXT

METADATA = st.dictionaries(st.sampled_from("abc"), TEXT | st.integers(-9, 9) | st.lists(TEXT, max_size=2))
DOCUMENTS = st.lists(st.builds(Document, ID, TEXT, TEXT, METADATA), unique_by=lambda document: document.id)
QUERIES = st.lists(st.builds(Query, ID, TEXT, METADATA), unique_by=lambda query: query.id)
QRELS = st.dictionaries(st.tuples(ID, ID), st.integers(-2, 9))


def packed(documents, queries, qrels, folder="tiny") -> bytes:
    stream = io.BytesIO()
    write_zip(stream, beir_files(documents=documents, queries=queries, qrels=qrels), folder=folder)
    return stream.getvalue()


def collection(path):
    files = BeirFolder(path)
    qrels = {
        split: [(q.query, q.document, q.grade) for q in files.qrels(split, warn=[].append)] for split in files.splits()
    }
    return list(files.documents()), list(files.queries()), qrels


SMALL = (
    [Document("d2", "T", "x", {"year": 1}), Document("d1", "", "é")],
    [Query("q1", "a", {"narrative": "n"})],
    {"test": [Qrel("q1", "d2", 1), Qrel("q1", "d1", 0)], "dev": []},
)


def test_a_folder_holds_corpus_queries_and_each_split(tmp_path):
    documents, queries, qrels = SMALL
    write_folder(tmp_path / "out", beir_files(documents=documents, queries=queries, qrels=qrels))
    files = {path.relative_to(tmp_path / "out").as_posix(): path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert files == {
        "corpus.jsonl": '{"_id":"d2","title":"T","text":"x","metadata":{"year":1}}\n'
        '{"_id":"d1","title":"","text":"é","metadata":{}}\n'.encode(),
        "queries.jsonl": b'{"_id":"q1","text":"a","metadata":{"narrative":"n"}}\n',
        "qrels/dev.tsv": b"query-id\tcorpus-id\tscore\n",
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t0\nq1\td2\t1\n",
    }


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "queries.jsonl").write_text("mine")
    with pytest.raises(UserError, match=r"queries\.jsonl: expected a folder without such a file"):
        write_folder(tmp_path, beir_files(documents=[], queries=[], qrels={}))
    assert (tmp_path / "queries.jsonl").read_text() == "mine"


def test_a_zip_has_the_same_bytes_each_time_and_no_times():
    one, other = packed(*SMALL), packed(*SMALL)
    assert one == other
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "tiny/corpus.jsonl",
            "tiny/queries.jsonl",
            "tiny/qrels/dev.tsv",
            "tiny/qrels/test.tsv",
        ]
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_zip_can_be_sent_while_it_is_written(tmp_path):
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data)
            return len(data)

    pipe = Pipe()
    documents, queries, qrels = SMALL
    write_zip(pipe, beir_files(documents=documents, queries=queries, qrels=qrels), folder="tiny")
    path = tmp_path / "tiny.zip"
    path.write_bytes(pipe.data)
    assert collection(path)[0] == documents


@given(DOCUMENTS, QUERIES, QRELS)
def test_what_is_written_is_read_and_written_alike(tmp_path_factory, documents, queries, grades):
    data = packed(documents, queries, {"test": [Qrel(q, d, grade) for (q, d), grade in grades.items()]})
    path = tmp_path_factory.mktemp("zip") / "tiny.zip"
    path.write_bytes(data)
    found = collection(path)
    assert found == (documents, queries, {"test": sorted((q, d, grade) for (q, d), grade in grades.items())})
    again = {split: [Qrel(*row) for row in rows] for split, rows in found[2].items()}
    assert packed(found[0], found[1], again) == data
