"""People are asked a share of their own pairs again, blind, and each is held against themselves."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils import timezone

from judging.errors import UserError
from judging.models import Judgment, JudgmentEvent, LeaseState, Pool, Probe
from judging.steps import probes, serve, standing, turn
from judging.steps.judgments import Said
from tests.factories import make_collection, make_person, make_pool

pytestmark = pytest.mark.django_db


def pool_of(*, documents: int = 4, queries: int = 4, **options) -> Pool:
    collection = make_collection(
        documents=[f"d{n:02}" for n in range(documents)], queries=[f"q{n}" for n in range(queries)]
    )
    return make_pool(collection, depth=documents, **options)


def say(asked: turn.Turn, annotator, grade: int | None = 1):
    """What the page sends: the form's key tells whether the pair is asked again."""
    key = probes.key_of(asked.probe) if asked.probe else uuid4()
    outcome = "cannot_judge" if grade is None else "graded"
    return turn.answer(pair=asked.pair, annotator=annotator, said=Said(outcome, grade, seconds=3.0, key=key))


def work(pool, annotator, *, grade=lambda asked: 1, most=10_000) -> list[turn.Turn]:
    order: list[turn.Turn] = []
    while len(order) < most and (asked := turn.next_turn(pool=pool, annotator=annotator)) is not None:
        order.append(asked)
        say(asked, annotator, grade(asked))
    return order


# --- Which are drawn --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "number"), [(0, 0), (0.05, 10), (0.1, 20), (0.3, 60), (0.7, 140), (1, 200)])
def test_the_share_is_kept(share, number):
    drawn = [n for n in range(1, 201) if probes.drawn(n, share=share, seed="seed")]
    assert len(drawn) == number


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.7, 1.0])
def test_how_many_will_be_drawn_is_known_before(share):
    drawn = [probes.drawn(n, share=share, seed="s") for n in range(1, 51)]
    assert [probes.expected(n, share=share, seed="s") for n in range(51)] == [sum(drawn[:n]) for n in range(51)]


def test_each_person_and_each_place_in_a_block_has_its_turn():
    places = {n % 10 for n in range(1, 501) if probes.drawn(n, share=0.1, seed="one")}
    assert len(places) == 10
    draws = {tuple(n for n in range(1, 101) if probes.drawn(n, share=0.1, seed=seed)) for seed in ("a", "b", "c")}
    assert len(draws) == 3


# --- When they come ---------------------------------------------------------------------------------------------------


def test_nobody_is_asked_again_unless_the_pool_says_so():
    assert len(work(pool_of(), make_person())) == 16
    assert not Probe.objects.exists()


def test_each_answer_of_a_share_of_one_comes_once_more():
    order = work(pool_of(probe_share=1.0), make_person())
    assert len(order) == 32
    assert {one.pair for one in order if one.probe} == {one.pair for one in order if not one.probe}


def test_at_least_ten_other_answers_lie_between_while_there_is_anything_else():
    order = work(pool_of(documents=3, queries=20, probe_share=0.25), make_person())
    places = {one.pair.pk: n for n, one in enumerate(order) if not one.probe}
    last = max(places.values())
    between = [n - places[one.pair.pk] - 1 for n, one in enumerate(order) if one.probe and n < last]
    assert len(between) >= 8
    assert min(between) >= 10


def test_what_is_left_comes_again_when_nothing_else_is_left():
    order = work(pool_of(documents=3, queries=1, probe_share=1.0), make_person())
    assert [bool(one.probe) for one in order] == [False] * 3 + [True] * 3


def test_a_query_in_hand_is_not_interrupted():
    order = work(pool_of(documents=15, queries=2, probe_share=1.0), make_person())
    assert [bool(one.probe) for one in order[:15]] == [False] * 15


def test_a_probe_stays_until_it_is_answered():
    pool, person = pool_of(documents=1, queries=1, probe_share=1.0), make_person()
    work(pool, person, most=1)
    asked = [turn.next_turn(pool=pool, annotator=person) for _ in range(2)]
    assert asked[0].probe == asked[1].probe is not None


def test_a_probe_that_is_put_off_comes_later():
    pool, person = pool_of(documents=2, queries=10, probe_share=1.0), make_person()
    work(pool, person, most=12)
    asked = turn.next_turn(pool=pool, annotator=person)
    assert asked.probe
    turn.skip(pair=asked.pair, annotator=person, key=probes.key_of(asked.probe))
    assert turn.next_turn(pool=pool, annotator=person).probe != asked.probe
    assert asked.pair in {one.pair for one in work(pool, person) if one.probe}


# --- What is stored ---------------------------------------------------------------------------------------------------


@pytest.fixture
def asked_again():
    """A person who has judged one pair relevant and is asked it again."""
    pool, person = pool_of(documents=1, queries=1, probe_share=1.0), make_person()
    work(pool, person, most=1)
    return pool, person, turn.next_turn(pool=pool, annotator=person)


