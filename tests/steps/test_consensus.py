"""What the people say of a pair: an adjudication where there is one, else their majority, else nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from judging.formats.scale import default_scale
from judging.models import Judge, Judgment
from judging.steps.consensus import Verdict, majority, verdicts
from tests.factories import make_collection, make_judgment, make_llm, make_person


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([], None),
        ([2], 2),
        ([0, 0, 2], 0),
        ([0, 2], None),
        ([0, 0, 2, 2, 1], None),
        ([0, 1, 2, 2], 2),
        ([-1, -1, 0], -1),
    ],
)
def test_the_majority_is_the_grade_that_more_people_gave_than_any_other(grades, expected):
    assert majority(grades) == expected


@pytest.fixture
def collection(db):
    return make_collection(scale=default_scale(2), qrels={("q1", "d3"): 1})


def judged(collection, *grades, docid="d1", **fields):
    for grade in grades:
        make_judgment(make_person(), collection, "q1", docid, grade, **fields)


def adjudicate(collection, grade, name="lead", docid="d1"):
    judge, _ = Judge.objects.get_or_create(kind="adjudication", name=name)
    return make_judgment(judge, collection, "q1", docid, grade)


def verdict_on(collection, docid="d1"):
    found = verdicts(Judgment.objects.of(collection))
    key = (collection.queries.get().pk, collection.documents.get(docid=docid).pk)
    return found.get(key)


def test_a_majority_says_how_many_people_there_were_and_how_they_split(collection):
    judged(collection, 2, 0, 2)
    assert verdict_on(collection) == Verdict(2, (0, 2, 2))
    assert verdict_on(collection).source == "people:2/3"


def test_a_tie_has_no_grade(collection):
    judged(collection, 0, 1)
    verdict = verdict_on(collection)
    assert (verdict.grade, verdict.grades, verdict.is_tie, verdict.source) == (None, (0, 1), True, "people:tie")


def test_an_adjudication_decides_a_tie_and_overrules_a_majority(collection):
    judged(collection, 0, 1)
    judged(collection, 0, 0, docid="d2")
    adjudicate(collection, 1)
    adjudicate(collection, 2, docid="d2")
    assert [(verdict_on(collection, d).grade, verdict_on(collection, d).source) for d in ("d1", "d2")] == [
        (1, "adjudicated"),
        (2, "adjudicated"),
    ]


def test_of_two_adjudications_the_latest_holds(collection):
    first = adjudicate(collection, 1, "lead")
    adjudicate(collection, 0, "deputy")
    assert verdict_on(collection).grade == 0
    Judgment.objects.filter(pk=first.pk).update(grade=2, updated_at=timezone.now() + timedelta(minutes=1))
    assert verdict_on(collection).grade == 2


def test_people_who_could_not_judge_are_counted_and_have_no_vote(collection):
    judged(collection, 1, None, None)
    assert verdict_on(collection) == Verdict(1, (1,), cannot_judge=2)
    assert verdict_on(collection).source == "people:1/1"


def test_a_pair_that_nobody_could_judge_has_no_grade_and_is_no_tie(collection):
    judged(collection, None)
    verdict = verdict_on(collection)
    assert (verdict.grade, verdict.is_tie, verdict.cannot_judge) == (None, False, 1)


def test_qrels_and_llms_are_not_people(collection):
    make_judgment(make_llm(), collection, "q1", "d1", 1)
    assert verdicts(Judgment.objects.of(collection)) == {}
