"""Asking an OpenAI-compatible server one thing: tried again where that may help, bounded in time and size."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT = 60.0
_MOST_BYTES = 8 << 20
_SHOWN = 300


class RefusedError(Exception):
    """The server has given no answer. ``status`` is None where there was no HTTP answer; ``reached`` tells whether
    there was a connection.
    """

    def __init__(
        self, reason: str, *, status: int | None = None, wait: float | None = None, reached: bool = True
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.wait = wait
        self.reached = reached

    @property
    def may_pass(self) -> bool:
        return self.status is None or self.status in RETRIED


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another server, and turn the question into a GET."""

    def redirect_request(self, *_: Any) -> None:
        return None


@cache
def _opener() -> urllib.request.OpenerDirector:
    """One for all: reading the certificates of a machine takes as long as many an answer."""
    return urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=ssl.create_default_context()))


@dataclass(frozen=True, slots=True)
class Connection:
    """How a server is asked. ``key`` is shown nowhere, and taken out of whatever the server says.

    ``timeout`` bounds one try as a whole, in seconds. ``retries`` tries follow the first one where a later one may
    succeed: no connection, a timeout, a status of ``RETRIED``, an answer that is no JSON. Between them passes what
    the server asks for with ``Retry-After``, at most ``LONGEST_WAIT``, or ``backoff`` seconds, doubled each time.
    """

    url: str
    key: str = ""
    timeout: float = 120.0
    retries: int = 4
    backoff: float = 1.0

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def ask(self, payload: dict[str, Any], *, stop: threading.Event) -> dict[str, Any]:
        """The server's JSON object. Raises RefusedError with the last reason, at once where ``stop`` is set."""
        for turn in range(self.retries + 1):
            try:
                return self._once(payload)
            except RefusedError as refused:
                if not refused.may_pass or turn == self.retries or stop.wait(self._wait(refused, turn)):
                    tries = f" (tried {turn + 1} times)" if turn else ""
                    reason = f"{refused.reason}{tries}"
                    raise RefusedError(reason, status=refused.status, reached=refused.reached) from None
        raise AssertionError("unreachable")

    def get(self) -> dict[str, Any]:
        """What lies at the address, tried once. Raises RefusedError."""
        return self._once(None)

    def _wait(self, refused: RefusedError, turn: int) -> float:
        # Spread, so that requests refused together do not come again together.
        wait = self.backoff * 2**turn * random.uniform(0.8, 1.2) if refused.wait is None else refused.wait  # noqa: S311
        return min(wait, LONGEST_WAIT)

    def _once(self, payload: dict[str, Any] | None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "unjudged"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        body = None if payload is None else json.dumps(payload).encode()
        request = urllib.request.Request(self.url, body, headers)  # noqa: S310
        deadline = time.monotonic() + self.timeout
        try:
            with _opener().open(request, timeout=self.timeout) as response:
                said = _read(response.read1, deadline)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error, deadline) from None
        except TimeoutError:
            raise RefusedError(f"no answer within {self.timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise RefusedError(f"no answer within {self.timeout:g} s") from None
            why = self._clean(f"no connection: {reason or type(reason).__name__}")
            raise RefusedError(why, reached=not isinstance(error, urllib.error.URLError)) from None
        return self._object(said)

    def _refusal(self, error: urllib.error.HTTPError, deadline: float) -> RefusedError:
        try:
            body = _read(error.read1, deadline)
        except (OSError, http.client.HTTPException):
            body = b""
        said = self._clean(_message(body))
        return RefusedError(
            f"HTTP {error.code}" + (f": {said}" if said else ""),
            status=error.code,
            wait=_seconds(error.headers.get("Retry-After")),
        )

    def _object(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise RefusedError(self._clean(f"the server's answer is no JSON object: {body.decode(errors='replace')}"))
        return answer

    def _clean(self, text: str) -> str:
        text = text.replace(self.key, "…") if self.key else text
        text = " ".join(text.split())
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _read(read: Callable[[int], bytes], deadline: float) -> bytes:
    """The whole body, however slowly it drips, up to the deadline. Raises TimeoutError past it."""
    parts: list[bytes] = []
    size = 0
    while part := read(1 << 16):
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > _MOST_BYTES:
            raise RefusedError(f"the server's answer is longer than {_MOST_BYTES >> 20} MB")
    return b"".join(parts)


def _message(body: bytes) -> str:
    """What an error's body says, in the forms that servers use, else its text."""
    try:
        said = json.loads(body)
        error = said.get("error", said)
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, RecursionError, AttributeError, KeyError):
        return body.decode(errors="replace")


def _seconds(header: str | None) -> float | None:
    """``Retry-After`` in seconds, which may be given as a date; None where it is missing or unreadable."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp())
