"""Sign-up links from the shell; pools and collections that go, and what is said before they do."""

from __future__ import annotations

import re

import pytest

from judging.models import Collection, Invitation, Judgment, Pool
from judging.steps import people
from tests.factories import make_collection, make_judgment, make_person, make_pool
from tests.views.pages import Browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    pool = make_pool(make_collection("cran", qrels={("q1", "d3"): 1}), name="cran")
    make_judgment(make_person("ada"), pool.collection, "q1", "d1", 1)
    return pool


def test_invite_prints_a_link_that_lets_people_in(pool, run):
    said = run("invite", "cran", "--days", "3", "--people", "2")
    assert "good for 2 people until" in said
    link = re.search(r"http://localhost:8000(/join/[\w-]{43}/)", said)
    assert Browser().get(link[1]).status_code == 200
    invitation = Invitation.objects.get()
    assert (invitation.pool, invitation.seats, invitation.created_by) == (pool, 2, None)


def test_invite_knows_where_the_application_is(pool, run, settings):
    assert run("invite", "cran", "--address", "https://judge.example.org/").startswith(
        "https://judge.example.org/join/"
    )
    settings.CSRF_TRUSTED_ORIGINS = ["https://behind.example.org"]
    assert run("invite", "cran", "--people", "1").startswith("https://behind.example.org/join/")


def test_invite_is_shown_on_the_leads_page_as_made_in_the_shell(pool, run, client):
    run("invite", "cran")
    client.force_login(make_person("lea", is_staff=True).user)
    assert "the shell" in client.get("/pools/cran/").content.decode()


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("invite", "nowhere"), "There is no pool 'nowhere'. There are: cran."),
        (("invite", "cran", "--days", "91"), "Expected 1 to 90 days, found 91."),
        (("invite", "cran", "--people", "0"), "expected a whole number of at least 1, found '0'"),
        (("delete_pool", "nowhere"), "There is no pool 'nowhere'"),
        (("delete_collection", "nowhere"), "There is no collection 'nowhere'"),
    ],
)
def test_what_cannot_be_is_refused(pool, refused, command, problem):
    assert problem in refused(*command)


def test_delete_pool_says_what_would_go_and_what_stays(pool, run):
    people.invite(pool=pool, days=1, seats=1)
    said = run("delete_pool", "cran")
    assert "cran would be deleted:\n  2 pairs" in said
    assert "would be kept:\n  1 judgments of people" in said
    assert "Nothing was deleted; give --yes to delete it." in said
    assert Pool.objects.exists()


def test_delete_pool_keeps_what_people_said(pool, run):
    assert "cran is deleted:" in run("delete_pool", "cran", "--yes")
    assert not Pool.objects.exists()
    assert Judgment.objects.by_people().get().grade == 1


def test_delete_collection_says_what_would_go(pool, run):
    said = run("delete_collection", "cran")
    assert "cran would be deleted:\n  3 documents\n  1 queries\n  1 runs" in said
    assert "1 judgments of people" in said
    assert Collection.objects.exists()


def test_delete_collection_deletes_everything_of_it(pool, run):
    other = make_collection("other", qrels={("q1", "d1"): 1})
    assert "cran is deleted:" in run("delete_collection", "cran", "--yes")
    assert list(Collection.objects.all()) == [other]
    assert Judgment.objects.count() == 1
    assert "There is no collection" not in run("delete_collection", "other", "--yes")
