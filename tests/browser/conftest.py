"""A real Chromium against a real server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.services import ServiceMissingError, skip_or_fail

# Without these Chromium looks for hosts of its own at every start.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        skip_or_fail(ServiceMissingError("Chromium is not installed (Debian: apt-get install chromium)"))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=binary, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: Browser, live_server) -> Iterator[Callable[..., Page]]:
    """Open a page as somebody signed in; anything the browser complains about fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(user: str, **options: object) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        page.goto("/login/")
        page.fill("[name=username]", user)
        page.fill("[name=password]", "secret")
        page.click("main button[type=submit]")
        page.wait_for_url("**/")
        return page

    yield open_page
    for context in contexts:
        # A page that closes says so to the server, which must not hear it while the database is emptied.
        context.set_offline(True)
        context.close()
    assert complaints == []
