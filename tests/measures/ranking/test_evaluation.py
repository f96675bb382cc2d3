import numpy as np
import pytest

from judging.errors import UserError
from judging.measures.ranking import evaluate, grade_rankings

QRELS = {"q1": {"a": 1}, "q2": {"b": 2, "c": 0}, "q3": {"d": 1}}


def test_values_come_in_the_order_of_the_qrels():
    evaluation = evaluate(QRELS, {"q2": ["b"], "q1": ["x", "a"], "q3": ["d"]}, ["RR", "P@1"])

    assert evaluation.queries == ("q1", "q2", "q3")
    assert evaluation.values["RR"].tolist() == [0.5, 1.0, 1.0]
    assert evaluation.values["P@1"].tolist() == [0.0, 1.0, 1.0]


def test_a_query_that_the_run_lacks_scores_0_and_stays_in_the_mean():
    evaluation = evaluate(QRELS, {"q1": ["a"], "q2": ["b"]}, ["nDCG@10"])

    assert evaluation.missing == ("q3",)
    assert evaluation.values["nDCG@10"].tolist() == [1.0, 1.0, 0.0]
    assert evaluation.mean("nDCG@10") == pytest.approx(2 / 3)


def test_a_query_without_hits_has_no_judged_at_k_and_is_listed():
    evaluation = evaluate(QRELS, {"q1": ["a", "x"], "q2": [], "q3": ["d"]}, ["judged@10", "RR"])

    assert evaluation.undefined("judged@10") == ("q2",)
    assert evaluation.undefined("RR") == ()
    assert evaluation.mean("judged@10") == 0.75


def test_a_query_that_the_qrels_lack_is_ignored_and_listed():
    evaluation = evaluate(QRELS, {"q1": ["a"], "q2": ["b"], "q3": ["d"], "q9": ["a"]}, ["nDCG@10"])

    assert evaluation.ignored == ("q9",)
    assert evaluation.mean("nDCG@10") == 1.0


def test_a_query_that_was_never_judged_counts_where_the_qrels_name_it():
    assert evaluate({"q1": {"a": 1}, "q2": {}}, {"q1": ["a"], "q2": ["a"]}, ["judged@5"]).mean("judged@5") == 0.5


def test_a_document_that_is_relevant_to_another_query_is_unjudged_here():
    assert evaluate(QRELS, {"q1": ["b"], "q2": ["a"]}, ["judged@10"]).values["judged@10"].tolist()[:2] == [0.0, 0.0]


def test_ids_are_compared_byte_for_byte():
    evaluation = evaluate({"q": {"42": 1, "nike": 1}}, {"q": ["0042", "Nike"]}, ["judged@10"])

    assert evaluation.mean("judged@10") == 0.0


def test_without_any_query_the_mean_is_undefined():
    assert np.isnan(evaluate({}, {"q": ["a"]}, ["nDCG@10"]).mean("nDCG@10"))


def test_a_document_twice_in_a_ranking_is_refused():
    with pytest.raises(UserError, match=r"query 'q1' has document 'a' more than once"):
        evaluate(QRELS, {"q1": ["a", "x", "a"]}, ["AP"])


def test_the_matrix_holds_nan_where_unjudged_and_beyond_the_end():
    graded = grade_rankings(QRELS, {"q1": ["x", "a"], "q2": ["c"]})

    np.testing.assert_array_equal(graded.grades, [[np.nan, 1], [0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(graded.ideal, [[1, np.nan], [2, 0], [1, np.nan]])
    assert graded.retrieved.tolist() == [2, 1, 0]
