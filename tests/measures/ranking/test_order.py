import pytest

from judging.errors import UserError
from judging.measures.ranking import rank_order


def test_the_highest_score_comes_first():
    assert rank_order(["a", "b", "c"], [0.1, 3.0, -2.0]) == [1, 0, 2]


def test_equal_scores_are_ordered_by_document_id_descending():
    assert rank_order(["a", "c", "b"], [1.0, 1.0, 1.0]) == [1, 2, 0]


def test_ids_compare_as_strings_by_code_point():
    documents = ["9", "10", "a", "A", "é", "\U0001f600", "\uffee"]

    ordered = [documents[i] for i in rank_order(documents, [0.0] * 7)]

    assert ordered == sorted(documents, key=lambda d: d.encode("utf-8"), reverse=True)
    assert ordered == ["\U0001f600", "\uffee", "é", "a", "A", "9", "10"]


def test_scores_that_differ_beyond_single_precision_are_not_a_tie():
    assert rank_order(["b", "a"], [1.0, 1.0 + 1e-12]) == [1, 0]


def test_minus_zero_ties_with_zero_and_infinite_scores_have_their_place():
    assert rank_order(["a", "b", "c", "d"], [0.0, -0.0, float("inf"), float("-inf")]) == [2, 1, 0, 3]


def test_a_score_that_is_no_number_is_refused_with_the_document_named():
    with pytest.raises(UserError, match=r"nan for document 'b'"):
        rank_order(["a", "b"], [1.0, float("nan")])


def test_documents_and_scores_must_be_as_many():
    with pytest.raises(ValueError, match="2 documents and 1 scores"):
        rank_order(["a", "b"], [1.0])


def test_an_empty_ranking_stays_empty():
    assert rank_order([], []) == []
