import zipfile

import pytest

from judging.errors import FileError, UserError
from judging.formats.source import open_source

FILES = {"corpus.jsonl": b"c", "queries.jsonl": b"q", "qrels/test.tsv": b"t", "qrels/dev.tsv": b"d"}
NAMES = sorted(FILES)


def make_folder(path, files):
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def make_zip(path, files, prefix=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(prefix + name, data)
    return path


def read(source, name):
    with source.open(name) as stream:
        return stream.read()


@pytest.fixture(params=["folder", "zip", "wrapped zip", "zip with backslashes"])
def source(request, tmp_path):
    match request.param:
        case "folder":
            path = make_folder(tmp_path / "tiny", FILES)
        case "zip":
            path = make_zip(tmp_path / "tiny.zip", FILES)
        case "wrapped zip":
            path = make_zip(tmp_path / "tiny.zip", FILES, "tiny/")
        case _:
            path = make_zip(tmp_path / "tiny.zip", {n.replace("/", "\\"): data for n, data in FILES.items()}, "tiny\\")
    return open_source(path)


def test_folders_and_zips_hold_the_same_files_under_the_same_names(source):
    assert source.names() == NAMES
    assert {name: read(source, name) for name in NAMES} == FILES


def test_a_file_that_is_not_there_is_named_in_the_error(source):
    with pytest.raises(FileError) as caught, source.open("qrels/train.tsv"):
        pass
    assert caught.value.file == source.label("qrels/train.tsv")


def test_labels_show_where_a_file_lies(tmp_path):
    folder = open_source(make_folder(tmp_path / "tiny", FILES))
    archive = open_source(make_zip(tmp_path / "tiny.zip", FILES, "tiny/"))
    assert folder.label("qrels/test.tsv") == f"{tmp_path}/tiny/qrels/test.tsv"
    assert archive.label("qrels/test.tsv") == f"{tmp_path}/tiny.zip!qrels/test.tsv"


def test_what_operating_systems_leave_behind_is_not_listed(tmp_path):
    litter = {"tiny/a.txt": b"", "__MACOSX/tiny/._a.txt": b"", "tiny/.DS_Store": b""}
    assert open_source(make_zip(tmp_path / "tiny.zip", litter)).names() == ["a.txt"]
    hidden = make_folder(tmp_path / "tiny", {".DS_Store": b"", "a.txt": b""})
    assert open_source(hidden).names() == ["a.txt"]


def test_a_zip_of_qrels_alone_keeps_their_folder(tmp_path):
    assert open_source(make_zip(tmp_path / "q.zip", {"qrels/test.tsv": b""})).names() == ["qrels/test.tsv"]


def test_other_folders_are_listed_but_not_entered(tmp_path):
    files = {**FILES, "runs/bm25.txt": b"", "qrels/old/test.tsv": b""}
    assert open_source(make_folder(tmp_path / "tiny", files)).names() == [*NAMES, "runs/"]
    assert open_source(make_zip(tmp_path / "tiny.zip", files)).names() == sorted([*NAMES, "runs/", "qrels/"])


def test_a_file_that_is_no_zip_says_what_was_expected(tmp_path):
    path = tmp_path / "corpus.zip"
    path.write_bytes(make_zip(tmp_path / "whole.zip", FILES).read_bytes()[:-30])
    with pytest.raises(UserError) as caught:
        open_source(path)
    assert str(caught.value) == (
        f"{path}: expected a folder or a zip file with corpus.jsonl[.gz|.zst], queries.jsonl[.gz|.zst] and "
        "qrels/<split>.tsv[.gz|.zst]; found a file that is not a whole zip file. Unpack it, or fetch it again."
    )


def test_nothing_at_the_path_is_an_error(tmp_path):
    with pytest.raises(FileError, match="found nothing of that name"):
        open_source(tmp_path / "none")


def test_an_encrypted_member_says_to_unpack_it(tmp_path):
    path = make_zip(tmp_path / "tiny.zip", {"corpus.jsonl": b"x"})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    with (
        pytest.raises(FileError, match=r"tiny\.zip!corpus\.jsonl: .*encrypted.*Unpack it"),
        open_source(path).open("corpus.jsonl"),
    ):
        pass
