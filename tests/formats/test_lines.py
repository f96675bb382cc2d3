import gzip
import io
import os

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError
from judging.formats.lines import read_raw_lines


def read_lines(file, name=None) -> list[tuple[int, str]]:
    return [(number, line.decode()) for number, line in read_raw_lines(file, name=name)]


def lines_of(data: bytes, name: str = "a.txt") -> list[tuple[int, str]]:
    return read_lines(io.BytesIO(data), name=name)


PACK = {
    "a.txt": lambda data: data,
    "a.txt.gz": gzip.compress,
    "a.txt.zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
    "A.TXT.GZ": gzip.compress,
}


@pytest.mark.parametrize("name", PACK)
def test_reads_plain_and_compressed_files_by_the_end_of_the_name(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACK[name]("é\nb\n".encode()))
    assert read_lines(path) == read_lines(str(path)) == [(1, "é"), (2, "b")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [(1, "")]),
        (b"a", [(1, "a")]),
        (b"a\nb", [(1, "a"), (2, "b")]),
        (b"a\r\nb\r\n", [(1, "a"), (2, "b")]),
        (b"a\r\r\n", [(1, "a\r")]),
        (b"a\rb\n", [(1, "a\rb")]),
        (b"a\n\n\nb\n", [(1, "a"), (2, ""), (3, ""), (4, "b")]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [(1, "a"), (2, "\ufeffb")]),
        ("a\u2028b\u0085c\x0cd\x0be\x1cf\n".encode(), [(1, "a\u2028b\u0085c\x0cd\x0be\x1cf")]),
    ],
)
def test_a_line_ends_at_a_newline_and_nowhere_else(data, expected):
    assert lines_of(data) == expected


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]))),
    st.sampled_from(["\n", "\r\n"]),
)
def test_lines_come_back_as_they_were_written(texts, end):
    texts = [text.rstrip("\r") for text in texts]
    data = "".join(text + end for text in texts).encode()
    expected = [text.removeprefix("\ufeff") if i == 0 else text for i, text in enumerate(texts)]
    assert [text for _, text in lines_of(data)] == expected


@pytest.mark.parametrize("name", PACK)
def test_a_line_longer_than_every_buffer_stays_whole(name):
    long = "x" * 3_000_000
    assert lines_of(PACK[name](f"a\n{long}\nb".encode()), name) == [(1, "a"), (2, long), (3, "b")]


def test_lines_are_counted_over_many_blocks():
    data = b"".join(b"%d\n" % n for n in range(1, 300_001))
    assert all(int(line) == number for number, line in read_raw_lines(io.BytesIO(data), name="a"))


class Trickle(io.RawIOBase):
    """A stream that hands out a few bytes at a time, as pipes may."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int = -1) -> bytes:
        piece, self.data = self.data[:2], self.data[2:]
        return piece


@pytest.mark.parametrize("name", PACK)
def test_short_reads_change_nothing(name):
    data = PACK[name]("\ufeffé\u2028\r\n\nb".encode())
    assert read_lines(Trickle(data), name=name) == [(1, "é\u2028"), (2, ""), (3, "b")]


def test_members_and_frames_in_a_row_are_one_file():
    parts = [b"a\nb", b"c\nd\n", b"e"]
    whole = [(1, "a"), (2, "bc"), (3, "d"), (4, "e")]
    assert lines_of(b"".join(map(gzip.compress, parts)) + bytes(512), "a.gz") == whole
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00meta"
    assert lines_of(skippable + b"".join(map(zstandard.compress, parts)), "a.zst") == whole


SAVE = "save the file as UTF-8 (where it is Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW)"


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"ok\nbad \xff\n", 2, f"expected UTF-8, found the byte 0xff; {SAVE}."),
        (b"ok\nok\nbad \xed\xa0\x80\n", 3, f"expected UTF-8, found the byte 0xed; {SAVE}."),
        (b"ok\n\ncut \xc3", 3, f"expected UTF-8, found the byte 0xc3; {SAVE}."),
        (b"ok\na\0b\n", 2, "expected text, found a NUL byte; save the file as UTF-8."),
        (b"a\0b\n\xff\n", 1, "expected text, found a NUL byte; save the file as UTF-8."),
        (b"\xff\n\0", 1, f"expected UTF-8, found the byte 0xff; {SAVE}."),
        ("a\n".encode("utf-16"), 1, "this is UTF-16, save the file as UTF-8 (iconv -f UTF-16 -t UTF-8 OLD > NEW)."),
        (b"PAR1\0", 1, "expected text, found a NUL byte; this is Parquet data, let the name end in .parquet."),
        (
            gzip.compress(b"a", mtime=0),
            1,
            "expected UTF-8, found the byte 0x8b; this is gzip data, let the name end in .gz.",
        ),
        (zstandard.compress(b"a"), 1, "found the byte 0xb5; this is Zstandard data, let the name end in .zst."),
    ],
)
def test_bytes_that_are_no_text_are_named_with_their_line(data, line, problem):
    with pytest.raises(FileError) as caught:
        lines_of(data)
    assert (caught.value.file, caught.value.line) == ("a.txt", line)
    assert caught.value.problem.endswith(problem)


def test_a_bad_byte_far_into_the_file_has_its_line():
    with pytest.raises(FileError) as caught:
        lines_of(b"fine\n" * 200_000 + b"\xff\n")
    assert caught.value.line == 200_001


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
@pytest.mark.parametrize("kept", [0, 1, 3, 10, 40, -1])
def test_a_compressed_file_cut_short_is_an_error(name, kept):
    data = PACK[f"a.txt{name[1:]}"](os.urandom(40).hex().encode() + b"\n")
    with pytest.raises(FileError, match=rf"^{name}:[12]: expected more compressed data, found the end of the file"):
        lines_of(data[:kept], name)


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_the_lines_before_a_cut_are_counted(name):
    good = PACK[f"a.txt{name[1:]}"](b"a\nb\n")
    with pytest.raises(FileError) as caught:
        lines_of(good + good[:-2], name)
    assert caught.value.line is not None
    assert caught.value.line >= 3


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
@pytest.mark.parametrize("damage", ["changed", "plain", "trailing"])
def test_corrupt_compressed_data_is_an_error(name, damage):
    data = bytearray(PACK[f"a.txt{name[1:]}"](b"hello\n" * 9))
    data[-6] ^= 0xFF
    data = {"changed": bytes(data), "plain": b"hello\n", "trailing": PACK[f"a.txt{name[1:]}"](b"a\n") + b"rubbish"}[
        damage
    ]
    with pytest.raises(FileError, match=rf"^{name}:\d: expected intact compressed data, found: "):
        lines_of(data, name)


def test_a_missing_file_says_to_check_the_path(tmp_path):
    with pytest.raises(FileError, match=r"none\.txt: expected a file, found nothing of that name; check the path\.$"):
        list(read_lines(tmp_path / "none.txt"))


def test_a_folder_says_to_name_the_file_inside_it(tmp_path):
    with pytest.raises(FileError, match=r"expected a file, found a folder; name the file inside it\.$"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_path_that_no_file_can_have_is_an_error_of_the_user(path):
    with pytest.raises(FileError, match="cannot be opened"):
        list(read_lines(path))


def test_reading_is_lazy():
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return b"line\n" * 1000

    assert next(iter(read_raw_lines(Endless(), name="endless"))) == (1, b"line")
