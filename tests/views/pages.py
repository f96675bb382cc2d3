"""A browser that looks at each page it gets: strict headers, nothing inline or loaded from elsewhere, no id twice."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

from django.http.response import HttpResponseBase
from django.test import Client

from judging.models import Judge

# htmx sends this with each of its requests.
HTMX = {"HX-Request": "true"}

_LOADING = {"src", "href", "action", "formaction", "poster", "data", "srcset", "hx-get", "hx-post"}
_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_HARMLESS_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


class Page(HTMLParser):
    """What is in a page: its elements as (tag, attributes), its text, and what must not be there."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.faults: list[str] = []
        self._text: list[str] = []
        self.feed(html)
        self.close()
        ids = Counter(attributes["id"] for _, attributes in self.elements if "id" in attributes)
        self.faults += [f"id {name} {count} times" for name, count in ids.items() if count > 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag == "style" or (tag == "script" and "src" not in attributes and "json" not in attributes.get("type", "")):
            self.faults.append(f"inline <{tag}>")
        for name, value in attributes.items():
            if name == "style" or name.startswith(("on", "hx-on")):
                self.faults.append(f"{name}= on <{tag}>")
            if name in _LOADING and _ELSEWHERE.match(value) and not (tag == "a" and _HARMLESS_LINK.match(value)):
                self.faults.append(f"{name}={value!r} on <{tag}>")

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    @property
    def text(self) -> str:
        """The words a person reads, with single blanks."""
        return " ".join(" ".join(self._text).split())

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of every such element; ``class_`` is ``class``, ``data_key`` is ``data-key``."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        return [
            attributes for found, attributes in self.elements if found == tag and wanted.items() <= attributes.items()
        ]

    def one(self, tag: str, **wanted: str) -> dict[str, str]:
        (found,) = self.all(tag, **wanted)
        return found


def assert_strict(response: HttpResponseBase) -> None:
    policy = dict(part.strip().split(" ", 1) for part in response.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert set(" ".join(policy.values()).split()) == {"'none'", "'self'", "data:"}
    assert policy["img-src"] == "'self' data:"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin"


class Browser(Client):
    """Django's client; every answer is looked at before the test gets it."""

    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        assert_strict(response)
        if response.streaming:
            response.body = b"".join(response.streaming_content)
        elif response.headers.get("Content-Type", "").startswith("text/html"):
            assert Page(response.content.decode()).faults == []
        return response

    def page(self, url: str, *, status: int = 200, htmx: bool = False) -> Page:
        response = self.get(url, headers=HTMX if htmx else {})
        assert response.status_code == status, (url, response.status_code)
        return Page(response.content.decode())


def browser_of(judge: Judge) -> Browser:
    browser = Browser()
    browser.force_login(judge.user)
    return browser
