"""A pool may show what LLMs said after the answer; what is changed then is assisted, and stays so."""

from __future__ import annotations

import pytest

from judging.models import Judgment
from judging.steps import reveal, serve
from judging.steps.judgments import Said
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection(documents=["d1", "d2"])


@pytest.fixture
def pool(collection):
    return make_pool(collection, make_run(collection, {"q1": ["d1", "d2"]}), reveal=True)


@pytest.fixture
def labels(collection):
    return [
        make_judgment(make_llm("beta"), collection, "q1", "d1", 0),
        make_judgment(make_llm("alpha"), collection, "q1", "d1", 1),
        make_judgment(make_llm("mute"), collection, "q1", "d1", None, outcome="unparsed"),
        make_judgment(make_person("other"), collection, "q1", "d1", 0),
    ]


def answer(pool, annotator, grade):
    pair = pool.pairs.get(document__docid="d1")
    serve.next_pair(pool=pool, annotator=annotator)
    return serve.answer(pair=pair, annotator=annotator, said=Said("graded", grade))


def test_the_grades_of_llms_are_shown_after_the_answer(pool, labels):
    judgment = answer(pool, make_person(), 1)
    assert [(label.judge.name, label.grade) for label in reveal.reveal(pool=pool, judgment=judgment)] == [
        ("alpha", 1),
        ("beta", 0),
    ]
    assert Judgment.objects.get(pk=judgment.pk).revealed_at is not None


def test_a_pool_that_does_not_say_so_reveals_nothing(collection, labels):
    pool = make_pool(collection, people=2)
    judgment = answer(pool, make_person(), 1)
    assert reveal.reveal(pool=pool, judgment=judgment) == []
    assert Judgment.objects.get(pk=judgment.pk).revealed_at is None


def test_where_no_llm_has_said_anything_nothing_was_revealed(pool):
    judgment = answer(pool, make_person(), 1)
    assert reveal.reveal(pool=pool, judgment=judgment) == []
    assert Judgment.objects.get(pk=judgment.pk).revealed_at is None


def test_only_what_was_shown_then_is_shown_again(pool, labels):
    judgment = answer(pool, make_person(), 1)
    assert reveal.revealed(pool=pool, judgment=judgment) == []
    reveal.reveal(pool=pool, judgment=judgment)
    assert len(reveal.revealed(pool=pool, judgment=judgment)) == 2


def test_an_answer_given_before_is_not_assisted_and_a_change_after_is(pool, labels):
    person = make_person()
    first = answer(pool, person, 1)
    reveal.reveal(pool=pool, judgment=first)
    assert Judgment.objects.get(pk=first.pk).assisted is False
    assert answer(pool, person, 0).assisted is True
    assert list(first.events.values_list("grade", "assisted")) == [(1, False), (0, True)]


def test_what_is_assisted_stays_so(pool, labels):
    person = make_person()
    reveal.reveal(pool=pool, judgment=answer(pool, person, 1))
    answer(pool, person, 0)
    pool.reveal = False
    pool.save()
    assert answer(pool, person, 1).assisted is True


def test_a_change_in_another_pool_is_assisted_too(collection, pool, labels):
    Judgment.objects.filter(judge__name="other").delete()
    blind = make_pool(collection, make_run(collection, {"q1": ["d1"]}, name="other"), name="blind")
    person = make_person()
    reveal.reveal(pool=pool, judgment=answer(pool, person, 1))
    assert answer(blind, person, 0).assisted is True


def test_a_change_without_a_label_in_between_is_not_assisted(pool):
    person = make_person()
    reveal.reveal(pool=pool, judgment=answer(pool, person, 1))
    assert answer(pool, person, 0).assisted is False
