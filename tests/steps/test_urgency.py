"""Which pairs an LLM judges first."""

from __future__ import annotations

import pytest

from judging.errors import UserError
from judging.models import PrefillTask
from judging.steps.prefill import Order, judge_pool, llm_judge, queue
from judging.steps.urgency import arrange, who_is_uncertain
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.steps.test_prefill import Reader

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection(documents=["d1", "d2", "d3"], queries=["q1", "q2"])


@pytest.fixture
def pool(collection):
    run = make_run(collection, {"q1": ["d1", "d2", "d3"], "q2": ["d3", "d2", "d1"]})
    return make_pool(collection, run, depth=3)


def asked(pool, **order):
    llm = Reader()
    judge_pool(llm=llm, pool=pool, order=Order(**order))
    return llm.asked


def by_position(pool):
    return list(pool.pairs.values_list("query__qid", "document__docid"))


def test_whole_queries_come_first_as_people_get_them(pool):
    assert asked(pool) == by_position(pool)


def test_the_best_ranked_of_all_queries(pool):
    first, second = dict.fromkeys(query for query, _ in by_position(pool))
    top = {"q1": ["d1", "d2", "d3"], "q2": ["d3", "d2", "d1"]}
    assert asked(pool, first="rank") == [(query, top[query][rank]) for rank in range(3) for query in (first, second)]


def test_what_people_judged_comes_first_and_what_they_could_not_judge_does_not(pool, collection):
    person = make_person()
    last = by_position(pool)[-1]
    make_judgment(person, collection, *last, 1)
    make_judgment(person, collection, *by_position(pool)[3], None)
    assert asked(pool, first="judged") == [last, *by_position(pool)[:-1]]


def test_what_another_llm_was_least_certain_of_comes_first_and_unknown_uncertainty_counts_as_the_mean(pool, collection):
    other = make_llm("other")
    order = by_position(pool)
    chances = [0.99, 0.5, 0.9, 0.6, 0.97]
    for pair, chance in zip(order, chances, strict=False):
        make_judgment(other, collection, *pair, 1, probabilities={"0": 1 - chance, "1": chance})
    wanted = [order[n] for n in (1, 3, 5, 2, 4, 0)]
    assert asked(pool, first="uncertain") == wanted


def test_the_order_can_be_changed_while_pairs_wait(pool):
    judge = llm_judge(Reader())
    queue(pool=pool, judge=judge)
    arrange(pool=pool, judge=judge, first="rank")
    assert set(PrefillTask.objects.values_list("urgency", flat=True)) == {-1.0, -2.0, -3.0}
    arrange(pool=pool, judge=judge)
    assert set(PrefillTask.objects.values_list("urgency", flat=True)) == {0.0}


def test_of_several_llms_one_has_to_be_named(pool, collection):
    one, other, silent = make_llm("one"), make_llm("other"), make_llm("silent")
    with pytest.raises(UserError, match="No other LLM gave probabilities"):
        who_is_uncertain(pool=pool, judge=None, named=None)
    for llm in (one, other):
        make_judgment(llm, collection, "q1", "d1", 1, probabilities={"0": 0.5, "1": 0.5})
    assert who_is_uncertain(pool=pool, judge=other, named=None) == one
    assert who_is_uncertain(pool=pool, judge=None, named=other) == other
    with pytest.raises(UserError, match=r"Several LLMs .* name one of them. These did: one · \w{8}, other · \w{8}"):
        who_is_uncertain(pool=pool, judge=None, named=None)
    with pytest.raises(UserError, match=r"silent · \w{8} gave no probabilities"):
        who_is_uncertain(pool=pool, judge=None, named=silent)


def test_an_order_that_does_not_exist_is_refused(pool):
    with pytest.raises(UserError, match="--first: expected one of queries, judged, uncertain, rank, found 'luck'"):
        arrange(pool=pool, judge=make_llm(), first="luck")
