"""Each value here can be checked by hand.

Query q: d1 has grade 3, d2 has 2, d3 has 1, d4 and d5 have 0, d6 has −1; nobody judged u1 and u2.
"""

from math import log2

import pytest

from judging.measures.ranking import evaluate

QRELS = {"q": {"d1": 3, "d2": 2, "d3": 1, "d4": 0, "d5": 0, "d6": -1}}
RANKING = ["d4", "d1", "u1", "d6", "d3"]  # grades 0, 3, none, −1, 1
IDEAL = 3 + 2 / log2(3) + 1 / 2


def measured(name: str, ranking: list[str] = RANKING, qrels: dict = QRELS) -> float:
    return evaluate(qrels, {"q": ranking}, [name]).mean(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nDCG", (3 / log2(3) + 1 / log2(6)) / IDEAL),
        ("nDCG@5", (3 / log2(3) + 1 / log2(6)) / IDEAL),
        ("nDCG@2", (3 / log2(3)) / (3 + 2 / log2(3))),
        ("nDCG@1", 0.0),
        ("P@2", 1 / 2),
        ("P@5", 2 / 5),
        ("P@10", 2 / 10),
        ("P(rel=2)@5", 1 / 5),
        ("P(rel=4)@5", 0.0),
        ("R@2", 1 / 3),
        ("R@100", 2 / 3),
        ("R(rel=2)@100", 1 / 2),
        ("RR", 1 / 2),
        ("RR@1", 0.0),
        ("RR(rel=3)@10", 1 / 2),
        ("AP", (1 / 2 + 2 / 5) / 3),
        ("AP@2", (1 / 2) / 3),
        ("AP(rel=2)", (1 / 2) / 2),
        # d1 has one judged non-relevant above it (d4), d3 has two (d4 and d6); R = 3, N = 3
        ("Bpref", ((1 - 1 / 3) + (1 - 2 / 3)) / 3),
        ("Bpref(rel=2)", (1 - 1 / 2) / 2),
        ("RBP(p=0.8)", 0.2 * (0.8 + 0.8**4)),
        ("RBP(p=0.5)@3", 0.5 * 0.5),
        ("RBP(p=0.8,rel=2)", 0.2 * 0.8),
        ("judged@1", 1.0),
        ("judged@3", 2 / 3),
        ("judged@5", 4 / 5),
        ("judged@10", 4 / 5),  # of the five documents that were retrieved
    ],
)
def test_value_by_hand(name, expected):
    assert measured(name) == pytest.approx(expected, abs=1e-15)


def test_the_ideal_ranking_has_an_ndcg_of_1():
    assert measured("nDCG@10", ["d1", "d2", "d3", "d6", "d4"]) == 1.0


def test_a_negative_grade_gains_nothing_and_takes_nothing():
    assert measured("nDCG", ["d6", "d1"]) == measured("nDCG", ["d4", "d1"]) == measured("nDCG", ["u1", "d1"])


def test_a_negative_grade_counts_as_judged():
    assert measured("judged@2", ["d6", "u1"]) == 0.5


def test_a_negative_grade_counts_as_judged_non_relevant_in_bpref():
    assert measured("Bpref", ["d6", "d1"]) == measured("Bpref", ["d4", "d1"]) < measured("Bpref", ["u1", "d1"])


def test_a_relevance_cut_below_zero_does_not_make_the_unjudged_relevant():
    assert measured("P(rel=-1)@2", ["d6", "u1"]) == 0.5


@pytest.mark.parametrize("name", ["nDCG@10", "P@10", "R@10", "RR@10", "AP", "Bpref", "RBP(p=0.8)"])
def test_a_query_without_any_relevant_document_scores_0(name):
    assert measured(name, ["d4", "u1"], {"q": {"d4": 0, "d5": -2}}) == 0.0


@pytest.mark.parametrize("name", ["nDCG@10", "P@10", "R@10", "RR@10", "AP", "Bpref", "RBP(p=0.8)"])
def test_a_ranking_without_documents_scores_0(name):
    assert measured(name, []) == 0.0
