"""Nobody judges a text twice for a query, in whatever pool and under whatever id; no pair stays short for it."""

from __future__ import annotations

import pytest

from judging.models import Assignment, Judgment, LeaseState
from judging.steps import serve, standing
from judging.steps.judgments import Said
from tests.factories import make_collection, make_judgment, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    """``copy`` has the text of ``d1``."""
    return make_collection(documents={"d1": "one text", "copy": "one text", "d2": "another"}, queries=["q1", "q2"])


@pytest.fixture
def first(collection):
    return make_pool(collection, make_run(collection, {"q1": ["d1"], "q2": ["d2"]}, name="a"), name="first")


@pytest.fixture
def second(collection):
    return make_pool(collection, make_run(collection, {"q1": ["copy", "d2"]}, name="b"), name="second")


def judge_all(pool, annotator):
    order = []
    while (pair := serve.next_pair(pool=pool, annotator=annotator)) is not None:
        order.append((pair.query.qid, pair.document.docid))
        serve.answer(pair=pair, annotator=annotator, said=Said("graded", 1))
    return order


def test_a_copy_of_a_text_that_a_person_judged_for_the_query_does_not_come(first, second):
    person = make_person()
    judge_all(first, person)
    assert judge_all(second, person) == [("q1", "d2")]


def test_a_text_judged_for_another_query_comes(collection, first):
    person = make_person()
    make_judgment(person, collection, "q2", "copy", 1)
    assert ("q1", "d1") in judge_all(first, person)


def test_the_copy_is_left_to_others_and_does_not_stay_short(first, second):
    person, other = make_person(), make_person()
    judge_all(first, person)
    judge_all(second, person)
    progress = standing.progress(pool=second, annotator=person)
    assert (progress.answered, progress.open, progress.copies) == (1, 0, 1)
    assert judge_all(second, other) == [("q1", "copy")]
    assert standing.progress(pool=second, annotator=person).copies == 0


def test_of_two_copies_in_one_pool_a_person_judges_one(collection):
    """Texts may become equal when a collection is imported again."""
    pool = make_pool(collection, make_run(collection, {"q1": ["d1", "d2"]}), people=2)
    collection.documents.filter(docid="d2").update(digest=collection.documents.get(docid="d1").digest)
    people = [make_person() for _ in range(4)]
    assert [judge_all(pool, person) for person in people] == [
        [("q1", "d1")],
        [("q1", "d1")],
        [("q1", "d2")],
        [("q1", "d2")],
    ]
    assert not Assignment.objects.exclude(state=LeaseState.DONE).exists()


def test_a_copy_that_was_in_hand_already_is_given_back_when_the_text_is_judged_elsewhere(first, second):
    person, other = make_person(), make_person()
    assert serve.next_pair(pool=second, annotator=person).document.docid == "copy"
    judge_all(first, person)
    assert judge_all(second, person) == [("q1", "d2")]
    assert judge_all(second, other) == [("q1", "copy")]


def test_an_answer_to_a_copy_from_an_old_page_is_kept_all_the_same(first, second):
    person = make_person()
    pair = serve.next_pair(pool=second, annotator=person)
    judge_all(first, person)
    serve.answer(pair=pair, annotator=person, said=Said("graded", 0))
    assert Judgment.objects.filter(judge=person, document__docid="copy").get().grade == 0


def test_the_very_pair_judged_in_another_pool_fills_its_slot_and_does_not_come(collection, first):
    both = make_pool(collection, make_run(collection, {"q1": ["d1", "d2"]}, name="c"), name="both")
    person = make_person()
    judge_all(first, person)
    assert judge_all(both, person) == [("q1", "d2")]
    assert Assignment.objects.get(pair__pool=both, pair__document__docid="d1").annotator == person
    progress = standing.progress(pool=both, annotator=person)
    assert (progress.answered, progress.open, progress.copies) == (2, 0, 0)


def test_copies_in_the_hands_of_others_are_nothing_to_wait_for(first, second):
    person = make_person()
    judge_all(first, person)
    judge_all(second, person)
    serve.next_pair(pool=second, annotator=make_person())
    progress = standing.progress(pool=second, annotator=person)
    assert (progress.held_by_others, progress.copies) == (0, 1)
