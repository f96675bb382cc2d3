import io
import tracemalloc
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyarrow import parquet

from judging.errors import FileError, UserError
from judging.formats.beir import BeirFolder
from judging.formats.collection import open_collection_files
from judging.formats.parquet import read_rows
from judging.formats.parquet_folder import ParquetFolder, read_documents
from judging.formats.records import Document, Qrel, Query
from tests.formats.test_beir_folder import TINY
from tests.formats.test_source import make_folder, make_zip


def shard(path: Path, rows: int = 2, **columns: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path, row_group_size=rows)
    return path


@pytest.fixture
def folder(tmp_path):
    """The layout of mteb/scifact and its like."""
    root = tmp_path / "tiny"
    shard(
        root / "corpus" / "corpus-00000-of-00002.parquet",
        _id=["d1", "d2", "0042"],
        title=["T", "", "U"],
        text=["x", "y", "z"],
    )
    shard(root / "corpus" / "corpus-00001-of-00002.parquet", _id=["42"], title=[None], text=[None])
    shard(root / "queries" / "queries-00000-of-00001.parquet", _id=["q1", "q2"], text=["a", "b"])
    pairs = {"query-id": ["q1", "q1", "q2"], "corpus-id": ["d1", "d2", "42"]}
    shard(root / "default" / "test-00000-of-00001.parquet", **pairs, score=[1.0, 0.0, -1.0])
    shard(root / "default" / "dev-00000-of-00002.parquet", **pairs, score=[2, 1, 0])
    shard(root / "default" / "dev-00001-of-00002.parquet", **{"query-id": ["q2"], "corpus-id": ["d1"], "score": [1]})
    return root


def test_the_records_are_those_of_the_shards_in_order(folder):
    files = ParquetFolder(folder)
    assert files.name == "tiny"
    assert files.splits() == ["dev", "test"]
    assert list(files.documents()) == [
        Document("d1", "T", "x"),
        Document("d2", "", "y"),
        Document("0042", "U", "z"),
        Document("42"),
    ]
    assert list(files.queries()) == [Query("q1", "a"), Query("q2", "b")]
    assert list(files.qrels("test", warn=[].append)) == [
        Qrel("q1", "d1", 1, 1),
        Qrel("q1", "d2", 0, 2),
        Qrel("q2", "42", -1, 3),
    ]
    assert list(files.qrels("dev", warn=[].append))[-1] == Qrel("q2", "d1", 1, 4)


@pytest.mark.parametrize(
    "names",
    [
        (
            "corpus/test-00000-of-00001.parquet",
            "queries/test-00000-of-00001.parquet",
            "qrels/test-00000-of-00001.parquet",
        ),
        ("corpus/corpus/0000.parquet", "queries/queries/0000.parquet", "default/test/0000.parquet"),
        ("corpus/a.parquet", "queries/b.parquet", "data/test.parquet"),
        ("corpus/x-00000-of-00001-0123abcd.parquet", "queries/x.parquet", "data/test-00000-of-00001-0123abcd.parquet"),
    ],
)
def test_shards_may_be_named_as_hugging_face_names_them(tmp_path, names):
    corpus, queries, qrels = (tmp_path / name for name in names)
    shard(corpus, id=[1], text=["x"])
    shard(queries, id=["q"], text=["y"])
    shard(qrels, query_id=["q"], corpus_id=[1], score=[3])
    files = open_collection_files(tmp_path)
    assert isinstance(files, ParquetFolder)
    assert files.splits() == ["test"]
    assert list(files.documents()) == [Document("1", "", "x")]
    assert list(files.qrels("test", warn=[].append)) == [Qrel("q", "1", 3, 1)]


def test_other_columns_are_kept_as_json_has_them(tmp_path):
    shard(
        tmp_path / "corpus" / "c.parquet",
        _id=["d"],
        text=["x"],
        url=["u"],
        year=[1999],
        nothing=[None],
        tags=[["a", "b"]],
        at=[datetime(2026, 1, 31, 12)],  # noqa: DTZ001
        day=[date(2026, 1, 31)],
        price=[Decimal("1.50")],
        nan=[float("nan")],
        metadata=[{"lang": "en", "n": None}],
    )
    shard(tmp_path / "queries" / "q.parquet", _id=["q"], text=["y"], narrative=["n"])
    files = ParquetFolder(tmp_path)
    (document,), (query,) = files.documents(), files.queries()
    assert document.metadata == {
        "url": "u",
        "year": 1999,
        "tags": ["a", "b"],
        "at": "2026-01-31T12:00:00",
        "day": "2026-01-31",
        "price": "1.50",
        "nan": None,
        "lang": "en",
    }
    assert query.metadata == {"narrative": "n"}


