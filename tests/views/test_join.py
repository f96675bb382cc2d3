"""The sign-up page behind an invitation: it makes an account, or lets one that is signed in join."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from judging.models import Invitation, Judge, Pool
from judging.steps import people
from tests.factories import make_judgment, make_person
from tests.views.pages import Browser, Page, browser_of

pytestmark = pytest.mark.django_db

PASSWORD = "a long and odd one"


@pytest.fixture
def link(pool):
    return reverse("join", args=[people.invite(pool=pool, days=7, seats=2).token])


def sign_up(browser: Browser, link: str, name: str = "ann", password: str = PASSWORD, again: str | None = None):
    fields = {"username": name, "password1": password, "password2": password if again is None else again}
    return browser.post(link, fields)


def text_of(response) -> str:
    return Page(response.content.decode()).text


def test_somebody_without_an_account_makes_one_and_is_led_to_the_pool(pool, link):
    browser = Browser()
    assert "Judge in “cran”" in browser.page(link).text
    response = sign_up(browser, link)
    assert (response.status_code, response.headers["Location"]) == (303, reverse("home"))
    home = browser.page(reverse("home"))
    assert "Welcome. You may judge in “cran” now." in home.text
    assert home.one("a", class_="button main")["href"] == reverse("judge", args=["cran"])
    assert pool.annotators.get().name == "ann"


def test_a_new_account_is_an_annotator_and_nothing_more(link):
    sign_up(Browser(), link)
    user = User.objects.get()
    assert (user.is_staff, user.is_superuser, user.check_password(PASSWORD)) == (False, False, True)


@pytest.mark.parametrize(
    ("name", "password", "again", "problem"),
    [
        ("ann", "short", None, "too short"),
        ("ann", "password123", None, "too common"),
        ("annabella", "annabella1", None, "too similar"),
        ("ann", PASSWORD, "another", "didn’t match"),
        ("a b", PASSWORD, None, "Enter a valid username"),
        ("", PASSWORD, None, "This field is required"),
        ("Taken", PASSWORD, None, "This name is taken"),
        ("ADA", PASSWORD, None, "This name is taken"),
    ],
)
def test_what_is_wrong_is_said_and_no_account_is_made_and_no_seat_taken(pool, link, name, password, again, problem):
    make_person("taken")
    Judge.objects.create(kind="person", name="ada")
    response = sign_up(Browser(), link, name, password, again)
    assert response.status_code == 200
    assert problem in text_of(response)
    assert User.objects.count() == 1
    assert Invitation.objects.get().uses == 0


def test_nobody_takes_over_labels_that_were_imported_under_their_name(pool, link):
    imported = Judge.objects.create(kind="person", name="ada")
    make_judgment(imported, pool.collection, "q1", "d1", 1)
    sign_up(Browser(), link, "ada")
    assert not User.objects.exists()


def test_somebody_signed_in_joins_as_they_are(pool, link, person, as_person):
    page = as_person.page(link)
    assert "You are signed in as ann" in page.text
    assert not page.all("input", type="password")
    assert as_person.post(link).status_code == 303
    assert pool.annotators.get() == person
    assert Invitation.objects.get().uses == 1


def test_somebody_with_an_account_signs_in_and_comes_back(pool, link, person):
    browser = Browser()
    sign_in = next(a["href"] for a in browser.page(link).all("a") if a["href"].startswith("/login/"))
    done = browser.post(sign_in, {"username": "ann", "password": "secret"})
    assert done.headers["Location"] == link


def test_looking_at_a_link_takes_no_seat(link, as_person):
    for browser in (Browser(), as_person):
        assert browser.get(link).status_code == 200
    assert Invitation.objects.get().uses == 0


def test_a_link_that_does_not_work_says_why_and_what_to_do(pool, link, as_person):
    for change, reason in (
        ({"expires_at": timezone.now() - timedelta(minutes=1)}, "was good until"),
        ({"expires_at": timezone.now() + timedelta(days=1), "uses": 2}, "As many people"),
        ({"uses": 0, "revoked_at": timezone.now()}, "was withdrawn"),
    ):
        Invitation.objects.update(**change)
        for browser in (Browser(), as_person):
            for response in (browser.get(link), browser.post(link), sign_up(browser, link, "new")):
                assert response.status_code == 404
                assert reason in text_of(response)
                assert "Ask whoever sent it for another." in text_of(response)
    assert set(User.objects.values_list("username", flat=True)) == {"ann"}
    assert not pool.annotators.exists()


def test_an_unknown_link_says_so(pool):
    for token in ("x", "x" * 43, "é", "a" * 500):
        response = Browser().get(reverse("join", args=[token]))
        assert response.status_code == 404
        assert "This link is not known here." in text_of(response)


def test_the_link_of_a_closed_pool_says_that_it_is_closed(pool, link):
    Pool.objects.update(status=Pool.Status.CLOSED)
    assert "The pool “cran” is closed" in text_of(Browser().get(link))


def test_the_page_is_not_kept_by_caches(link):
    assert "no-store" in Browser().get(link).headers["Cache-Control"]


def test_a_seat_that_went_while_the_form_was_filled_in_is_said(pool, link):
    browser = Browser()
    browser.get(link)
    for name in ("ben", "cleo"):
        sign_up(Browser(), link, name)
    response = sign_up(browser, link, "ann")
    assert "As many people as this link is for have used it." in text_of(response)
    assert not User.objects.filter(username="ann").exists()


def test_a_password_that_somebody_else_gave_can_be_changed(pool):
    account = people.create_account(pool=pool, name="ann")
    browser = browser_of(Judge.objects.get(name="ann"))
    assert reverse("password") in [a["href"] for a in browser.page("/").all("a")]
    fields = {"old_password": account.password, "new_password1": PASSWORD, "new_password2": PASSWORD}
    wrong = browser.post(reverse("password"), fields | {"old_password": "guess"})
    assert "old password was entered incorrectly" in text_of(wrong)
    assert browser.post(reverse("password"), fields).headers["Location"] == "/"
    assert "Your password is changed." in browser.page("/").text
    assert User.objects.get().check_password(PASSWORD)
