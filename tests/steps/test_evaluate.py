"""What the runs score under the original and under the augmented qrels."""

from __future__ import annotations

import math

import ir_measures
import pytest

from judging.errors import UserError
from judging.formats.scale import default_scale
from judging.steps.evaluate import compare, scores
from judging.steps.merge import Policy, merge
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_run

approx = pytest.approx
pytestmark = pytest.mark.django_db

MEASURES = ["nDCG@3", "P@2", "RR", "AP", "judged@3"]
ORACLE = [ir_measures.parse_measure(name) for name in ("nDCG@3", "P@2", "RR", "AP")]

RANKINGS = {
    "good": {"q1": ["d1", "d2", "d3"], "q2": ["d3", "d1", "d2", "d4"], "q9": ["d1"]},
    "poor": {"q1": ["d4", "d3", "d1"], "q2": ["d4", "d2"]},
}


@pytest.fixture
def collection():
    """q3 is judged and in no run, q9 is in a run and not judged."""
    collection = make_collection(
        documents=["d1", "d2", "d3", "d4"],
        queries=["q1", "q2", "q3", "q9"],
        qrels={("q1", "d1"): 2, ("q1", "d3"): 1, ("q2", "d1"): 1, ("q2", "d3"): 0, ("q3", "d2"): 1},
        scale=default_scale(2),
    )
    for name, rankings in RANKINGS.items():
        make_run(collection, rankings, name=name)
    return collection


def by_oracle(qrels, name):
    """The means that ir_measures gives over all judged queries."""
    run = {q: {d: -float(rank) for rank, d in enumerate(ds)} for q, ds in RANKINGS[name].items()}
    found = ir_measures.calc_aggregate(ORACLE, qrels, run)
    return {str(measure): value for measure, value in found.items()}


def means(scored):
    return {name: score.mean for name, score in scored.items() if name != "judged@3"}


def test_the_means_are_those_of_ir_measures_and_a_query_that_the_run_lacks_scores_0(collection):
    qrels = {"q1": {"d1": 2, "d3": 1}, "q2": {"d1": 1, "d3": 0}, "q3": {"d2": 1}}
    for row in scores(collection=collection, measures=MEASURES):
        assert means(row.before) == approx(by_oracle(qrels, row.run.name))
        assert row.before["nDCG@3"].queries == 3
    good = scores(collection=collection, measures=["P@2"])[0]
    assert good.before["P@2"].mean == approx((0.5 + 0.5 + 0) / 3)


def test_judged_at_k_has_no_value_where_nothing_was_retrieved_and_says_so(collection):
    score = scores(collection=collection, measures=["judged@3"])[0].before["judged@3"]
    assert score.mean == approx((2 / 3 + 2 / 3) / 2)
    assert score.undefined == ("q3",)


def test_after_is_measured_under_the_merged_qrels(collection):
    make_judgment(make_person(), collection, "q1", "d4", 2)
    make_judgment(make_person(), collection, "q2", "d2", 1)
    llm = make_llm()
    make_judgment(llm, collection, "q1", "d2", 1)
    policy = Policy(llm=(llm,))
    result = compare(collection=collection, measures=MEASURES, policy=policy)
    merged = merge(collection=collection, policy=policy).qrels
    assert [row.run.name for row in result.runs] == ["good", "poor"]
    for row in result.runs:
        assert means(row.after) == approx(by_oracle(merged, row.run.name))
        assert means(row.before) != approx(means(row.after))
    assert (result.judged_before, result.judged_after) == (5, 8)


def test_llm_grades_change_nothing_unless_the_policy_names_the_llm(collection):
    make_judgment(make_llm(), collection, "q1", "d2", 2)
    for row in compare(collection=collection, measures=["nDCG@3"]).runs:
        assert row.before == row.after


def test_the_queries_are_those_of_the_original_qrels_before_and_after(collection):
    make_judgment(make_person(), collection, "q9", "d1", 2)
    result = compare(collection=collection, measures=["P@2"])
    assert {row.after["P@2"].queries for row in result.runs} == {3}
    assert result.judged_after == 5


def test_tau_says_whether_the_order_of_the_runs_has_changed_and_swapped_which_did(collection):
    calm = compare(collection=collection, measures=["nDCG@3", "P@2"])
    assert calm.tau == {"nDCG@3": 1.0, "P@2": 1.0}
    assert calm.swapped("nDCG@3") == []
    for qid, docid in (("q1", "d4"), ("q2", "d4"), ("q2", "d2")):
        make_judgment(make_person(), collection, qid, docid, 2)
    turned = compare(collection=collection, measures=["nDCG@3", "P@2"])
    assert turned.tau["P@2"] == -1.0
    assert [(better.name, then.name) for better, then in turned.swapped("P@2")] == [("good", "poor")]


def test_tau_of_one_run_is_undefined(collection):
    collection.runs.filter(name="poor").delete()
    assert math.isnan(compare(collection=collection, measures=["nDCG@3"]).tau["nDCG@3"])


def test_intervals_are_the_same_at_each_look(collection):
    first, second = (compare(collection=collection, measures=["nDCG@3"]) for _ in range(2))
    assert [row.before["nDCG@3"].interval for row in first.runs] == [
        row.before["nDCG@3"].interval for row in second.runs
    ]
    interval = first.runs[0].before["nDCG@3"].interval
    assert 0 <= interval.low < first.runs[0].before["nDCG@3"].mean < interval.high <= 1


def test_measures_go_by_their_printed_names_and_each_comes_once(collection):
    assert compare(collection=collection, measures=["ndcg@3", "nDCG@3", "P@2"]).measures == ("nDCG@3", "P@2")


def test_runs_that_were_interrupted_are_not_measured(collection):
    make_run(collection, {"q1": ["d1"]}, name="broken", complete=False)
    assert {row.run.name for row in compare(collection=collection, measures=["P@2"]).runs} == {"good", "poor"}


def test_a_collection_without_a_run_says_how_to_make_one():
    collection = make_collection("bare", qrels={("q1", "d1"): 1})
    with pytest.raises(UserError, match=r"bare has no run yet: python manage.py retrieve bare"):
        compare(collection=collection, measures=["P@2"])


def test_a_collection_without_qrels_says_that_nothing_can_be_measured():
    collection = make_collection("bare")
    make_run(collection, {"q1": ["d1"]})
    for step in (compare, scores):
        with pytest.raises(UserError, match="bare has no original qrels"):
            step(collection=collection, measures=["P@2"])


def test_an_unknown_measure_is_refused_by_name(collection):
    with pytest.raises(UserError, match="nonsense"):
        compare(collection=collection, measures=["nonsense@3"])