def test_the_second_answer_stands_apart_and_the_judgment_stays(asked_again):
    _pool, person, asked = asked_again
    before = Judgment.objects.values().get()
    say(asked, person, 0)
    assert Judgment.objects.values().get() == before
    assert JudgmentEvent.objects.count() == 1
    probe = Probe.objects.get()
    assert (probe.first_outcome, probe.first_grade, probe.outcome, probe.grade) == ("graded", 1, "graded", 0)
    assert (probe.seconds, probe.annotator, probe.pair) == (3.0, person, asked.pair)
    assert probe.drawn_at <= probe.answered_at <= timezone.now()


def test_the_second_answer_sent_twice_is_stored_once(asked_again):
    _pool, person, asked = asked_again
    assert say(asked, person, 0) == say(asked, person, 0)
    assert Judgment.objects.get().grade == 1


def test_a_correction_of_the_first_answer_is_no_second_answer(asked_again):
    _pool, person, asked = asked_again
    turn.answer(pair=asked.pair, annotator=person, said=Said("graded", 0, key=uuid4()))
    assert Judgment.objects.get().grade == 0
    assert Probe.objects.get().answered_at is None


def test_a_correction_after_the_second_answer_does_not_touch_what_was_compared(asked_again):
    _pool, person, asked = asked_again
    say(asked, person, 0)
    turn.answer(pair=asked.pair, annotator=person, said=Said("graded", 0, key=uuid4()))
    assert (Probe.objects.get().first_grade, Probe.objects.get().grade) == (1, 0)


def test_the_key_of_a_probe_is_of_no_use_to_others(asked_again):
    pool, _person, asked = asked_again
    with pytest.raises(serve.LeaseLostError):
        say(asked, make_person(), 0)
    assert Probe.objects.get().answered_at is None
    assert pool.pairs.get().assignments.get().state == LeaseState.DONE


@pytest.mark.parametrize("status", [Pool.Status.PAUSED, Pool.Status.CLOSED])
def test_a_pool_that_is_not_open_takes_no_second_answer(asked_again, status):
    _pool, person, asked = asked_again
    Pool.objects.update(status=status)
    asked.pair.pool.refresh_from_db()
    with pytest.raises(serve.PoolNotOpenError):
        say(asked, person, 0)
    assert Probe.objects.get().answered_at is None


def test_a_second_answer_outside_the_scale_is_refused(asked_again):
    _pool, person, asked = asked_again
    with pytest.raises(UserError, match="0, 1"):
        say(asked, person, 7)


def test_undo_goes_back_to_second_answers_too():
    pool, person = pool_of(documents=2, queries=8, probe_share=0.5), make_person()
    order = work(pool, person)
    assert any(one.probe for one in order)
    back, here = [], None
    while (here := turn.previous_turn(pool=pool, annotator=person, before=here)) is not None:
        back.append((here.pair, here.probe))
    assert back == [(one.pair, one.probe) for one in reversed(order)]


# --- Progress ---------------------------------------------------------------------------------------------------------


def test_progress_counts_what_is_asked_again_from_the_start_so_that_no_answer_tells_what_is_drawn():
    pool, person = pool_of(documents=3, queries=10, probe_share=0.2), make_person()
    seen = [standing.progress(pool=pool, annotator=person)]
    while (asked := turn.next_turn(pool=pool, annotator=person)) is not None:
        say(asked, person)
        seen.append(standing.progress(pool=pool, annotator=person))
    assert [(one.answered, one.total) for one in seen] == [(n, 36) for n in range(37)]


# --- The report -------------------------------------------------------------------------------------------------------


def test_each_person_is_held_against_themselves():
    pool = pool_of(documents=4, queries=4, people=2, probe_share=1.0)
    steady, drifting = make_person("ann"), make_person("ben")
    work(pool, steady, grade=lambda asked: asked.pair.pk % 2)
    work(pool, drifting, grade=lambda asked: 1 if asked.probe else asked.pair.pk % 2)
    everybody, ann, ben = probes.agreement_with_themselves(pool=pool)
    assert (everybody.annotator, ann.annotator, ben.annotator) == (None, steady, drifting)
    assert (everybody.asked, ann.asked, ben.asked) == (32, 16, 16)
    assert ann.panel.graded["raw_agreement"].value == 1
    assert ben.panel.graded["raw_agreement"].value == 0.5
    assert everybody.panel.graded["raw_agreement"].value == 0.75
    assert ben.panel.graded["bias"].value == 0.5


def test_only_pairs_graded_both_times_are_compared():
    pool, person = pool_of(documents=4, queries=1, probe_share=1.0), make_person()
    answers = iter([1, None, 1, 0, 1, 1, None, 0])
    work(pool, person, grade=lambda asked: next(answers))
    (one,) = probes.agreement_with_themselves(pool=pool)
    assert (one.asked, one.panel.pairs) == (4, 2)


def test_without_second_answers_there_is_nothing_to_report():
    assert probes.agreement_with_themselves(pool=pool_of()) == []
