"""Who graded what: pools and collections, people and qrels as the reference, clipping, any two judges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judging.errors import UserError
from judging.formats.scale import default_scale
from judging.steps.agree import agreement, between, sheet_of
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool

pytestmark = pytest.mark.django_db

DOCIDS = [f"d{n}" for n in range(4)]


@pytest.fixture
def collection():
    grades = {("q1", "d0"): 0, ("q1", "d1"): 1, ("q1", "d2"): 2, ("q2", "d0"): 3, ("q2", "d1"): 0}
    return make_collection(documents=DOCIDS, queries=["q1", "q2"], qrels=grades, scale=default_scale(3))


def llm_says(collection, grades, name="llm"):
    llm = make_llm(name)
    for (qid, docid), grade in grades.items():
        make_judgment(llm, collection, qid, docid, grade)
    return llm


def test_a_collection_that_no_person_has_judged_is_held_against_its_qrels(collection):
    llm_says(collection, {("q1", "d0"): 0, ("q1", "d1"): 1, ("q2", "d0"): 2, ("q2", "d3"): 2})
    result = agreement(collection=collection)
    assert (result.reference, result.found, result.people) == ("qrels", None, None)
    panel = result.llms[0].panel
    assert (panel.pairs, panel.queries, panel.only_second) == (3, 2, 1)
    assert panel.graded["raw_agreement"].value == pytest.approx(2 / 3)


def test_people_are_the_reference_of_a_collection_as_soon_as_one_has_judged(collection):
    llm_says(collection, {("q1", "d0"): 0, ("q1", "d1"): 1})
    make_judgment(make_person(), collection, "q1", "d0", 1)
    assert agreement(collection=collection).reference == "people"
    assert agreement(collection=collection).llms[0].panel.pairs == 1
    assert agreement(collection=collection, reference="qrels").llms[0].panel.pairs == 2


def test_a_reference_that_does_not_exist_is_refused(collection):
    with pytest.raises(UserError, match="The reference is people or qrels; found 'llm'"):
        sheet_of(collection=collection, reference="llm")


def test_a_grade_outside_the_scale_is_left_out_unless_clipping_is_asked_for(collection):
    llm = llm_says(collection, {("q1", "d0"): 0, ("q1", "d1"): 1})
    make_judgment(llm, collection, "q2", "d0", None, outcome="out_of_scale", raw="5")
    make_judgment(llm, collection, "q2", "d1", None, outcome="out_of_scale", raw="-2")
    plain = agreement(collection=collection).llms[0]
    assert (plain.panel.pairs, plain.clipped, plain.left_out) == (2, 0, {"out of scale": 2})
    clipped = agreement(collection=collection, clip=True).llms[0]
    assert (clipped.panel.pairs, clipped.clipped, clipped.left_out) == (4, 2, {})
    assert clipped.counts.tolist() == [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_an_answer_in_words_cannot_be_clipped(collection):
    llm = make_llm()
    make_judgment(llm, collection, "q1", "d0", None, outcome="out_of_scale", raw="Score: 5 of 10")
    assert agreement(collection=collection, clip=True).llms[0].left_out == {"out of scale": 1}


def test_any_two_judges_can_be_compared_by_name(collection):
    llm_says(collection, {("q1", "d0"): 0, ("q1", "d1"): 1, ("q1", "d2"): 2}, "one")
    llm_says(collection, {("q1", "d0"): 0, ("q1", "d1"): 3, ("q1", "d2"): 2}, "two")
    sheet = sheet_of(collection=collection)
    compared = between(sheet, "one", "two")
    assert (compared.judge.name, compared.panel.pairs) == ("two", 3)
    assert compared.panel.graded["bias"].value == pytest.approx(2 / 3)
    assert between(sheet, "qrels", "two").panel.pairs == 3
    assert between(sheet, "people", "two").panel.pairs == 0


def test_a_judge_that_is_not_there_is_answered_with_those_that_are(collection):
    llm_says(collection, {("q1", "d0"): 0}, "one")
    sheet = sheet_of(collection=collection)
    with pytest.raises(UserError, match=r"No judge 'three' has judged these pairs. There are: one · \w{8}; people and"):
        between(sheet, "one", "three")
    with pytest.raises(UserError, match="people is the side to compare with, so it comes first: --between people one"):
        between(sheet, "one", "people")


def test_two_judges_of_one_name_are_told_apart_by_the_fingerprint(collection):
    first = llm_says(collection, {("q1", "d0"): 0}, "one")
    llm_says(collection, {("q1", "d0"): 1}, "one")
    sheet = sheet_of(collection=collection)
    with pytest.raises(UserError, match="Several judges are called 'one'"):
        between(sheet, "qrels", "one")
    assert between(sheet, "qrels", first.fingerprint).judge == first


def test_probabilities_become_that_of_relevant_on_the_scale_alone(collection):
    llm = make_llm()
    make_judgment(llm, collection, "q1", "d0", 2, probabilities={"0": 0.1, "1": 0.3, "2": 0.2, "3": 0.2, "7": 0.2})
    make_judgment(llm, collection, "q1", "d1", 2, probabilities={"7": 1.0})
    (answers,) = sheet_of(collection=collection).llms
    assert answers.probability[0] == pytest.approx(0.5)
    assert math.isnan(answers.probability[1])


def test_judges_of_different_scales_share_nothing_and_the_reason_says_so(collection):
    llm = make_llm()
    for docid in ("d0", "d1"):
        make_judgment(llm, collection, "q1", docid, 9)
    panel = agreement(collection=collection).llms[0].panel
    assert (panel.pairs, panel.out_of_scale) == (0, 2)
    assert panel.graded["cohen_kappa"].reason.endswith("the judges may have used different scales")


def test_weights_are_none_where_every_pair_was_as_likely_and_a_weight_of_nought_cannot_be_stored(collection):
    pool = make_pool(make_collection(documents=DOCIDS, queries=["q1"]), depth=4)
    assert sheet_of(pool=pool).weights is None
    first = pool.pairs.first()
    first.inclusion_probability = 0.25
    first.save()
    weights = sheet_of(pool=pool).weights
    assert sorted(np.asarray(weights).tolist()) == [1, 1, 1, 4]
    first.inclusion_probability = 0
    with pytest.raises(Exception, match="pair_probability"):
        first.save()
