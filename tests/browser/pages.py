"""Every page of the application by its address, and a browser window that notes what ran, loaded or spilled over."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, expect

from judging.models import Judge, Pool
from judging.steps.people import invite

WIDE, PHONE = (1280, 840), (360, 740)


def open_desk(page: Page, pool: Pool) -> None:
    """The judging page, without the guidelines, which open by themselves the first time."""
    page.goto(reverse("judge", args=[pool.slug]))
    close = page.locator("#guidelines:popover-open .close")
    if close.count():
        close.press("Enter")
    expect(page.locator(":popover-open")).to_have_count(0)


# A browser that is signed in is sent on from here.
_ELSEWHERE = {"login", "logout", "set_language"}


def addresses(pool: Pool, staff: Judge) -> dict[str, str]:
    """Every address of ours that answers GET with a page, by the name of its route, opened for this pool.

    A new route with a part that is not known here fails: say below what stands for it.
    """
    client = Client()
    client.force_login(staff.user)
    found = {}
    for pattern in get_resolver("judging.views.urls").url_patterns:
        if pattern.name in _ELSEWHERE or "form" in pattern.pattern.converters:  # "form" is that of a file
            continue
        address = _address(pattern, pool)
        response = client.get(address)
        if response.streaming:
            b"".join(response.streaming_content)  # read to its end, or its file stays open
        assert response.status_code in {200, 405}, (address, response.status_code)
        if response.status_code == 200 and response.headers["Content-Type"].startswith("text/html"):
            found[pattern.name] = address
    return found


def _address(pattern: URLPattern, pool: Pool) -> str:
    pair = pool.pairs.first()
    values = {
        "slug": pool.collection.slug if str(pattern.pattern).startswith("collections/") else pool.slug,
        "pair_id": pair.pk,
        "judge_id": Judge.objects.filter(kind=Judge.Kind.LLM).values_list("pk", flat=True).first(),
        "job_id": 0,  # changed by POST alone
        "prompt_name": "stepwise",
        "token": invite(pool=pool, days=1, seats=1).token,
    }
    parts = {name: values[name] for name in pattern.pattern.converters}
    query = f"?query={pair.query_id}" if pattern.name.endswith("agreement-pairs") else ""
    return reverse(pattern.name, kwargs=parts | pattern.default_args) + query


class Window:
    """A page of somebody signed in; ``complaints`` collects whatever hostile text brought about."""

    def __init__(self, browser: Browser, server: str, judge: Judge | None, **options: object) -> None:
        self.context: BrowserContext = browser.new_context(base_url=server, **options)  # type: ignore[arg-type]
        if judge is not None:
            self.context.add_cookies([_session(server, judge)])
        self.complaints: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self._host = urlsplit(server).netloc
        self.context.on("page", lambda page: self.complaints.append(f"opened {page.url}"))
        self.page.on("dialog", self._dialog)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("console", self._said)
        self.page.on("request", lambda request: self._requested(request.url))

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _said(self, message: ConsoleMessage) -> None:
        # The admin names no icon, so that browsers look for one where none is.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self.complaints.append(f"{message.text} ({message.location['url']})")

    def _requested(self, url: str) -> None:
        if urlsplit(url).netloc != self._host and not url.startswith("data:"):
            self.complaints.append(f"asked for {url}")

    def size(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def close(self) -> None:
        self.context.close()


def _session(server: str, judge: Judge) -> dict[str, object]:
    client = Client()
    client.force_login(judge.user)
    return {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value, "url": server}
