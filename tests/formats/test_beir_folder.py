"""A BEIR folder or zip as a whole."""

import gzip
import zipfile

import pytest
import zstandard

from judging.errors import FileError, UserError
from judging.formats.beir import (
    BeirFolder,
)
from judging.formats.records import Document, Qrel, Query
from tests.formats.test_source import make_folder, make_zip

CORPUS = b'{"_id": "d1", "text": "x"}\n'
QUERIES = b'{"_id": "q1", "text": "y"}\n'
TINY = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": b"q1\td1\t1\n", "qrels/dev.tsv": b""}


class TestFolder:
    @pytest.mark.parametrize("pack", ["plain", "gz", "zst", "zip", "wrapped"])
    def test_a_collection_reads_alike_however_it_is_packed(self, tmp_path, pack):
        compress = {"gz": gzip.compress, "zst": zstandard.compress}.get(pack)
        files = {f"{n}.{pack}": compress(data) for n, data in TINY.items()} if compress else TINY
        if pack in ("zip", "wrapped"):
            path = make_zip(tmp_path / "tiny.zip", files, "tiny/" if pack == "wrapped" else "")
        else:
            path = make_folder(tmp_path / "tiny", files)
        folder = BeirFolder(path)
        assert folder.splits() == ["dev", "test"]
        assert list(folder.documents()) == [Document("d1", "", "x")]
        assert list(folder.queries()) == [Query("q1", "y")]
        assert list(folder.qrels("test", warn=[].append)) == [Qrel("q1", "d1", 1, 1)]
        assert list(folder.qrels("dev", warn=[].append)) == []

    @pytest.mark.parametrize("name", ["tiny", "tiny.v2", "tiny.v2.zip"])
    def test_a_collection_has_the_name_of_its_folder_or_zip(self, tmp_path, name):
        make = make_zip if name.endswith(".zip") else make_folder
        assert BeirFolder(make(tmp_path / name, TINY)).name == name.removesuffix(".zip")

    def test_the_current_folder_has_a_name_too(self, tmp_path, monkeypatch):
        monkeypatch.chdir(make_folder(tmp_path / "tiny", TINY))
        assert BeirFolder(".").name == "tiny"

    def test_an_unknown_split_names_those_there_are(self, tmp_path):
        folder = BeirFolder(make_folder(tmp_path / "tiny", TINY))
        with pytest.raises(UserError, match=r"tiny: expected the name of a split, found 'train'. Splits: dev, test\.$"):
            folder.qrels("train", warn=[].append)

    def test_a_collection_without_qrels_has_no_splits(self, tmp_path):
        folder = BeirFolder(make_folder(tmp_path / "tiny", {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES}))
        assert folder.splits() == []
        with pytest.raises(UserError, match=r"Splits: none: the folder qrels/ holds no \.tsv file\.$"):
            folder.qrels("test", warn=[].append)

    def test_a_missing_corpus_says_what_was_expected_and_found(self, tmp_path):
        path = make_folder(tmp_path / "tiny", {"documents.jsonl": b"", "queries.jsonl": b"", "qrels/test.tsv": b""})
        with pytest.raises(UserError) as caught:
            BeirFolder(path)
        assert str(caught.value) == (
            f"{path}: expected corpus.jsonl[.gz|.zst], queries.jsonl[.gz|.zst] and qrels/<split>.tsv[.gz|.zst]; "
            "corpus.jsonl is missing; found documents.jsonl, qrels/test.tsv, queries.jsonl."
        )

    def test_an_empty_folder_is_said_to_hold_nothing(self, tmp_path):
        with pytest.raises(UserError, match=r"corpus\.jsonl is missing; found nothing\.$"):
            BeirFolder(tmp_path)

    def test_a_corpus_in_two_forms_is_an_error(self, tmp_path):
        path = make_folder(tmp_path / "tiny", {**TINY, "corpus.jsonl.gz": gzip.compress(CORPUS)})
        with pytest.raises(
            UserError, match=r"expected one of corpus\.jsonl, corpus\.jsonl\.gz, found them all; remove"
        ):
            BeirFolder(path)

    def test_an_error_inside_a_zip_names_zip_member_and_line(self, tmp_path):
        path = make_zip(tmp_path / "tiny.zip", {**TINY, "qrels/test.tsv": b"q1\td1\t1\nq1\td2\tx\n"}, "tiny/")
        with pytest.raises(FileError, match=r"tiny\.zip!qrels/test\.tsv:2: expected a whole number as grade"):
            list(BeirFolder(path).qrels("test", warn=[].append))

    def test_a_damaged_member_of_a_zip_is_an_error(self, tmp_path):
        path = tmp_path / "tiny.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, data in TINY.items():
                archive.writestr(name, data)
        path.write_bytes(path.read_bytes().replace(b'"text": "x"', b'"text": "z"'))
        with pytest.raises(
            FileError, match=r"tiny\.zip!corpus\.jsonl:1: expected intact compressed data, found: Bad CRC-32"
        ):
            list(BeirFolder(path).documents())
        with pytest.raises(
            FileError, match=r"tiny\.zip!corpus\.jsonl: expected intact compressed data, found: Bad CRC-32"
        ):
            BeirFolder(path).checksums([])

    def test_checksums_are_of_the_stored_bytes_and_alike_in_folder_and_zip(self, tmp_path):
        folder = BeirFolder(make_folder(tmp_path / "tiny", TINY)).checksums(["test"])
        assert list(folder) == ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"]
        assert folder["qrels/test.tsv"] == "2066ba2a6a7dad8ff74daf3d35dd690a5532bf2103bc2e1b80a3326f975dd9d4"
        assert BeirFolder(make_zip(tmp_path / "tiny.zip", TINY, "tiny/")).checksums(["test"]) == folder
