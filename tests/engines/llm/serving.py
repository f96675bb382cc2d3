"""A server on this machine that answers chat completions as it is told to, faults included."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    server: FaultyServer

    def do_GET(self) -> None:
        """The models that are served, as far as the server was told any."""
        body = json.dumps({"data": [{"id": name} for name in self.server.models]}).encode()
        self.occupied = 0
        self.send(body)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append(asked)
            self.server.headers.append(dict(self.headers))
            self.server.paths.append(self.path)
            self.server.times.append(time.monotonic())
            turn = len(self.server.asked) - 1
            self.occupied = 1
            self.server.busy += 1
            self.server.busiest = max(self.server.busiest, self.server.busy)
        try:
            replies = self.server.replies
            replies[min(turn, len(replies) - 1)](self, asked)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client gave up
        finally:
            self.free()

    def free(self) -> None:
        """No longer busy, said before the answer goes out: whoever has it may ask again at once."""
        with self.server.lock:
            self.server.busy -= self.occupied
            self.occupied = 0

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.free()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class FaultyServer(ThreadingHTTPServer):
    """``replies`` are taken in turn, the last one for all that follow. What was asked is kept."""

    daemon_threads = True
    block_on_close = False
    # With the five of the standard library, of sixteen that connect together some wait a second and more.
    request_queue_size = 128

    def __init__(self, replies: list[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = replies
        self.lock = threading.Lock()
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.busy = self.busiest = 0
        self.models: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(*replies: Reply) -> Iterator[FaultyServer]:
    server = FaultyServer(list(replies))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(
    text: str | None, *, steps: list[dict[str, float]] | None = None, finish: str = "stop"
) -> dict[str, Any]:
    """A chat completion; ``steps`` are the probabilities of the likeliest tokens at each place."""
    content = [
        {"token": "?", "logprob": 0.0, "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in step.items()]}
        for step in steps or []
    ]
    return {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish,
                "logprobs": {"content": content} if steps else None,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
    }


def says(text: str | None, **more: Any) -> Reply:
    return gives(completion(text, **more))


def gives(data: Any) -> Reply:
    return lambda handler, _: handler.send(json.dumps(data).encode())


def refuses(status: int, message: str = "no", **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}}).encode()
    return lambda handler, _: handler.send(body, status, **headers)


def sends(body: bytes) -> Reply:
    return lambda handler, _: handler.send(body)


def drops(handler: Handler, _: dict[str, Any]) -> None:
    """Ends the connection in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.close_connection = True


def hangs(handler: Handler, _: dict[str, Any]) -> None:
    time.sleep(1.5)
    handler.send(b"{}")


def drips(handler: Handler, _: dict[str, Any]) -> None:
    """A byte now and then, so that no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _turn in range(30):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)
