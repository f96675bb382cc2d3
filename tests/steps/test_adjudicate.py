"""The lead has the last word, under a judge of their own, with its history."""

from __future__ import annotations

from uuid import uuid4

import pytest

from judging.errors import UserError
from judging.models import Judgment, JudgmentEvent
from judging.steps.adjudicate import adjudicate, adjudicator, previous_adjudicated
from judging.steps.judgments import Said
from judging.steps.merge import merge
from tests.factories import make_collection, make_judgment, make_person, make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return make_pool(make_collection(documents=["d1", "d2", "d3"], qrels={("q1", "d3"): 1}), depth=3)


@pytest.fixture
def lea():
    return make_person("lea", is_staff=True).user


def pair_of(pool, docid):
    return pool.pairs.select_related("pool__collection", "query", "document").get(document__docid=docid)


def grade(pool, docid, by, value=1, **said):
    return adjudicate(pair=pair_of(pool, docid), by=by, said=Said("graded", value, **said))


def sources(pool):
    return {row.document: (row.grade, row.source) for row in merge(collection=pool.collection).grades}


def test_a_verdict_is_a_judgment_of_the_accounts_adjudication_judge(pool, lea):
    judgment = grade(pool, "d1", lea, comment="both missed the table")
    assert (judgment.judge.kind, judgment.judge.name) == ("adjudication", "adjudication/lea")
    assert (judgment.grade, judgment.comment) == (1, "both missed the table")
    assert adjudicator(lea) == judgment.judge


def test_a_verdict_resolves_what_people_left_undecided_and_the_merge_takes_it(pool, lea):
    for value in (0, 1):
        make_judgment(make_person(), pool.collection, "q1", "d1", value)
    assert "d1" not in sources(pool)
    grade(pool, "d1", lea, 1)
    assert sources(pool)["d1"] == (1, "adjudicated")


def test_of_two_leads_the_latest_verdict_holds(pool, lea):
    grade(pool, "d1", lea, 1)
    grade(pool, "d1", make_person("max", is_staff=True).user, 0)
    assert sources(pool)["d1"] == (0, "adjudicated")
    grade(pool, "d1", lea, 1)
    assert sources(pool)["d1"] == (1, "adjudicated")


def test_a_correction_keeps_its_history(pool, lea):
    grade(pool, "d1", lea, 1)
    judgment = grade(pool, "d1", lea, 0)
    assert list(judgment.events.values_list("grade", flat=True)) == [1, 0]


def test_left_undecided_is_kept_and_leaves_the_people_their_majority(pool, lea):
    make_judgment(make_person(), pool.collection, "q1", "d1", 1)
    adjudicate(pair=pair_of(pool, "d1"), by=lea, said=Said("cannot_judge"))
    assert sources(pool)["d1"] == (1, "people:1/1")
    grade(pool, "d1", lea, 0)
    adjudicate(pair=pair_of(pool, "d1"), by=lea, said=Said("cannot_judge"))
    assert sources(pool)["d1"] == (1, "people:1/1")


def test_the_same_press_twice_is_stored_once(pool, lea):
    key = uuid4()
    assert grade(pool, "d1", lea, 1, key=key) == grade(pool, "d1", lea, 1, key=key)
    assert JudgmentEvent.objects.filter(judgment__judge__kind="adjudication").count() == 1


def test_a_key_of_another_pair_is_another_verdict(pool, lea):
    key = uuid4()
    grade(pool, "d1", lea, 1, key=key)
    grade(pool, "d2", lea, 0, key=key)
    assert Judgment.objects.filter(judge__kind="adjudication").count() == 2


def test_a_grade_outside_the_scale_is_refused(pool, lea):
    with pytest.raises(UserError, match="0, 1"):
        grade(pool, "d1", lea, 2)
    assert not Judgment.objects.filter(judge__kind="adjudication").exists()


def test_undo_goes_back_through_ones_own_verdicts_in_their_order(pool, lea):
    for docid in ("d2", "d1"):
        grade(pool, docid, lea)
    grade(pool, "d2", lea, 0)  # a correction does not change the order
    grade(pool, "d1", make_person("max", is_staff=True).user)
    back, here = [], None
    while (here := previous_adjudicated(pool=pool, by=lea, before=here)) is not None:
        back.append(here.document.docid)
    assert back == ["d1", "d2"]
