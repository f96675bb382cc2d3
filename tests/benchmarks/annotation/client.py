"""A small HTTP/1.1 client with cookies on one kept connection: one person's browser, cheap enough for fifty at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

HOST = "127.0.0.1"

# An answer of a server under load; one that takes longer has hung.
_PATIENCE = 600.0


class UnexpectedAnswerError(Exception):
    """The server answered with a status that the flow does not allow."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Browser:
    """Requests one after the other to a server on this machine; cookies come back to it as they were set."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests = 0
        self.cookies: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, *, headers: Mapping[str, str] | None = None) -> Answer:
        return await self._ask("GET", path, dict(headers or {}), b"", allowed=(200, 302, 404))

    async def post_form(
        self, path: str, fields: Mapping[str, str], *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return await self._ask("POST", path, sent, urlencode(fields).encode(), allowed=(200, 302, 303))

    async def post_json(self, path: str, value: object, *, headers: Mapping[str, str] | None = None) -> Answer:
        sent = {"Content-Type": "application/json", **(headers or {})}
        return await self._ask("POST", path, sent, json.dumps(value).encode(), allowed=(200, 201))

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
        self._streams = None

    async def _ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes, *, allowed: tuple[int, ...]
    ) -> Answer:
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {HOST}:{self.port}",
            "Accept: */*",
            f"Content-Length: {len(body)}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        message = "\r\n".join([*lines, "", ""]).encode() + body
        self.requests += 1
        answer = await asyncio.wait_for(self._exchange(message), _PATIENCE)
        if answer.status not in allowed:
            raise UnexpectedAnswerError(f"{method} {path}: {answer.status}: {answer.text[:500]}")
        return answer

    async def _exchange(self, message: bytes) -> Answer:
        """Send and read; a kept connection that the server has closed meanwhile is opened anew, once."""
        kept = self._streams is not None
        try:
            return await self._send_and_read(message)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            self.close()
            unanswered = not (isinstance(error, asyncio.IncompleteReadError) and error.partial)
            if kept and unanswered:
                return await self._send_and_read(message)
            raise

    async def _send_and_read(self, message: bytes) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection(HOST, self.port, limit=1 << 20)
        reader, writer = self._streams
        writer.write(message)
        head = await reader.readuntil(b"\r\n\r\n")
        status, headers = self._head(head.decode("latin-1"))
        body = await _body(reader, status, headers)
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, headers, body)

    def _head(self, text: str) -> tuple[int, dict[str, str]]:
        first, *lines = text.split("\r\n")
        headers: dict[str, str] = {}
        for line in filter(None, lines):
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                cookie, _, content = value.strip().partition(";")[0].partition("=")
                self.cookies[cookie] = content
            headers[name.lower()] = value.strip()
        return int(first.split()[1]), headers


async def _body(reader: asyncio.StreamReader, status: int, headers: Mapping[str, str]) -> bytes:
    if status in (204, 304):
        return b""
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.read()
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)
