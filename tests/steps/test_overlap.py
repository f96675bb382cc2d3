"""How many people judge each pair, changed while people work."""

from __future__ import annotations

import pytest

from judging.errors import UserError
from judging.models import Assignment, LeaseState
from judging.steps import serve
from judging.steps.judgments import Said
from judging.steps.overlap import SlotsChanged, set_people
from tests.factories import make_collection, make_judgment, make_person, make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return make_pool(make_collection(documents=["d1", "d2", "d3"]), depth=3, people=2)


def slots(pool):
    """The slots of each pair, as a set of sizes."""
    counts = [pair.assignments.count() for pair in pool.pairs.all()]
    assert Assignment.objects.filter(pair__pool=pool).count() == sum(counts)
    return counts


def judge(pool, annotator, times):
    for _ in range(times):
        pair = serve.next_pair(pool=pool, annotator=annotator)
        serve.answer(pair=pair, annotator=annotator, said=Said("graded", 1))


def test_more_people_are_given_slots_and_get_pairs(pool):
    assert set_people(pool=pool, people=4) == SlotsChanged(made=6)
    assert slots(pool) == [4, 4, 4]
    pool.refresh_from_db()
    assert pool.people == 4
    for _ in range(4):
        judge(pool, make_person(), 3)
    assert serve.next_pair(pool=pool, annotator=make_person()) is None


def test_the_same_number_changes_nothing(pool):
    assert set_people(pool=pool, people=2) == SlotsChanged()


def test_fewer_people_take_away_what_is_free(pool):
    assert set_people(pool=pool, people=1) == SlotsChanged(removed=3)
    assert slots(pool) == [1, 1, 1]


def test_never_fewer_than_were_answered_or_are_in_hand(pool):
    ann, bob = make_person(), make_person()
    judge(pool, ann, 3)
    judge(pool, bob, 1)
    assert Assignment.objects.filter(state=LeaseState.LEASED).count() == 2
    assert set_people(pool=pool, people=1) == SlotsChanged()
    assert slots(pool) == [2, 2, 2]
    serve.release(pool=pool, annotator=bob)
    assert set_people(pool=pool, people=1) == SlotsChanged(removed=2)
    assert sorted(slots(pool)) == [1, 1, 2]


def test_fewer_and_then_more_again_gives_each_slot_a_number_of_its_own(pool):
    set_people(pool=pool, people=3)
    first = Assignment.objects.filter(slot=1).first()
    Assignment.objects.filter(pair=first.pair, slot=3).update(slot=9)
    set_people(pool=pool, people=1)
    set_people(pool=pool, people=3)
    assert slots(pool) == [3, 3, 3]


def test_people_who_judged_elsewhere_fill_the_new_slots(pool):
    judges = [make_person() for _ in range(3)]
    for person in judges:
        make_judgment(person, pool.collection, "q1", "d1", 1)
    assert set_people(pool=pool, people=3) == SlotsChanged(made=3, filled=3)
    assert Assignment.objects.filter(state=LeaseState.DONE).count() == 3


@pytest.mark.parametrize("wrong", [0, -1, 51])
def test_a_number_that_cannot_be_is_refused(pool, wrong):
    with pytest.raises(UserError, match="expected 1 to 50"):
        set_people(pool=pool, people=wrong)
    assert slots(pool) == [2, 2, 2]


def test_other_pools_keep_theirs(pool):
    other = make_pool(make_collection(), name="other", people=2)
    set_people(pool=pool, people=3)
    assert set(slots(other)) == {2}
