"""My judgments: the person's own answers, newest first, to be looked through and corrected."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from judging.models import Pool
from judging.steps import serve
from tests.factories import make_collection, make_judgment, make_person, make_pool
from tests.views.conftest import judge_all
from tests.views.pages import Page, browser_of

pytestmark = pytest.mark.django_db

URL = "/pools/cran/mine/"


def documents(page: Page) -> list[str]:
    """The documents listed, in order."""
    return re.findall(r"text of (\w+)", page.text)


def test_who_has_judged_nothing_is_told_so(pool, as_person):
    page = as_person.page(URL)
    assert "No judgment of yours is here yet." in page.text
    assert not page.all("li")


def test_answers_are_listed_newest_first_with_grade_query_and_comment(pool, person, as_person):
    judge_all(pool, person, [1, None], comment="hard to say")
    page = as_person.page(URL)
    assert documents(page) == ["d2", "d1"]
    assert "Can't tell query q1 text of d2 hard to say 1 Relevant query q1 text of d1 hard to say" in page.text


def test_each_answer_leads_to_its_pair(pool, person, as_person):
    judge_all(pool, person, [1, 0])
    urls = [link["href"] for link in as_person.page(URL).all("a", dir="auto")]
    pairs = [pool.pairs.get(document__docid=docid).pk for docid in ("d2", "d1")]
    assert urls == [f"{reverse('judge', args=['cran'])}?pair={pair}" for pair in pairs]
    assert "text of d2" in as_person.page(urls[0]).text


@pytest.mark.parametrize(
    ("show", "listed"),
    [
        ("", ["d3", "d2", "d1"]),
        ("1", ["d1"]),
        ("0", ["d2"]),
        ("comment", ["d2"]),
        ("cannot_judge", ["d3"]),
        ("7", []),
        ("-", ["d3", "d2", "d1"]),
    ],
)
def test_the_list_is_filtered_by_grade_or_comment(pool, person, as_person, show, listed):
    judge_all(pool, person, [1])
    judge_all(pool, person, [0], comment="said so")
    judge_all(pool, person, [None])
    assert documents(as_person.page(f"{URL}?show={show}")) == listed


@pytest.mark.parametrize("show", ["9" * 6000, "'\"<x>", "\0", "٣"])
def test_a_filter_that_does_not_exist_is_no_server_error(pool, person, as_person, show):
    judge_all(pool, person, [1])
    assert as_person.get(URL, {"show": show}).status_code == 200


def test_the_chosen_filter_is_marked(pool, person, as_person):
    marked = [
        as_person.page(f"{URL}?show={show}").one("a", aria_current="page")["href"] for show in ("", "0", "comment")
    ]
    assert marked == ["?", "?show=0", "?show=comment"]


@pytest.fixture
def many(person):
    """120 answers, of which 60 are relevant."""
    docids = [f"d{n:03}" for n in range(120)]
    pool = make_pool(make_collection("cran", documents=docids), name="cran", depth=120)
    judge_all(pool, person, [0, 1] * 60)
    return pool


def test_answers_come_fifty_a_page_and_none_is_lost_or_shown_twice(many, as_person):
    pages = [as_person.page(f"{URL}?page={number}") for number in (1, 2, 3)]
    assert [len(documents(page)) for page in pages] == [50, 50, 20]
    assert sorted(docid for page in pages for docid in documents(page)) == [f"d{n:03}" for n in range(120)]
    assert documents(pages[0])[0] == "d119"
    assert ["Page 1 of 3" in pages[0].text, "Page 3 of 3" in pages[2].text] == [True, True]


def test_pages_keep_the_filter(many, as_person):
    page = as_person.page(f"{URL}?show=1")
    assert len(documents(page)) == 50
    (older,) = [link["href"] for link in page.all("a") if "page=" in link.get("href", "")]
    assert len(documents(as_person.page(URL + older))) == 10


@pytest.mark.parametrize(("page", "listed"), [("0", 20), ("99", 20), ("x", 50), ("", 50)])
def test_a_page_that_does_not_exist_shows_the_nearest_one(many, as_person, page, listed):
    assert len(documents(as_person.page(f"{URL}?page={page}"))) == listed


def test_a_page_of_answers_costs_the_same_however_many_there_are(many, as_person, django_assert_num_queries):
    for number in (1, 3):
        with django_assert_num_queries(6):
            as_person.get(f"{URL}?page={number}")


def test_nobody_sees_what_others_judged(pool, person, as_person):
    ben = make_person("ben")
    judge_all(pool, ben, [1, 1], comment="BEN'S")
    serve.release(pool=pool, annotator=ben)
    judge_all(pool, person, [0])
    page = as_person.page(URL)
    assert documents(page) == ["d3"]
    assert "BEN" not in page.text
    assert documents(browser_of(make_person("cleo")).page(URL)) == []


def test_answers_given_elsewhere_to_pairs_of_the_pool_are_listed_too(pool, person, as_person):
    judge_all(pool, make_person("ben"), [1, 1, 1])
    make_judgment(person, pool.collection, "q1", "d2", 1)
    make_judgment(person, pool.collection, "q1", "known", 1)
    page = as_person.page(URL)
    assert documents(page) == ["d2"]
    assert as_person.get(page.one("a", dir="auto")["href"]).status_code == 200


def test_a_closed_pool_can_still_be_looked_through(pool, person, as_person):
    judge_all(pool, person, [1])
    Pool.objects.update(status=Pool.Status.CLOSED)
    page = as_person.page(URL)
    assert documents(page) == ["d1"]
    assert as_person.get(page.one("a", dir="auto")["href"]).status_code == 200
