"""Who may open what: nobody without an account, results only the lead; and nothing in a page can be made to run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from judging.models import Pair, Pool
from judging.views import (
    agreement,
    annotate,
    disagreements,
    duplicates,
    judges,
    lead,
    pool_llms,
    pools,
    prompts,
    quality,
)
from tests.factories import make_person
from tests.views.pages import HTMX, Browser, Page, browser_of

pytestmark = pytest.mark.django_db

# Anything that an address can ask for; the pool and its collection have the same short name.
VALUES: dict[str, object] = {
    "slug": "cran",
    "app_label": "judging",
    "object_id": "1",
    "content_type_id": "1",
    "id": "1",
}
VALUES |= {"url": "nothing", "token": "x" * 43, "judge_id": 1, "name": "coefficients", "form": "svg"}
VALUES |= {"job_id": 1, "prompt_name": "pointwise"}

# <int:pair_id>, and the (?P<app_label>…) of the admin.
PARAMETER = re.compile(r"<(?:\w+:)?(?P<plain>\w+)>(?![^(]*\))|\(\?P<(?P<regex>\w+)>[^)]*\)")

# The sign-up page says to everybody that a link is unknown, and no more.
OPEN_TO_ALL = {"/login/", "/admin/login/", "/language/", f"/join/{VALUES['token']}/"}
POST_ONLY = (
    "answer", "skip", "heartbeat", "leave", "train", "logout", "pool-status", "pool-overlap", "pool-release",
    "pool-add", "pool-remove", "pool-everybody", "pool-invite", "pool-revoke", "verdict", "calibrate",
    "pool-llm-start", "pool-llm-change",
)  # fmt: skip
# The list of prompts has the form for one's own.
BOTH = ("prompts",)
OF_LEAD = {
    view.__name__ for view in (agreement, disagreements, duplicates, judges, lead, pool_llms, pools, prompts, quality)
}


def walk(patterns: list[Any], prefix: str = "") -> Iterator[tuple[URLPattern, str]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern.url_patterns, route)
        else:
            yield pattern, route


def addresses(pair: Pair) -> list[tuple[URLPattern, str]]:
    """Every address there is, filled in with what exists."""
    values = {**VALUES, "pair_id": pair.pk}

    def fill(parameter: re.Match[str]) -> str:
        return str(values[parameter["plain"] or parameter["regex"]])

    routes = walk(get_resolver().url_patterns)
    return [(pattern, "/" + PARAMETER.sub(fill, route).strip("^$")) for pattern, route in routes]


@pytest.fixture
def every_address(pool: Pool) -> list[tuple[URLPattern, str]]:
    return addresses(pool.pairs.first())


def test_every_address_is_known_to_the_walk(every_address):
    urls = [url for _, url in every_address]
    assert len(urls) > 60
    assert not [url for url in urls if "<" in url or "(" in url or "%" in url]
    assert {reverse("home"), reverse("judge", args=["cran"]), reverse("export-download", args=["cran"])} <= set(urls)


def test_every_page_but_the_sign_in_asks_for_it(every_address):
    browser = Browser()
    opened = set()
    for _, url in every_address:
        for response in (browser.get(url), browser.post(url)):
            if response.status_code == 302 and response.headers["Location"].startswith(("/login/?", "/admin/login/?")):
                continue
            opened.add(url)
    assert opened == OPEN_TO_ALL


def test_who_signs_in_goes_on_where_they_wanted_to(pool):
    make_person("ann")
    browser = Browser()
    wanted = reverse("judge", args=["cran"])
    sign_in = browser.get(wanted).headers["Location"]
    done = browser.post(sign_in, {"username": "ann", "password": "secret"})
    assert (done.status_code, done.headers["Location"]) == (302, wanted)


def test_a_wrong_password_is_said_and_opens_nothing(pool):
    make_person("ann")
    browser = Browser()
    response = browser.post("/login/", {"username": "ann", "password": "guess"})
    assert response.status_code == 200
    assert "correct username and password" in Page(response.content.decode()).text
    assert browser.get("/").status_code == 302


def test_htmx_is_sent_to_the_sign_in_instead_of_swapping_it_into_the_page(pool):
    response = Browser().post(
        reverse("answer", args=["cran", pool.pairs.first().pk]),
        headers={**HTMX, "HX-Current-URL": "http://testserver/pools/cran/judge/?pair=7"},
    )
    assert response.status_code == 204
    assert response.headers["HX-Redirect"] == "/login/?next=%2Fpools%2Fcran%2Fjudge%2F%3Fpair%3D7"


def test_signing_in_does_not_lead_to_another_host(pool):
    make_person("ann")
    done = Browser().post("/login/?next=https://evil.example/", {"username": "ann", "password": "secret"})
    assert done.headers["Location"] == "/"


def test_a_form_without_its_token_is_refused(pool, person):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person.user)
    assert browser.post(reverse("leave", args=["cran"])).status_code == 403


def test_a_page_with_an_old_token_is_loaded_again(pool, person):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person.user)
    response = browser.post(reverse("answer", args=["cran", pool.pairs.first().pk]), {"answer": "1"}, headers=HTMX)
    assert (response.status_code, response.headers["HX-Refresh"]) == (403, "true")


def test_every_page_of_the_lead_refuses_annotators(every_address, as_person):
    of_lead = [url for pattern, url in every_address if pattern.callback.__module__ in OF_LEAD]
    assert len(of_lead) > 20
    for url in of_lead:
        responses = {as_person.get(url).status_code, as_person.post(url, {"status": "closed"}).status_code}
        assert responses <= {403, 405}, url
        assert 403 in responses, url
    assert Pool.objects.get().status == "open"


def test_annotators_are_told_whose_page_it_is(pool, as_person):
    assert "This page is for the lead" in as_person.page(reverse("overview"), status=403).text


def test_the_admin_refuses_annotators(every_address, as_person):
    of_admin = [url for _, url in every_address if url.startswith("/admin/") and url != "/admin/login/"]
    assert len(of_admin) > 30
    for url in of_admin:
        assert as_person.get(url).status_code in {302, 403}, url


def test_the_lead_may_annotate_too(pool, as_lead):
    assert as_lead.get(reverse("judge", args=["cran"])).status_code == 200


def test_what_changes_something_refuses_get(every_address, as_lead):
    names = {pattern.name: url for pattern, url in every_address if not url.startswith("/admin/")}
    for name in POST_ONLY:
        assert as_lead.get(names[name]).status_code == 405, name
    assert Pool.objects.get().status == "open"


def test_what_only_shows_refuses_post(every_address, as_lead):
    ours = {annotate.__name__, *OF_LEAD}
    shown = [
        url
        for pattern, url in every_address
        if pattern.callback.__module__ in ours and pattern.name not in POST_ONLY + BOTH
    ]
    assert len(shown) > 12
    for url in shown:
        assert as_lead.post(url).status_code == 405, url


def test_pages_of_persons_are_not_kept_by_caches(every_address, as_lead):
    ours = {annotate.__name__, *OF_LEAD}
    for pattern, url in every_address:
        if pattern.callback.__module__ in ours and pattern.name not in POST_ONLY:
            response = as_lead.get(url)
            assert "no-store" in response.headers.get("Cache-Control", "") or response.status_code in {303, 404}, url


def test_what_does_not_exist_is_not_found(as_lead):
    for name in (
        "judge", "mine", "pool", "agreement", "disagreements", "adjudication",
        "collection", "judges", "evaluation", "export", "export-download",
    ):  # fmt: skip
        assert "There is nothing at this address" in as_lead.page(reverse(name, args=["nowhere"]), status=404).text


def test_the_admin_shows_rows_in_strict_pages_and_lets_nobody_break_them(judged_pool):
    root = User.objects.create_superuser("root", password="secret")
    browser = browser_of(make_person("unused"))
    browser.force_login(root)
    index = browser.page("/admin/")
    assert not index.all("a", class_="deletelink")
    models = ("collection", "pool", "judge", "document", "query", "run", "judgment", "assignment")
    for model in models:
        assert browser.get(f"/admin/judging/{model}/?q=1").status_code == 200
        rows = [
            link["href"]
            for link in browser.page(f"/admin/judging/{model}/").all("a")
            if "/change/" in link.get("href", "")
        ]
        assert rows, model
        assert browser.get(rows[0]).status_code == 200
        assert browser.get(f"/admin/judging/{model}/add/").status_code == 403
        assert browser.post(rows[0].split("?")[0].replace("/change/", "/delete/"), {"post": "yes"}).status_code == 403
