"""How far a pool is, and what a person said in it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from judging.errors import UserError
from judging.models import Assignment, Judge, Judgment, Pool
from judging.steps import serve
from judging.steps.judgments import Said, say
from judging.steps.pace import found_so_far, pace
from judging.steps.people import add
from judging.steps.pool_queries import StateCounts, queries_of, state_counts
from judging.steps.pools import PoolProgress, judged_by, pool_progress, set_status
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    """Three holes in each of two queries, two people a pair."""
    return make_pool(make_collection(documents=["d1", "d2", "d3"], queries=["q1", "q2"]), people=2, depth=3)


def judge(pool, annotator, times, grade=1, **fields):
    for _ in range(times):
        pair = serve.next_pair(pool=pool, annotator=annotator)
        serve.answer(pair=pair, annotator=annotator, said=Said("graded", grade, **fields))


def test_a_new_pool_has_everything_before_it(pool):
    assert pool_progress(pool) == PoolProgress(
        pairs=6, complete=0, slots=12, answered=0, in_hand=0, queries=2, queries_complete=0, annotators=[], llms=[]
    )
    assert pool_progress(pool).percent == 0


def test_pairs_and_queries_are_complete_when_all_the_people_wanted_have_answered(pool):
    ada, bob = make_person("ada"), make_person("bob")
    judge(pool, ada, 3)
    progress = pool_progress(pool)
    assert (progress.answered, progress.complete, progress.queries_complete, progress.percent) == (3, 0, 0, 25)
    judge(pool, bob, 6)
    progress = pool_progress(pool)
    assert (progress.answered, progress.complete, progress.queries_complete, progress.percent) == (9, 3, 1, 75)
    judge(pool, ada, 3)
    progress = pool_progress(pool)
    assert (progress.answered, progress.complete, progress.queries_complete, progress.percent) == (12, 6, 2, 100)


def test_in_hand_are_leases_that_have_not_run_out(pool):
    serve.next_pair(pool=pool, annotator=make_person("ada"))
    assert (pool_progress(pool).in_hand, pool_progress(pool).annotators[0].in_hand) == (3, 3)
    Assignment.objects.filter(state="leased").update(leased_until=timezone.now() - timedelta(seconds=1))
    assert (pool_progress(pool).in_hand, pool_progress(pool).annotators[0].in_hand) == (0, 0)


def test_the_annotators_come_by_what_they_have_answered_each_with_their_mean_time(pool):
    ada, bob = make_person("ada"), make_person("bob")
    judge(pool, ada, 1, seconds=4.0)
    judge(pool, bob, 1, seconds=1.0)
    judge(pool, bob, 1, seconds=2.0)
    first, second = pool_progress(pool).annotators
    assert (first.name, first.answered, first.in_hand, first.seconds) == ("bob", 2, 1, 1.5)
    assert (second.name, second.answered, second.in_hand, second.seconds) == ("ada", 1, 2, 4.0)
    assert first.latest > second.latest


def test_each_llm_has_its_outcomes_on_the_pairs_of_this_pool(pool):
    phi, other = make_llm("phi"), make_llm("phi")
    make_judgment(phi, pool.collection, "q1", "d1", 1)
    make_judgment(phi, pool.collection, "q1", "d2", 0)
    make_judgment(phi, pool.collection, "q2", "d1", None, outcome="unparsed")
    make_judgment(other, pool.collection, "q2", "d1", 1)
    elsewhere = make_collection()
    make_judgment(phi, elsewhere, "q1", "d1", 1)
    assert [(llm.judge, llm.outcomes, llm.judged, llm.pairs) for llm in pool_progress(pool).llms] == [
        (phi, {"graded": 2, "unparsed": 1}, 3, 6),
        (other, {"graded": 1}, 1, 6),
    ]


def test_pairs_whose_document_or_query_left_the_corpus_do_not_keep_a_pool_from_being_complete(pool):
    pool.collection.documents.filter(docid="d1").update(in_corpus=False)
    judge(pool, make_person(), 4)
    judge(pool, make_person(), 4)
    progress = pool_progress(pool)
    assert (progress.pairs, progress.slots, progress.answered, progress.gone) == (4, 8, 8, 2)
    assert (progress.percent, progress.queries_complete, progress.left) == (100, 2, 0)
    pool.collection.queries.filter(qid="q1").update(in_corpus=False)
    assert (pool_progress(pool).pairs, pool_progress(pool).queries, pool_progress(pool).gone) == (2, 1, 4)


def test_people_on_the_list_are_shown_before_they_begin(pool):
    add(pool=pool, name=make_person("ann").name)
    (ann,) = pool_progress(pool).annotators
    assert (ann.name, ann.answered, ann.in_hand, ann.held_until, ann.recent, ann.seconds) == (
        "ann",
        0,
        0,
        None,
        0,
        None,
    )


def test_the_pace_is_of_the_last_hour_and_of_people_with_an_account(pool):
    ada, bob, imported = make_person(), make_person(), Judge.objects.create(kind="person", name="imported")
    judge(pool, ada, 3, seconds=6.0)
    judge(pool, bob, 2, seconds=10.0)
    Assignment.objects.filter(pk=Assignment.objects.filter(state="free").first().pk).update(
        state="done", annotator=imported, answered_at=timezone.now()
    )
    found = pace(pool, pool_progress(pool))
    assert (found.recent, found.recent_people, found.timed, found.left) == (5, 2, 5, 6)
    assert found.seconds == pytest.approx(7.6)
    assert found.work == pytest.approx(6 * 7.6)
    assert found.remaining == pytest.approx(3600 * 6 / 5)
    Assignment.objects.filter(state="done").update(answered_at=timezone.now() - timedelta(minutes=61))
    assert pace(pool, pool_progress(pool)).remaining is None


def test_without_a_timed_answer_the_work_left_is_unknown(pool):
    judge(pool, make_person(), 1)
    assert pace(pool, pool_progress(pool)).work is None


def test_the_share_found_so_far_follows_each_answer(pool):
    person = make_person()
    assert found_so_far(pool).judged == 0
    judge(pool, person, 2, grade=1)
    judge(pool, person, 2, grade=0)
    assert (found_so_far(pool).judged, found_so_far(pool).share.value) == (4, 0.5)
    for judgment in Judgment.objects.by_people():
        say(judge=person, query_id=judgment.query_id, document_id=judgment.document_id, said=Said("graded", 1))
    assert found_so_far(pool).share.value == 1


def test_queries_are_complete_begun_or_untouched(pool):
    assert state_counts(pool) == StateCounts(complete=0, begun=0, untouched=2)
    ada, bob = make_person(), make_person()
    judge(pool, ada, 4)
    first, second = queries_of(pool)
    assert first.place < second.place
    assert [(one.pair_count, one.slot_count, one.answer_count, one.held_count) for one in (first, second)] == [
        (3, 6, 3, 0),
        (3, 6, 1, 2),
    ]
    judge(pool, bob, 6)
    assert state_counts(pool) == StateCounts(complete=1, begun=1, untouched=0)
    assert list(queries_of(pool, "complete")) == [first]
    assert list(queries_of(pool, "begun")) == [second]
    assert list(queries_of(pool, "untouched")) == []


def test_the_number_of_queries_does_not_grow_with_what_was_judged(pool, django_assert_num_queries):
    ada, bob = make_person(), make_person()
    judge(pool, ada, 1)
    make_judgment(make_llm(), pool.collection, "q1", "d1", 1)
    with django_assert_num_queries(8):
        pool_progress(pool)
    judge(pool, ada, 3)
    judge(pool, bob, 3)
    make_judgment(make_llm(), pool.collection, "q1", "d1", 1)
    with django_assert_num_queries(8):
        pool_progress(pool)


@pytest.mark.parametrize("status", Pool.Status.values)
def test_a_pool_is_opened_paused_and_closed(pool, status):
    set_status(pool=pool, status=status)
    assert Pool.objects.get().status == status


def test_another_status_is_refused_with_those_there_are(pool):
    with pytest.raises(UserError, match="A pool is open, paused, closed; found 'finished'"):
        set_status(pool=pool, status="finished")
    assert Pool.objects.get().status == "open"


def test_a_persons_own_answers_come_newest_first_and_can_be_narrowed(pool):
    ada, bob = make_person(), make_person()
    judge(pool, ada, 1, grade=1)
    judge(pool, ada, 1, grade=0, comment="odd")
    judge(pool, ada, 1, grade=1, comment="fine")
    judge(pool, bob, 1, grade=1)

    def answers(**narrowed):
        return [(one.grade, one.comment) for one in judged_by(pool=pool, annotator=ada, **narrowed)]

    assert answers() == [(1, "fine"), (0, "odd"), (1, "")]
    assert answers(grade=1) == [(1, "fine"), (1, "")]
    assert answers(grade=0) == [(0, "odd")]
    assert answers(commented=True) == [(1, "fine"), (0, "odd")]
    assert answers(grade=1, commented=True) == [(1, "fine")]


def test_answers_of_another_pool_are_not_among_them(pool):
    ada = make_person()
    other = make_collection()
    make_judgment(ada, other, "q1", "d1", 1)
    assert list(judged_by(pool=pool, annotator=ada)) == []
