"""What becomes of a server's less usual answers: each test serves them from a small HTTP server of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from judging.engines.search.elastic import ElasticsearchEngine
from judging.errors import UserError
from judging.formats.records import Query

Answer = tuple[int, dict[str, Any]]

HIT = {"hits": {"hits": [{"_id": "d1", "_score": 1.5}]}, "timed_out": False, "_shards": {"failed": 0}}


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], Answer], *, product: str = "Elasticsearch") -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body = answer(self)
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.elasticsearch+json;compatible-with=8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Elastic-Product", product)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def an_index_that_answers(response: dict[str, Any]) -> Callable[[BaseHTTPRequestHandler], Answer]:
    """A server with one complete index, whose every search gives ``response``."""

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        if "_alias" in request.path:
            return 200, {"test-a": {"aliases": {"test": {}}}}
        if "_mapping" in request.path:
            identity = ElasticsearchEngine("http://127.0.0.1:1", "test")._index_identity()
            meta = {"corpus": "c", "documents": 1, "identity": identity}
            return 200, {"test-a": {"mappings": {"_meta": meta}}}
        return 200, {"responses": [response]}

    return answer


def search(url: str) -> list[tuple[tuple[str, float], ...]]:
    return [ranking.hits for ranking in ElasticsearchEngine(url, "test").search([Query("q7", "owl")], top=10)]


def test_a_whole_answer_is_read() -> None:
    with serving(an_index_that_answers(HIT)) as url:
        assert search(url) == [(("d1", 1.5),)]


def test_a_failed_item_of_a_batch_stops_the_search_and_names_the_query() -> None:
    failed = {"error": {"type": "circuit_breaking_exception", "reason": "data too large"}, "status": 429}
    with serving(an_index_that_answers(failed)) as url, pytest.raises(UserError, match=r"query q7.*data too large"):
        search(url)


@pytest.mark.parametrize("part", [{"timed_out": True}, {"_shards": {"failed": 1}}])
def test_an_answer_from_a_part_of_the_index_is_not_taken_for_the_whole(part: dict[str, Any]) -> None:
    with serving(an_index_that_answers(HIT | part)) as url, pytest.raises(UserError, match="a part of the index only"):
        search(url)


def test_a_query_of_too_many_terms_says_which_setting_to_raise() -> None:
    cause = {"type": "too_many_nested_clauses", "reason": "maxClauseCount is set to 1024"}
    failed = {
        "error": {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [cause]}
    }
    with serving(an_index_that_answers(failed)) as url, pytest.raises(UserError, match=r"q7.*max_clause_count"):
        search(url)


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "does not accept the user name"), (403, "does not allow this"), (500, "status 500: illegal: for a reason")],
)
def test_a_refusal_says_what_to_do(status: int, message: str) -> None:
    body = {"error": {"type": "illegal", "reason": "for a reason", "root_cause": []}}
    with serving(lambda _: (status, body)) as url, pytest.raises(UserError, match=message) as caught:
        ElasticsearchEngine(url.replace("//", "//user:secret@"), "test").build([], corpus="c")
    assert url in str(caught.value)
    assert "secret" not in str(caught.value)


def test_another_kind_of_server_is_recognised() -> None:
    with (
        serving(lambda _: (200, {}), product="Something") as url,
        pytest.raises(UserError, match="found another server"),
    ):
        ElasticsearchEngine(url, "test").info()


def test_an_elasticsearch_8_is_spoken_to_in_its_own_dialect() -> None:
    dialects = []

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        dialects.append(request.headers["Accept"])
        return an_index_that_answers(HIT)(request)

    with serving(answer) as url:
        search(url)
    assert {dialect.partition("compatible-with=")[2] for dialect in dialects} == {"8"}
