"""What holds for every reader: line ends, encodings, packing and progress change nothing, and ids stay as they are."""

import gzip
import io
import subprocess
import sys
from dataclasses import replace

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError
from judging.formats.beir import document_lines, read_documents, read_queries
from judging.formats.judgments import read_all_judgments
from judging.formats.qrels import read_any_qrels
from judging.formats.records import Document
from judging.formats.topics import read_topics
from judging.formats.trec import read_run
from tests.fuzz.seeds import SEEDS

READERS = {
    "corpus": read_documents,
    "queries": read_queries,
    "topics": read_topics,
    "qrels": lambda file, **how: read_any_qrels(file, warn=[].append, **how),
    "run": read_run,
    "judgments": lambda file, **how: read_all_judgments(file, warn=[].append, **how),
}
TEXTS = [seed for seed in SEEDS if seed.kind and seed.is_text and not seed.pack]
PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


def records_of(seed, data, suffix="", **how):
    found = READERS[seed.kind](io.BytesIO(PACK[suffix](data)), name=seed.name + suffix, **how)
    return [replace(record, line=0) if hasattr(record, "line") else record for record in found]


@pytest.mark.parametrize("seed", TEXTS, ids=lambda seed: seed.name)
@pytest.mark.parametrize("suffix", PACK)
@given(
    end=st.sampled_from([b"\n", b"\r\n"]),
    bom=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    blank=st.integers(0, 3),
    has_last_end=st.booleans(),
)
def test_line_ends_marks_blank_lines_and_packing_change_no_record(seed, suffix, end, bom, blank, has_last_end):
    data = seed.data
    if not seed.name.endswith(".csv"):  # whose line ends may be part of a cell
        lines = data.removesuffix(b"\n").split(b"\n")
        data = bom + end * blank + end.join(lines) + (end if has_last_end else b"")
    assert records_of(seed, data, suffix) == records_of(seed, seed.data)


@pytest.mark.parametrize("seed", TEXTS, ids=lambda seed: seed.name)
@pytest.mark.parametrize("suffix", PACK)
def test_progress_hears_of_every_byte_as_stored(seed, suffix):
    heard = []
    records_of(seed, seed.data, suffix, progress=heard.append)
    assert sum(heard) == len(PACK[suffix](seed.data))


@pytest.mark.parametrize("seed", TEXTS, ids=lambda seed: seed.name)
@given(data=st.data())
def test_a_byte_that_is_no_utf_8_is_named_with_its_line(seed, data):
    at = data.draw(st.integers(0, len(seed.data)))
    while 0 < at < len(seed.data) and seed.data[at] & 0xC0 == 0x80:
        at -= 1  # not inside a character
    broken = seed.data[:at] + b"\xff" + seed.data[at:]
    errors = []
    records_of(seed, broken, on_error=errors.append)
    line = broken[:at].count(b"\n") + 1
    assert [error.line for error in errors if "expected UTF-8, found the byte 0xff" in error.problem] == [line]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("seed", TEXTS, ids=lambda seed: seed.name)
def test_other_encodings_are_an_error_in_the_first_line(seed, encoding):
    with pytest.raises(FileError) as caught:
        records_of(seed, seed.data.decode().encode(encoding))
    assert caught.value.line == 1


@given(st.lists(st.binary(max_size=40), max_size=12), st.sampled_from(TEXTS))
def test_arbitrary_bytes_are_read_or_refused_with_a_line(pieces, seed):
    errors = []
    records_of(seed, b"\n".join(pieces), on_error=errors.append)
    assert all(error.line is not None for error in errors)


ID = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(ID, unique=True), st.lists(ID))
def test_ids_are_equal_to_themselves_only(ids, others):
    stream = io.BytesIO(b"".join(document_lines(map(Document, [*ids, *others]))))
    errors = []
    found = [document.id for document in read_documents(stream, name="c", on_error=errors.append)]
    assert found == list(dict.fromkeys([*ids, *others]))
    assert len(found) + len(errors) == len(ids) + len(others)


@pytest.mark.parametrize("suffix", PACK)
def test_a_repeated_id_names_its_first_line_however_far_back_and_reading_goes_on_after_it(tmp_path, suffix):
    lines = [orjson.dumps({"_id": str(n), "text": "x" * 50}) for n in range(20_000)]
    lines[15_000] = lines[2]
    path = tmp_path / f"corpus.jsonl{suffix}"
    path.write_bytes(PACK[suffix](b"\n".join(lines)))
    for file in (path, io.BytesIO(path.read_bytes())):
        errors = []
        assert sum(1 for _ in read_documents(file, name=str(path), on_error=errors.append)) == 19_999
        assert [error.line for error in errors] == [15_001]
        assert "found '2' here and at line 3;" in errors[0].problem


def test_a_stream_that_cannot_be_read_again_still_refuses_repeated_ids():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def tell(self):
            raise OSError

    with pytest.raises(FileError, match="corpus:2: expected every _id once, found 'a' here and before;"):
        list(read_documents(Pipe(b'{"_id": "a"}\n{"_id": "a"}\n'), name="corpus"))


MEASURE = """
import collections, resource, sys
from judging.formats.beir import read_documents
collections.deque(read_documents(sys.argv[1]), maxlen=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    def peak(documents: int) -> int:
        path = tmp_path / f"{documents}.jsonl"
        with path.open("w") as stream:
            stream.writelines(f'{{"_id": "doc-{n:09}", "text": "{"some text " * 20}"}}\n' for n in range(documents))
        found = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, check=True, text=True)
        return int(found.stdout)

    # 150,000 ids of eight bytes each take 4 MiB; the documents would take 60.
    assert peak(150_000) - peak(1_000) < 16
