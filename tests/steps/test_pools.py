"""How far a pool is, and what a person said in it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from judging.errors import UserError
from judging.models import Assignment, Pool
from judging.steps import serve
from judging.steps.judgments import Said
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


def test_the_number_of_queries_does_not_grow_with_what_was_judged(pool, django_assert_num_queries):
    ada, bob = make_person(), make_person()
    judge(pool, ada, 1)
    make_judgment(make_llm(), pool.collection, "q1", "d1", 1)
    with django_assert_num_queries(9):
        pool_progress(pool)
    judge(pool, ada, 3)
    judge(pool, bob, 3)
    make_judgment(make_llm(), pool.collection, "q1", "d1", 1)
    with django_assert_num_queries(9):
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
