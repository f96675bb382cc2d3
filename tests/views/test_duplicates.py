"""The page of duplicates: groups whose grades conflict, groups judged in part, near ones on demand."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judging.formats.scale import default_scale
from judging.steps.duplicates import duplicates
from tests.factories import make_collection, make_judgment, make_person

pytestmark = pytest.mark.django_db

LONG = "the boundary layer on a flat plate in laminar and then in turbulent flow at a low speed of the air"


@pytest.fixture
def collection():
    return make_collection(
        "cran",
        documents={"a1": "same", "a2": "same", "b1": "alike", "b2": "alike", "n1": LONG, "n2": f"{LONG} here"},
        queries={"q1": "first question", "q2": "second question"},
        qrels={("q1", "a1"): 1, ("q1", "a2"): 0, ("q2", "b1"): 2, ("q1", "n1"): 2},
        scale=default_scale(2),
    )


def address(collection, query=""):
    return reverse("duplicates", args=[collection.slug]) + query


def test_groups_whose_grades_conflict_come_first(collection, as_lead):
    page = as_lead.page(address(collection))
    assert "2 groups of documents with exactly one text, 4 documents together." in page.text
    assert len(page.all("article")) == 1
    assert "Grades that conflict 1 One judged, another not 1 a1 · a2 same first question a1 1 Relevant" in page.text
    assert "a2 0 Not relevant" in page.text


def test_groups_judged_in_part_say_who_has_no_grade(collection, as_lead):
    page = as_lead.page(address(collection, "?show=incomplete"))
    assert len(page.all("article")) == 1
    assert "b1 · b2 alike second question b1 2 Highly relevant b2 not judged" in page.text


def test_what_people_said_completes_a_group(collection, as_lead):
    make_judgment(make_person(), collection, "q2", "b2", 2)
    assert "There is no such group." in as_lead.page(address(collection, "?show=incomplete")).text


def test_near_duplicates_are_shown_on_demand_with_both_texts(collection, as_lead):
    page = as_lead.page(address(collection, "?near=0.8&show=incomplete"))
    assert "3 groups of documents whose texts resemble each other by 0.8 or more" in page.text
    assert f"n1 · n2 {LONG} {LONG} here first question n1 2 Highly relevant n2 not judged" in page.text
    assert page.one("input", name="near")["value"] == "0.8"


@pytest.mark.parametrize("near", ["0", "1.1", "nan", "x"])
def test_a_threshold_that_is_none_is_refused_on_the_page(collection, as_lead, near):
    response = as_lead.get(address(collection, f"?near={near}"), follow=True)
    assert response.redirect_chain == [(address(collection), 303)]
    assert f"lies above 0 and is at most 1; found {near}." in response.content.decode()


def test_a_large_corpus_is_left_to_the_command_whose_groups_the_page_shows(collection, as_lead, monkeypatch):
    monkeypatch.setattr("judging.steps.duplicates._AT_ONCE", 5)
    response = as_lead.get(address(collection, "?near=0.75"), follow=True)
    assert "python manage.py duplicates cran --near 0.75" in response.content.decode()
    duplicates(collection=collection, near=0.75)
    assert "3 groups" in as_lead.page(address(collection, "?near=0.75")).text


def test_the_collection_leads_there(collection, as_lead):
    page = as_lead.page(reverse("collection", args=["cran"]))
    assert page.one("a", href=address(collection))


def test_annotators_are_kept_out(collection, as_person):
    assert as_person.get(address(collection)).status_code == 403


def test_more_groups_do_not_take_more_queries(as_lead, django_assert_num_queries):
    for number in (1, 3):
        documents = {f"d{n}{side}": f"text {n}" for n in range(number) for side in "ab"}
        qrels = {("q1", docid): index % 2 for index, docid in enumerate(documents)}
        made = make_collection(documents=documents, qrels=qrels)
        with django_assert_num_queries(10):
            assert len(as_lead.page(address(made)).all("article")) == number
