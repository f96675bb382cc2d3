"""What the tests of the judging page share: addresses, answers, and what was stored."""

from __future__ import annotations

from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from judging.models import Assignment, Judgment, LeaseState, Pair, Pool
from tests.views.pages import HTMX, Browser, Page


def judge_url(pool: Pool, pair: Pair | None = None) -> str:
    return reverse("judge", args=[pool.slug]) + (f"?pair={pair.pk}" if pair else "")


def shown(page: Page) -> int:
    """The pair that a page asks about."""
    form = page.one("form", class_="pair")
    return int(form["action"].rstrip("/").rpartition("/")[2])


def send(browser: Browser, pool: Pool, pair: int, *, htmx: bool = True, **fields: str):
    return browser.post(reverse("answer", args=[pool.slug, pair]), fields, headers=HTMX if htmx else {})


def answered(browser: Browser, pool: Pool, pair: int, status: int = 200, **fields: str) -> Page:
    response = send(browser, pool, pair, **fields)
    assert response.status_code == status
    return Page(response.content.decode())


def expire_leases() -> None:
    Assignment.objects.filter(state=LeaseState.LEASED).update(leased_until=timezone.now() - timedelta(seconds=1))


def by_people() -> list[tuple[str, int | None, str]]:
    return list(Judgment.objects.by_people().order_by("pk").values_list("document__docid", "grade", "outcome"))
