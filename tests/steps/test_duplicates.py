"""Documents of one text, and what their judgments say together."""

from __future__ import annotations

import pytest

from judging.errors import UserError
from judging.steps.duplicates import GroupJudgments, duplicates, near_takes_long
from tests.factories import make_collection, make_document, make_judgment, make_llm, make_person

pytestmark = pytest.mark.django_db

LONG = "the boundary layer on a flat plate in laminar and then in turbulent flow at a low speed of the air"


@pytest.fixture
def collection():
    """d1 and d3 share a text, so do d4, d5 and d6; d7 differs from d2 in its last word; nothing is like d8."""
    return make_collection(
        documents={
            "d1": "heat  transfer",
            "d2": LONG,
            "d3": "heat transfer",
            "d4": "same",
            "d5": "same",
            "d6": "same",
            "d7": LONG.removesuffix("air") + "gas",
            "d8": "cooking",
        },
        queries=["q1", "q2"],
        qrels={("q1", "d1"): 1, ("q2", "d4"): 1, ("q2", "d5"): 0, ("q1", "d2"): 1, ("q1", "d7"): 0},
    )


def test_groups_of_exactly_one_text_come_with_their_judgments(collection):
    first, second = duplicates(collection=collection)
    assert first.documents == ("d1", "d3")
    assert first.queries == [GroupJudgments("q1", {"d1": 1}, ("d3",))]
    assert (first.conflicts, first.incomplete) == ([], first.queries)
    assert second.documents == ("d4", "d5", "d6")
    assert second.queries == [GroupJudgments("q2", {"d4": 1, "d5": 0}, ("d6",))]
    assert (second.conflicts, second.incomplete) == (second.queries, second.queries)


def test_near_duplicates_are_found_where_they_are_asked_for(collection):
    groups = duplicates(collection=collection, near=0.8)
    assert [group.documents for group in groups] == [("d1", "d3"), ("d2", "d7"), ("d4", "d5", "d6")]
    assert groups[1].conflicts == [GroupJudgments("q1", {"d2": 1, "d7": 0}, ())]
    assert groups[1].incomplete == []


def test_people_count_and_llms_do_not(collection):
    make_judgment(make_person(), collection, "q1", "d3", 0)
    make_judgment(make_llm(), collection, "q2", "d6", 1)
    first, second = duplicates(collection=collection)
    assert first.conflicts == [GroupJudgments("q1", {"d1": 1, "d3": 0}, ())]
    assert second.incomplete[0].unjudged == ("d6",)


def test_documents_of_other_collections_and_empty_ones_are_no_duplicates(collection):
    other = make_collection(documents={"a": "same", "b": " ", "c": ""})
    assert duplicates(collection=other) == []
    assert duplicates(collection=other, near=0.5) == []


def test_a_threshold_that_is_none_is_refused(collection):
    with pytest.raises(UserError, match=r"lies above 0 and is at most 1; found 1\.5"):
        duplicates(collection=collection, near=1.5)


def test_near_duplicates_are_looked_for_once_and_again_when_the_corpus_is_another(collection, monkeypatch):
    compared = []

    def track(items, total, what):
        compared.append(total)
        return items

    first = duplicates(collection=collection, near=0.8, track=track)
    assert duplicates(collection=collection, near=0.8, track=track) == first
    duplicates(collection=collection, near=0.7, track=track)
    make_document(collection, "d9", LONG)
    assert [g.documents for g in duplicates(collection=collection, near=0.8, track=track)][1] == ("d2", "d7", "d9")
    assert compared == [8, 8, 9]


def test_near_duplicates_of_many_texts_take_long_until_they_are_known(collection, monkeypatch):
    assert not near_takes_long(collection, 0.8)
    monkeypatch.setattr("judging.steps.duplicates._AT_ONCE", 7)
    assert near_takes_long(collection, 0.6)
    duplicates(collection=collection, near=0.6)
    assert not near_takes_long(collection, 0.6)
