"""Downloads against a server on this machine that can be told to misbehave."""

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judging.errors import UserError
from judging.formats import download
from judging.formats.download import CHECKSUMS, download_beir, fetch

DATA = bytes(range(256)) * 4_000
MD5 = hashlib.md5(DATA).hexdigest()


@dataclass
class Server:
    """``break_after``: bytes after which the connection is cut, once."""

    address: str = ""
    data: bytes = DATA
    has_ranges: bool = True
    status: int = 200
    break_after: int | None = None
    shift: int = 0
    requests: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def server():
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range", "")
            state.requests.append((self.path, asked))
            if state.status != 200:
                self.send_error(state.status)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and state.has_ranges else 0
            if start and start >= len(state.data):
                self.send_error(416)
                return
            start -= state.shift if start else 0
            body = state.data[start:]
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(state.data) - 1}/{len(state.data)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if state.break_after is not None:
                body, state.break_after = body[: state.break_after], None
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        state.address = f"http://127.0.0.1:{http.server_address[1]}/{{name}}.zip"
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setitem(CHECKSUMS, "tiny", MD5)


def test_a_data_set_is_fetched_by_name_and_told_in_bytes(server, known, tmp_path):
    heard = []
    path = download_beir("tiny", tmp_path / "new", address=server.address, on_bytes=lambda *now: heard.append(now))
    assert path == tmp_path / "new" / "tiny.zip"
    assert path.read_bytes() == DATA
    assert server.requests == [("/tiny.zip", "")]
    assert sum(more for more, _ in heard) == len(DATA)
    assert {total for _, total in heard} == {len(DATA)}
    assert [file.name for file in path.parent.iterdir()] == ["tiny.zip"]


def test_what_is_there_and_whole_is_not_fetched_again(server, known, tmp_path):
    (tmp_path / "tiny.zip").write_bytes(DATA)
    assert download_beir("tiny", tmp_path, address=server.address).read_bytes() == DATA
    assert server.requests == []


def test_a_file_of_the_name_that_is_not_whole_is_fetched_anew(server, known, tmp_path):
    (tmp_path / "tiny.zip").write_bytes(DATA[:10])
    assert download_beir("tiny", tmp_path, address=server.address).read_bytes() == DATA


def test_an_interrupted_download_goes_on_where_it_broke_off(server, known, tmp_path):
    server.break_after = 600_000
    with pytest.raises(UserError, match=r"tiny\.zip: expected 1,024,000 bytes, found the end after 600,000"):
        download_beir("tiny", tmp_path, address=server.address)
    assert [file.name for file in tmp_path.iterdir()] == ["tiny.zip.part"]
    heard = []
    path = download_beir("tiny", tmp_path, address=server.address, on_bytes=lambda more, _: heard.append(more))
    assert path.read_bytes() == DATA
    assert server.requests[1:] == [("/tiny.zip", "bytes=600000-")]
    assert heard[0] == 600_000
    assert sum(heard) == len(DATA)


def test_a_server_that_cannot_go_on_in_the_middle_sends_it_all_again(server, known, tmp_path):
    server.has_ranges = False
    (tmp_path / "tiny.zip.part").write_bytes(b"x" * 1_000)
    assert download_beir("tiny", tmp_path, address=server.address).read_bytes() == DATA


def test_a_part_that_is_longer_than_the_file_is_fetched_anew(server, known, tmp_path):
    (tmp_path / "tiny.zip.part").write_bytes(DATA + b"more")
    assert download_beir("tiny", tmp_path, address=server.address).read_bytes() == DATA
    assert [asked for _, asked in server.requests] == ["bytes=1024004-", ""]


def test_a_part_that_was_complete_only_gets_its_name(server, known, tmp_path):
    (tmp_path / "tiny.zip.part").write_bytes(DATA)
    assert download_beir("tiny", tmp_path, address=server.address).read_bytes() == DATA
    assert server.requests == []


def test_another_range_than_the_one_asked_for_is_an_error(server, known, tmp_path):
    server.shift = 5
    (tmp_path / "tiny.zip.part").write_bytes(DATA[:1_000])
    with pytest.raises(UserError, match="expected the bytes from 1000 on, found those from 995 on"):
        download_beir("tiny", tmp_path, address=server.address)


@pytest.mark.parametrize("part", [b"", b"y" * 100])
def test_a_wrong_checksum_leaves_nothing_behind(server, known, tmp_path, part):
    server.data = b"x" + DATA[1:]
    if part:
        (tmp_path / "tiny.zip.part").write_bytes(part)
    with pytest.raises(UserError, match=rf"expected a file with the MD5 {MD5}, found [0-9a-f]{{32}}; it was deleted"):
        download_beir("tiny", tmp_path, address=server.address)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "reason"), [(404, "404 Not Found"), (503, "503 Service Unavailable")])
def test_a_refusal_is_told(server, known, tmp_path, status, reason):
    server.status = status
    with pytest.raises(UserError, match=rf"tiny\.zip: expected the file, found: {reason}\. Check the address"):
        download_beir("tiny", tmp_path, address=server.address)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_is_told(known, tmp_path):
    with pytest.raises(UserError, match=r"cannot be reached or broke off: .*Connection refused.*https_proxy"):
        download_beir("tiny", tmp_path, address="http://127.0.0.1:9/{name}.zip")


def test_the_proxy_of_the_environment_is_used(server, known, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address.removesuffix("/{name}.zip"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    address = "http://data.example/{name}.zip"
    assert download_beir("tiny", tmp_path, address=address).read_bytes() == DATA
    assert server.requests == [("http://data.example/tiny.zip", "")]


def test_an_unknown_name_is_answered_with_those_there_are(tmp_path):
    with pytest.raises(UserError, match=r"^expected the name of a BEIR data set, found 'scifct'\. They are: arguana, "):
        download_beir("scifct", tmp_path)


def test_only_web_addresses_are_fetched(tmp_path):
    with pytest.raises(UserError, match="expected an address that begins with https://, found 'file:///etc/hosts'"):
        fetch("file:///etc/hosts", tmp_path / "x", md5=MD5)


def test_a_folder_that_cannot_be_written_is_an_error(server, known, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cannot be written"):
        download_beir("tiny", tmp_path / "file" / "inside", address=server.address)


def test_the_table_has_addresses_of_the_official_host_and_md5s():
    assert download.ADDRESS.startswith("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/")
    assert all(len(bytes.fromhex(md5)) == 16 for md5 in CHECKSUMS.values())
    assert len(set(CHECKSUMS.values())) == len(CHECKSUMS)
