import gzip
import io

import pytest

from judging.errors import FileError
from judging.formats.checksum import checksum

# The example of FIPS 180-2 for the three bytes "abc".
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_it_is_the_sha256_of_a_file_or_stream(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert checksum(tmp_path / "a") == checksum(str(tmp_path / "a")) == checksum(io.BytesIO(b"abc")) == ABC


def test_compressed_files_are_taken_as_they_are_stored(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"abc"))
    assert checksum(tmp_path / "a.gz") != ABC


def test_large_files_are_read_in_pieces():
    assert checksum(io.BytesIO(b"a" * 1_000_000 * 3)) == checksum(io.BytesIO(b"aaa" * 1_000_000))
    # The million times "a" of FIPS 180-2.
    assert checksum(io.BytesIO(b"a" * 1_000_000)) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"


def test_a_missing_file_is_an_error_of_the_user(tmp_path):
    with pytest.raises(FileError, match="found nothing of that name"):
        checksum(tmp_path / "none")
