"""Home: the open pools, how far the person is in each, and one button that goes on."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judging.models import Judge, Pool, TrainingPair
from judging.steps import serve
from tests.factories import make_collection, make_person, make_pool
from tests.views.conftest import judge_all
from tests.views.pages import browser_of

pytestmark = pytest.mark.django_db

HOME = "/"
COMMAND = "python manage.py open_pool COLLECTION --run RUN"


def as_user(name: str) -> Judge:
    return Judge.objects.get(name=name)


def links(page) -> list[str]:
    return [link["href"] for link in page.all("a") if link["href"].startswith("/pools/")]


def test_without_a_pool_home_says_that_there_is_nothing_to_judge(as_person):
    page = as_person.page(HOME)
    assert "No pool is open now: there is nothing to judge." in page.text
    assert COMMAND not in page.text


def test_the_lead_is_told_how_to_open_a_pool(as_lead):
    assert COMMAND in as_lead.page(HOME).text


def test_a_pool_that_was_not_begun_can_be_started(pool, as_person):
    page = as_person.page(HOME)
    assert "0 of 3" in page.text
    assert "Start" in page.text
    assert links(page) == [reverse("judge", args=["cran"])]


def test_a_pool_that_was_begun_can_be_continued_and_looked_back_on(pool, person, as_person):
    judge_all(pool, person, [1, 0])
    page = as_person.page(HOME)
    assert "2 of 3" in page.text
    assert "Continue" in page.text
    assert links(page) == [reverse("judge", args=["cran"]), reverse("mine", args=["cran"])]
    progress = page.one("progress")
    assert (progress["value"], progress["max"]) == ("2", "3")


def test_when_all_is_judged_there_is_no_button(pool, person, as_person):
    judge_all(pool, person, [1, 0, 1])
    page = as_person.page(HOME)
    assert "You have judged everything there is for you here. Thank you." in page.text
    assert links(page) == [reverse("mine", args=["cran"])]


def test_when_others_hold_the_rest_home_says_until_when(pool, as_person):
    serve.next_pair(pool=pool, annotator=make_person("holder"))
    page = as_person.page(HOME)
    assert "The last 3 documents are held by others; the first may come free at" in page.text
    assert links(page) == []


def test_the_pool_where_the_person_stopped_comes_first_and_has_the_one_clear_button(pool, person, as_person):
    other = make_pool(make_collection(documents=["x", "y"]), name="later")
    judge_all(pool, person, [1])
    judge_all(other, person, [1])
    page = as_person.page(HOME)
    assert links(page) == [reverse(name, args=[slug]) for slug in ("later", "cran") for name in ("judge", "mine")]
    assert [link["href"] for link in page.all("a", class_="button main")] == [reverse("judge", args=["later"])]
    judge_all(other, person, [1])
    page = as_person.page(HOME)
    assert [link["href"] for link in page.all("a", class_="button main")] == [reverse("judge", args=["cran"])]


def test_one_of_many_documents_is_said_in_the_plural(pool, person, as_person):
    judge_all(pool, person, [1])
    assert "You have judged 1 of 3 documents of cran" in as_person.page(HOME).text


def test_training_that_comes_first_is_announced(pool, person, as_person):
    query = pool.collection.queries.get()
    for position, document in enumerate(pool.collection.documents.all()[:2]):
        TrainingPair.objects.create(pool=pool, position=position, query=query, document=document, grade=1)
    assert "2 training documents come first." in as_person.page(HOME).text


def test_what_is_left_to_others_is_said_when_nothing_else_is_left(pool, person, as_person):
    judge_all(pool, person, [1, 1])
    documents = pool.collection.documents
    documents.filter(docid="d3").update(digest=documents.get(docid="d1").digest)
    serve.release(pool=pool, annotator=person)
    text = as_person.page(HOME).text
    assert "1 document is left to others: you have judged the same text for its query already." in text
    assert "2 of 2" in text


@pytest.mark.parametrize("status", [Pool.Status.PAUSED, Pool.Status.CLOSED])
def test_only_open_pools_are_shown(pool, as_person, status):
    Pool.objects.update(status=status)
    assert "No pool is open now" in as_person.page(HOME).text


def test_each_person_sees_their_own_progress(judged_pool, as_person):
    assert "You have judged 0 of 8 documents" in as_person.page(HOME).text
    ben = browser_of(as_user("ben")).page(HOME)
    assert "You have judged 12 of 20 documents" in ben.text


def test_only_the_lead_has_links_to_the_results(pool, as_person, as_lead):
    menus = [[link["href"] for link in browser.page(HOME).all("a")] for browser in (as_person, as_lead)]
    assert reverse("overview") not in menus[0]
    assert "/admin/" not in menus[0]
    assert {reverse("overview"), "/admin/"} <= set(menus[1])


def test_home_costs_the_same_whatever_the_size_of_its_pool(person, django_assert_num_queries):
    make_pool(make_collection(documents=[f"d{n}" for n in range(50)]), depth=50)
    browser = browser_of(person)
    with django_assert_num_queries(8):
        browser.get(HOME)