def test_an_id_in_two_shards_names_both_rows(folder):
    shard(folder / "corpus" / "corpus-00001-of-00002.parquet", _id=["x", "d2"], text=["", ""])
    with pytest.raises(FileError) as caught:
        list(ParquetFolder(folder).documents())
    first, second = (folder / "corpus" / f"corpus-0000{n}-of-00002.parquet" for n in (0, 1))
    assert str(caught.value) == (
        f"{second}:2: expected every id once, found 'd2' here and at {first}:2; remove one of them."
    )


def test_a_pair_in_two_shards_with_two_grades_is_an_error(folder):
    shard(folder / "default" / "dev-00001-of-00002.parquet", **{"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
    with pytest.raises(FileError, match=r"\*\.parquet:4: expected one grade .* found 1 here and 2 at line 1"):
        list(ParquetFolder(folder).qrels("dev", warn=[].append))


def test_a_pair_at_the_same_row_of_two_shards_is_still_a_repetition(tmp_path):
    for part in ("corpus", "queries"):
        shard(tmp_path / part / "x.parquet", _id=["a"], text=["x"])
    for number in (0, 1):
        path = tmp_path / "default" / f"test-0000{number}-of-00002.parquet"
        shard(path, **{"query-id": ["a"], "corpus-id": ["a"], "score": [1]})
    warnings = []
    assert len(list(ParquetFolder(tmp_path).qrels("test", warn=warnings.append))) == 1
    assert "line 2 repeats line 1" in warnings[0]


def test_an_unknown_split_names_those_there_are(folder):
    with pytest.raises(UserError, match=r"tiny: expected the name of a split, found 'train'. Splits: dev, test\.$"):
        ParquetFolder(folder).qrels("train", warn=[].append)


def test_missing_queries_say_what_was_expected(folder):
    (folder / "queries" / "queries-00000-of-00001.parquet").unlink()
    with pytest.raises(UserError) as caught:
        open_collection_files(folder)
    assert str(caught.value) == (
        f"{folder}: expected corpus/*.parquet, queries/*.parquet and default/<split>-*.parquet; "
        "found no Parquet file in queries/."
    )


def test_checksums_and_progress_cover_every_shard(folder):
    files = ParquetFolder(folder)
    assert list(files.checksums(["test"])) == [
        "corpus/corpus-00000-of-00002.parquet",
        "corpus/corpus-00001-of-00002.parquet",
        "queries/queries-00000-of-00001.parquet",
        "default/test-00000-of-00001.parquet",
    ]
    sizes = []
    list(files.documents(progress=sizes.append))
    assert sum(sizes) == files.corpus_size()


@pytest.mark.parametrize("layout", ["folder", "zip"])
def test_the_layout_is_told_by_what_is_there(tmp_path, folder, layout):
    assert isinstance(open_collection_files(folder), ParquetFolder)
    make = make_folder if layout == "folder" else make_zip
    assert isinstance(open_collection_files(make(tmp_path / f"beir.{layout}", TINY)), BeirFolder)


def test_jsonl_beside_a_folder_named_corpus_is_beir(folder):
    make_folder(folder, TINY)
    assert isinstance(open_collection_files(folder), BeirFolder)


def test_rows_are_read_a_part_at_a_time():
    stream = io.BytesIO()
    parquet.write_table(pa.table({"n": list(range(5_000))}), stream)
    heard = []
    rows = read_rows(stream, name="n.parquet", progress=heard.append)
    assert next(rows) == (1, {"n": 0})
    assert sum(1 for _ in rows) == 4_999
    assert len(heard) == 5


def test_rows_before_a_damaged_place_are_read_and_the_rest_is_an_error():
    stream = io.BytesIO()
    parquet.write_table(
        pa.table({"n": [str(n) * 50 for n in range(4_000)]}), stream, row_group_size=1_000, use_dictionary=False
    )
    data = bytearray(stream.getvalue())
    middle = len(data) // 2
    data[middle : middle + 2_000] = bytes(2_000)
    errors = []
    rows = list(read_rows(io.BytesIO(data), name="n.parquet", on_error=errors.append))
    assert 0 < len(rows) < 4_000
    assert [error.line for error in errors] == [len(rows) + 1]
    assert str(errors[0]).startswith(f"n.parquet:{len(rows) + 1}: expected an intact Parquet file, found: ")


def test_a_row_group_of_any_size_is_read_in_pieces(tmp_path):
    random = Random(0)
    texts = [random.randbytes(3_000).hex() for _ in range(4_000)]
    parquet.write_table(pa.table({"_id": [f"d{n}" for n in range(4_000)], "text": texts}), tmp_path / "one.parquet")
    del texts
    tracemalloc.start()
    count = sum(1 for _ in read_documents([tmp_path / "one.parquet"]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 4_000
    # A thousand rows at a time, as Arrow has them and as Python has them, of 24 MB in all.
    assert peak < 15_000_000
