"""Where judges differ: people among themselves or from an LLM, the most surprising first."""

from __future__ import annotations

import pytest

from judging.formats.scale import default_scale
from judging.models import Judge
from judging.steps.disagreements import Choice, disagreements, judges_of, said_of
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    documents = [f"d{n}" for n in range(6)]
    collection = make_collection(documents=documents, scale=default_scale(3), qrels={("q1", "d5"): 3})
    return make_pool(collection, make_run(collection, {"q1": documents}), depth=5)


@pytest.fixture
def say(pool):
    def give(judge, docid, grade, **fields):
        return make_judgment(judge, pool.collection, "q1", docid, grade, **fields)

    return give


def found(pool, **choice):
    docid = dict(pool.pairs.values_list("pk", "document__docid"))
    return [docid[one.pair_id] for one in disagreements(pool=pool, choice=Choice(**choice))]


def test_judges_who_agree_or_stand_alone_differ_from_nobody(pool, say):
    ada, ben, llm = make_person(), make_person(), make_llm()
    for judge in (ada, ben, llm):
        say(judge, "d0", 1)
    say(ada, "d1", 3)
    say(llm, "d2", 3)
    assert found(pool) == []


def test_the_widest_apart_come_first_then_the_surest_llm_then_the_pools_order(pool, say):
    ada, llm = make_person(), make_llm()
    for docid, by_person, by_llm, sure in (
        ("d0", 0, 1, 0.5), ("d1", 1, 2, 0.9), ("d2", 3, 0, 0.4), ("d3", 2, 1, 0.5), ("d4", 2, 2, 1.0)
    ):  # fmt: skip
        say(ada, docid, by_person)
        say(llm, docid, by_llm, probabilities={str(by_llm): sure, str(by_person): 1 - sure})
    assert found(pool) == ["d2", "d1", "d0", "d3"]
    first = disagreements(pool=pool)[0]
    assert (first.distance, first.confidence, first.people_differ, first.llm_differs) == (3, 0.4, False, True)


def test_an_llm_without_probabilities_comes_after_one_that_is_sure(pool, say):
    ada, sure, silent = make_person(), make_llm(), make_llm()
    for docid in ("d0", "d1"):
        say(ada, docid, 0)
    say(silent, "d0", 1)
    say(sure, "d1", 1, probabilities={"1": 0.6})
    assert found(pool) == ["d1", "d0"]
    assert [one.confidence for one in disagreements(pool=pool)] == [0.6, None]


def test_the_confidence_is_that_of_an_llm_that_differs(pool, say):
    ada, agrees, differs = make_person(), make_llm(), make_llm()
    say(ada, "d0", 0)
    say(agrees, "d0", 0, probabilities={"0": 0.99})
    say(differs, "d0", 1, probabilities={"1": 0.55})
    assert disagreements(pool=pool)[0].confidence == 0.55


def test_they_are_picked_by_who_differs(pool, say):
    ada, ben, llm, other = make_person(), make_person(), make_llm(), make_llm()
    say(ada, "d0", 0)
    say(ben, "d0", 1)
    say(ada, "d1", 0)
    say(llm, "d1", 1)
    say(ben, "d2", 0)
    say(other, "d2", 2)
    assert found(pool, between="people") == ["d0"]
    assert found(pool, between="llm") == ["d2", "d1"]
    assert found(pool, judge=ada.pk) == ["d0", "d1"]
    assert found(pool, judge=ben.pk) == ["d2", "d0"]
    assert found(pool, judge=llm.pk) == ["d1"]
    assert found(pool, between="people", judge=llm.pk) == []
    assert found(pool, judge=0) == []


def test_llms_among_themselves_are_nobodys_disagreement(pool, say):
    say(make_llm(), "d0", 0)
    say(make_llm(), "d0", 3)
    assert found(pool) == []


def test_an_answer_without_a_grade_differs_from_nothing(pool, say):
    ada, ben, llm = make_person(), make_person(), make_llm()
    say(ada, "d0", 0)
    say(ben, "d0", None)
    say(llm, "d0", None, outcome="unparsed")
    assert found(pool) == []


def test_what_is_adjudicated_is_settled_also_without_a_grade(pool, say):
    ada, ben = make_person(), make_person()
    judge = Judge.objects.create(kind="adjudication", name="adjudication/lea")
    for docid in ("d0", "d1", "d2"):
        say(ada, docid, 0)
        say(ben, docid, 1)
    say(judge, "d0", 1)
    say(judge, "d1", None)
    assert found(pool, state="open") == ["d2"]
    assert found(pool, state="settled") == ["d0", "d1"]
    assert found(pool, state="") == ["d0", "d1", "d2"]


def test_original_qrels_and_pairs_outside_the_pool_or_the_corpus_are_left_out(pool, say):
    ada, ben = make_person(), make_person()
    for docid in ("d0", "d5"):
        say(ada, docid, 0)
        say(ben, docid, 1)
    assert found(pool) == ["d0"]
    pool.collection.documents.filter(docid="d0").update(in_corpus=False)
    assert found(pool) == []


def test_what_was_said_comes_people_first_then_llms_then_the_latest_verdict(pool, say):
    llm, ben, ada = make_llm("a model"), make_person("ben"), make_person("ada")
    for judge in (llm, ben, ada):
        say(judge, "d0", 0)
    for name in ("adjudication/lea", "adjudication/ann"):
        say(Judge.objects.create(kind="adjudication", name=name), "d0", 1)
    pair = pool.pairs.get(document__docid="d0")
    assert [one.judge.name for one in said_of(pair)] == [
        "ada", "ben", "a model", "adjudication/ann", "adjudication/lea"
    ]  # fmt: skip
    assert [judge.name for judge in judges_of(pool)] == ["ada", "ben", "a model"]


def test_the_number_of_queries_is_the_same_however_many_differ(pool, say, django_assert_num_queries):
    ada, llm = make_person(), make_llm()
    say(ada, "d0", 0)
    say(llm, "d0", 1, probabilities={"1": 1.0})
    with django_assert_num_queries(3):
        disagreements(pool=pool)
    for docid in ("d1", "d2", "d3"):
        say(ada, docid, 0)
        say(llm, docid, 1, probabilities={"1": 1.0})
    with django_assert_num_queries(3):
        disagreements(pool=pool)
