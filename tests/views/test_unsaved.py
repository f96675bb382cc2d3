"""An answer that cannot be saved is repeated with its comment, to be copied or sent again."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from judging.models import Assignment, Judgment, LeaseState, Pair, Pool
from judging.steps import serve
from judging.steps.judgments import Said
from tests.factories import make_collection, make_person, make_pool, make_run
from tests.views.pages import HTMX, Page

pytestmark = pytest.mark.django_db

URL = "/pools/cran/judge/"
COMMENT = "It says so\nin <b>line</b> two."


def send(browser, pair, *, htmx=True, **fields):
    url = reverse("answer", args=["cran", pair])
    return browser.post(url, fields, headers=HTMX if htmx else {})


def shown(page: Page) -> int:
    return int(page.one("form", class_="pair")["action"].rstrip("/").rpartition("/")[2])


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("status", [Pool.Status.PAUSED, Pool.Status.CLOSED])
def test_a_pool_that_is_not_open_repeats_the_answer_to_be_sent_again(pool, as_person, status, htmx):
    pair, key = shown(as_person.page(URL)), str(uuid4())
    Pool.objects.update(status=status)
    fields = {"answer": "1", "comment": COMMENT, "key": key, "seconds": "7.5"}
    response = send(as_person, pair, htmx=htmx, **fields)
    page = Page(response.content.decode())
    assert response.status_code == 409
    assert "Your answer was not saved" in page.text
    assert "query q1 Document text of d1 Your answer Relevant Your comment It says so in <b>line</b> two." in page.text
    assert not Judgment.objects.by_people().exists()
    form = page.one("form", action=reverse("answer", args=["cran", pair]))
    assert form["hx-post"] == form["action"]
    again = {name: page.one("input", name=name)["value"] for name in fields}
    assert again == fields
    Pool.objects.update(status=Pool.Status.OPEN)
    assert send(as_person, pair, htmx=htmx, **again).status_code == (200 if htmx else 303)
    judgment = Judgment.objects.by_people().get()
    assert (judgment.grade, judgment.comment, judgment.seconds) == (1, COMMENT, 7.5)


def test_sent_again_while_the_pool_is_still_closed_it_is_repeated_again(pool, as_person):
    pair = shown(as_person.page(URL))
    Pool.objects.update(status=Pool.Status.CLOSED)
    for _ in range(2):
        page = Page(send(as_person, pair, answer="cannot_judge", comment="why").content.decode())
        assert "Your answer Can't tell Your comment why" in page.text
        assert page.one("input", name="answer")["value"] == "cannot_judge"


def test_a_lost_lease_repeats_the_answer_beside_the_next_pair(as_person):
    collection = make_collection(documents=["d1", "d2"], queries=["q1", "q2"])
    pool = make_pool(collection, make_run(collection, {"q1": ["d1"], "q2": ["d2"]}), name="cran")
    pair = shown(as_person.page(URL))
    Assignment.objects.filter(state=LeaseState.LEASED).update(leased_until=timezone.now() - timedelta(seconds=1))
    serve.answer(pair=Pair.objects.get(pk=pair), annotator=make_person(), said=Said("graded", 1))
    page = Page(send(as_person, pair, answer="0", comment=COMMENT).content.decode())
    assert "Others have judged this document meanwhile" in page.text
    assert "Your answer Not relevant Your comment It says so in <b>line</b> two." in page.text
    assert not page.all("form", action=reverse("answer", args=["cran", pair]))
    assert shown(page) != pair
    assert pool.pairs.filter(pk=shown(page)).exists()


def test_what_can_be_mended_in_the_form_stays_in_the_form(pool, as_person):
    pair = shown(as_person.page(URL))
    page = Page(send(as_person, pair, answer="9", comment="stays").content.decode())
    assert shown(page) == pair
    assert "Expected one of the grades 0, 1" in page.text
    assert "stays" in page.text
    assert "Your answer was not saved" not in page.text


def test_a_comment_that_is_too_long_comes_back_whole(pool, as_person):
    pair = shown(as_person.page(URL))
    page = Page(send(as_person, pair, answer="1", comment="x" * 4001).content.decode())
    assert shown(page) == pair
    assert "x" * 4001 in page.text


def test_a_mistake_in_a_correction_leads_back_to_the_pair_that_was_corrected(pool, as_person):
    first = shown(as_person.page(URL))
    send(as_person, first, answer="1")
    page = Page(send(as_person, first, answer="9", comment="mine").content.decode())
    assert shown(page) == first
    assert "mine" in page.text


def test_nothing_of_this_is_there_when_all_is_well(pool, as_person):
    pair = shown(as_person.page(URL))
    page = Page(send(as_person, pair, answer="1").content.decode())
    assert "not saved" not in page.text
