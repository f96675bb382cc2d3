"""People annotate: pairs are handed out so that none is lost, none is judged too often, and nobody waits in vain."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from judging.errors import UserError
from judging.models import Assignment, Judgment, JudgmentEvent, LeaseState, Pool
from judging.steps import serve, standing
from judging.steps.judgments import Said
from judging.steps.turn import previous_turn
from tests.factories import make_collection, make_document, make_judgment, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection(
        documents=["d1", "d2", "d3", "d4"], queries=["q1", "q2"], qrels={("q1", "d4"): 1, ("q2", "d4"): 1}
    )


@pytest.fixture
def pool(collection):
    run = make_run(collection, {"q1": ["d1", "d2", "d3"], "q2": ["d3", "d2", "d1"]})
    return make_pool(collection, run, depth=3)


def grade(pair, annotator, value=1, key=None):
    return serve.answer(pair=pair, annotator=annotator, said=Said(outcome="graded", grade=value, key=key))


def judge_all(pool, annotator):
    order = []
    while (pair := serve.next_pair(pool=pool, annotator=annotator)) is not None:
        order.append((pair.query.qid, pair.document.docid))
        grade(pair, annotator)
    return order


def expire_leases():
    Assignment.objects.filter(state=LeaseState.LEASED).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_one_query_at_a_time_its_documents_in_rank_order(pool):
    order = judge_all(pool, make_person())
    queries = [query for query, _ in order]
    assert queries in (["q1"] * 3 + ["q2"] * 3, ["q2"] * 3 + ["q1"] * 3)
    assert [d for q, d in order if q == "q1"] == ["d1", "d2", "d3"]
    assert [d for q, d in order if q == "q2"] == ["d3", "d2", "d1"]


def test_the_same_pair_comes_until_it_is_answered(pool):
    person = make_person()
    assert serve.next_pair(pool=pool, annotator=person) == serve.next_pair(pool=pool, annotator=person)


def test_two_people_get_different_queries_while_one_would_do(pool):
    first = serve.next_pair(pool=pool, annotator=make_person())
    second = serve.next_pair(pool=pool, annotator=make_person())
    assert {first.query.qid, second.query.qid} == {"q1", "q2"}


def test_nobody_gets_what_is_in_others_hands(pool):
    for _ in range(2):
        serve.next_pair(pool=pool, annotator=make_person())
    late = make_person()
    assert serve.next_pair(pool=pool, annotator=late) is None
    progress = standing.progress(pool=pool, annotator=late)
    assert (progress.answered, progress.open, progress.held_by_others) == (0, 6, 6)
    assert progress.free_again_at is not None


def test_progress_told_what_is_open_beyond_the_pairs_in_hand_is_the_progress_counted_anew(pool):
    person = make_person()
    pair = serve.next_pair(pool=pool, annotator=person)
    beyond = standing.progress(pool=pool, annotator=person).beyond
    assert beyond == 3
    grade(pair, person)
    told = standing.progress(pool=pool, annotator=person, beyond=beyond)
    assert (told.answered, told.open) == (1, 5)
    assert told == standing.progress(pool=pool, annotator=person)


def test_what_was_open_beyond_is_counted_anew_once_nothing_is_in_hand(pool):
    person = make_person()
    for _ in range(3):
        grade(serve.next_pair(pool=pool, annotator=person), person)
    told = standing.progress(pool=pool, annotator=person, beyond=77)
    assert (told.answered, told.open) == (3, 3)


def test_what_a_person_left_comes_free_when_their_lease_runs_out(pool):
    for _ in range(2):
        serve.next_pair(pool=pool, annotator=make_person())
    expire_leases()
    assert len(judge_all(pool, make_person())) == 6


def test_leaving_frees_what_one_holds_at_once(pool):
    leaver, other = make_person(), make_person()
    serve.next_pair(pool=pool, annotator=leaver)
    assert serve.release(pool=pool, annotator=leaver) == 3
    assert len(judge_all(pool, other)) == 6


def test_the_wanted_overlap_is_filled_by_different_people(collection):
    pool = make_pool(collection, depth=3, people=2)
    people = [make_person() for _ in range(3)]
    assert [len(judge_all(pool, person)) for person in people] == [6, 6, 0]
    assert Judgment.objects.by_people().count() == 12


def test_a_begun_query_is_finished_before_another_is_begun(collection):
    pool = make_pool(collection, depth=3)
    person = make_person()
    first = serve.next_pair(pool=pool, annotator=person)
    grade(first, person)
    expire_leases()
    serve.release(pool=pool, annotator=person)
    assert serve.next_pair(pool=pool, annotator=person).query == first.query


def test_a_late_answer_counts_while_nobody_else_has_taken_the_pair(pool):
    person = make_person()
    pair = serve.next_pair(pool=pool, annotator=person)
    expire_leases()
    grade(pair, person)
    assert Assignment.objects.get(pair=pair).state == LeaseState.DONE


def test_a_late_answer_is_refused_when_others_have_judged_the_pair(pool):
    slow, quick = make_person(), make_person()
    pair = serve.next_pair(pool=pool, annotator=slow)
    expire_leases()
    judge_all(pool, quick)
    with pytest.raises(serve.LeaseLostError):
        grade(pair, slow)
    assert not Judgment.objects.filter(judge=slow).exists()


def test_the_same_press_twice_is_stored_once(pool):
    person, key = make_person(), uuid4()
    pair = serve.next_pair(pool=pool, annotator=person)
    assert grade(pair, person, 1, key) == grade(pair, person, 1, key)
    assert JudgmentEvent.objects.count() == 1


def test_a_correction_replaces_the_answer_and_keeps_its_history(pool):
    person = make_person()
    pair = serve.next_pair(pool=pool, annotator=person)
    grade(pair, person, 1)
    judgment = grade(pair, person, 0)
    assert judgment.grade == 0
    assert list(judgment.events.values_list("grade", flat=True)) == [1, 0]


def test_a_grade_outside_the_scale_is_refused_and_nothing_is_stored(pool):
    person = make_person()
    pair = serve.next_pair(pool=pool, annotator=person)
    with pytest.raises(UserError, match="0, 1"):
        grade(pair, person, 2)
    assert Assignment.objects.get(pair=pair).state == LeaseState.LEASED


@pytest.mark.parametrize("status", [Pool.Status.PAUSED, Pool.Status.CLOSED])
def test_a_pool_that_is_not_open_takes_no_answer(pool, status):
    person = make_person()
    pair = serve.next_pair(pool=pool, annotator=person)
    Pool.objects.update(status=status)
    pair.pool.refresh_from_db()
    with pytest.raises(serve.PoolNotOpenError):
        grade(pair, person)
    assert Judgment.objects.by_people().count() == 0


def test_what_is_put_off_comes_again_at_the_end(pool):
    person = make_person()
    put_off = serve.next_pair(pool=pool, annotator=person)
    serve.skip(pair=put_off, annotator=person)
    order = judge_all(pool, person)
    assert len(order) == 6
    assert order[-1] == (put_off.query.qid, put_off.document.docid)


def test_what_one_puts_off_another_may_take(pool):
    person, other = make_person(), make_person()
    put_off = serve.next_pair(pool=pool, annotator=person)
    serve.skip(pair=put_off, annotator=person)
    serve.release(pool=pool, annotator=person)
    assert serve.next_pair(pool=pool, annotator=other) == put_off


def test_undo_goes_back_through_ones_own_answers_across_queries(pool):
    person = make_person()
    order = []
    while (pair := serve.next_pair(pool=pool, annotator=person)) is not None:
        order.append(pair)
        grade(pair, person)
    grade(order[1], person, 0)  # a correction does not change the order
    back, here = [], None
    while (here := previous_turn(pool=pool, annotator=person, before=here)) is not None:
        back.append(here.pair)
    assert back == order[::-1]


def test_the_dots_show_the_query_as_the_person_has_it(pool):
    person = make_person()
    first = serve.next_pair(pool=pool, annotator=person)
    grade(first, person)
    second = serve.next_pair(pool=pool, annotator=person)
    dots = standing.query_pairs(pair=second, annotator=person)
    assert [(dot.pair_id, dot.state) for dot in dots][:2] == [(first.pk, "done"), (second.pk, "current")]
    assert dots[2].state == "open"


def test_a_person_is_not_asked_what_they_have_judged_elsewhere(collection):
    person = make_person()
    make_judgment(person, collection, "q1", "d1", 1)
    pool = make_pool(collection, depth=3)
    assert ("q1", "d1") not in judge_all(pool, person)
    assert Assignment.objects.get(pair__query__qid="q1", pair__document__docid="d1").annotator == person


def test_documents_that_left_the_corpus_are_never_served(collection):
    pool = make_pool(collection, depth=3)
    collection.documents.filter(docid="d1").update(in_corpus=False)
    order = judge_all(pool, make_person())
    assert "d1" not in {docid for _, docid in order}


def test_documents_that_joined_later_do_not_disturb_the_pool(collection):
    pool = make_pool(collection, depth=3)
    make_document(collection, "late")
    assert len(judge_all(pool, make_person())) == 6
