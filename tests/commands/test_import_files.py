"""Collections that come from elsewhere than a BEIR folder, and files that are taken over."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judging.formats.download import CHECKSUMS
from judging.models import Collection


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def mirror(beir, tmp_path, monkeypatch, settings):
    """The address of a folder with cran.zip, whose checksum is known."""
    settings.VAR_DIR = tmp_path / "var"
    (tmp_path / "server").mkdir()
    packed = Path(shutil.make_archive(str(tmp_path / "server" / "cran"), "zip", beir.parent, "cran"))
    monkeypatch.setitem(CHECKSUMS, "cran", hashlib.md5(packed.read_bytes()).hexdigest())
    handler = functools.partial(Quiet, directory=str(packed.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}/"
        http.shutdown()
        thread.join()


def test_a_data_set_is_downloaded_by_name_kept_and_imported(run, mirror, settings):
    assert "cran: 6 documents, 3 queries" in run("import_beir", "--download", "cran", "--mirror", mirror)
    assert [path.name for path in (settings.VAR_DIR / "downloads").iterdir()] == ["cran.zip"]
    assert Collection.objects.get().slug == "cran"


def test_what_was_downloaded_is_not_fetched_again(run, mirror):
    run("import_beir", "--download", "cran", "--mirror", mirror)
    nowhere = "http://127.0.0.1:9/"
    assert "nothing was changed" in run("import_beir", "--download", "cran", "--mirror", nowhere)


def test_a_data_set_that_there_is_not(refused, mirror):
    assert "expected the name of a BEIR data set, found 'crane'" in refused("import_beir", "--download", "crane")


def test_a_file_that_is_not_the_published_one_is_not_kept(refused, mirror, monkeypatch, settings):
    monkeypatch.setitem(CHECKSUMS, "cran", "0" * 32)
    message = refused("import_beir", "--download", "cran", "--mirror", mirror)
    assert "expected a file with the MD5 00000000000000000000000000000000" in message
    assert list((settings.VAR_DIR / "downloads").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected a folder or zip, or --download NAME; found neither."),
        (["x", "--download", "cran"], "expected a path or --download, found both: x and cran."),
        (["x", "--mirror", "http://127.0.0.1/"], "--mirror says where to download from: give --download NAME with it."),
    ],
)
def test_one_place_is_named(refused, words, message):
    assert refused("import_beir", *words).startswith(message)


def test_loose_files_are_imported_and_told(run, beir, tmp_path):
    topics, qrels = tmp_path / "topics.txt", tmp_path / "qrels.txt"
    topics.write_text("<top>\n<num> Number: q1\n<title> wing flutter\n</top>\n<top>\n<num> q2\n<title> heat\n</top>\n")
    qrels.write_text("q1 0 d1 1\nq1 0 d4 0\n")
    said = run("import_trec", beir / "corpus.jsonl", topics, qrels, "--name", "flutter")
    assert "flutter: 6 documents, 1 query (1 without qrels left out)" in said
    assert "qrels/qrels: 2 judgments" in said
    assert "nothing was changed" in run("import_trec", beir / "corpus.jsonl", topics, qrels, "--name", "flutter")


@pytest.mark.skipif(importlib.util.find_spec("ir_datasets") is not None, reason="ir_datasets is installed")
def test_ir_datasets_is_asked_for_where_it_is_missing(refused):
    assert refused("import_ir_dataset", "beir/scifact/test").endswith("Install it with: pip install ir-datasets")


def test_what_would_change_is_said_first_and_what_changed_afterwards(run, refused, beir):
    run("import_beir", beir)
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0\nq2\td2\t1\nq3\td3\t1\n")
    changes = "qrels 1 regraded"
    assert f"What would change: {changes}. Give --replace" in refused("import_beir", beir)
    assert f"cran: replaced; what changed: {changes}" in run("import_beir", beir, "--replace")
