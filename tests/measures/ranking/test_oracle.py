"""ir_measures (trec_eval's own code) on random rankings and on TREC DL 2019.

It crashes on negative grades and rounds scores, so it gets grades from 0 on and the negative rank as the score.
"""

import gzip

import ir_measures
import numpy as np
import pytest

from judging.measures.ranking import evaluate, rank_order
from tests.measures.conftest import read_qrels

NAMES = [
    *("nDCG", "nDCG@5", "nDCG@10", "nDCG@1000", "P@1", "P@10", "P(rel=2)@10", "R@5", "R@100", "R(rel=2)@100"),
    *("RR", "RR(rel=2)", "RR@10", "RR(rel=2)@10", "AP", "AP(rel=2)", "AP@10", "AP(rel=3)@5", "Bpref", "Bpref(rel=2)"),
]
COLLECTIONS = ["BM25", "SPLADE_P_P_ENSEMBLE_DISTIL", "rerank.BM25+vicuna-7b-v1.5.top100"]


def by_trec_eval(qrels, rankings, names):
    run = {q: {d: -float(rank) for rank, d in enumerate(ranking)} for q, ranking in rankings.items()}
    measures = [ir_measures.parse_measure(name) for name in names]
    return {(str(m.measure), m.query_id): m.value for m in ir_measures.iter_calc(measures, qrels, run)}


def random_collection(seed):
    random = np.random.default_rng(seed)
    qrels, rankings = {}, {}
    for query in map(str, range(40)):
        pool = [f"d{i}" for i in random.permutation(60)]
        qrels[query] = {d: int(g) for d, g in zip(pool[:25], random.integers(0, 4, 25), strict=True)}
        rankings[query] = [str(d) for d in random.permutation(pool)[: random.integers(1, 50)]]
    qrels["nothing relevant"] = {"d1": 0, "d2": 0}
    qrels["everything relevant"] = {"d1": 1, "d2": 3}
    rankings["nothing relevant"] = ["d3", "d1"]
    rankings["everything relevant"] = ["d3", "d2"]
    return qrels, rankings


def assert_as_trec_eval(qrels, rankings, names):
    evaluation = evaluate(qrels, rankings, names)
    expected = by_trec_eval(qrels, rankings, names)

    assert len(expected) == len(names) * len(qrels)
    for (name, query), value in expected.items():
        assert evaluation.values[name][evaluation.queries.index(query)] == pytest.approx(value, abs=1e-9), (name, query)


@pytest.mark.parametrize("seed", range(3))
def test_every_query_of_random_rankings_scores_as_in_trec_eval(seed):
    assert_as_trec_eval(*random_collection(seed), NAMES)


def test_judged_at_k_is_that_of_ir_measures_where_every_query_has_hits():
    qrels, rankings = random_collection(7)
    expected = by_trec_eval(qrels, rankings, ["Judged@10"])

    evaluation = evaluate(qrels, rankings, ["judged@10"])

    assert {("Judged@10", q): v for q, v in zip(evaluation.queries, evaluation.values["judged@10"], strict=True)} == (
        pytest.approx(expected)
    )


def test_the_mean_over_queries_that_the_run_lacks_in_part_is_that_of_ir_measures():
    qrels, rankings = random_collection(8)
    del rankings["0"], rankings["1"]
    run = {q: {d: -float(rank) for rank, d in enumerate(ranking)} for q, ranking in rankings.items()}

    expected = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)[ir_measures.nDCG @ 10]

    assert evaluate(qrels, rankings, ["nDCG@10"]).mean("nDCG@10") == pytest.approx(expected)


def test_tied_scores_are_read_as_trec_eval_reads_them():
    qrels = {"q": {"b": 1, "d": 2}}
    scores = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5, "e": 0.5}}
    documents = list(scores["q"])
    ranking = [documents[i] for i in rank_order(documents, list(scores["q"].values()))]

    expected = {
        str(m.measure): m.value
        for m in ir_measures.iter_calc([ir_measures.nDCG, ir_measures.AP, ir_measures.RR], qrels, scores)
    }

    assert ranking == ["c", "b", "a", "e", "d"]
    assert evaluate(qrels, {"q": ranking}, list(expected)).values == pytest.approx(expected)


def read_run(path):
    hits: dict[str, list[tuple[str, float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            hits.setdefault(query, []).append((document, float(score)))
    rankings = {}
    for query, found in hits.items():
        documents, scores = zip(*found, strict=True)
        rankings[query] = [documents[i] for i in rank_order(documents, scores)]
    return rankings


def test_bm25_on_trec_dl_2019_has_its_published_ndcg(dl19):
    evaluation = evaluate(read_qrels(dl19 / "qrels" / "test.tsv"), read_run(dl19 / "runs" / "BM25.txt.gz"), ["nDCG@10"])

    assert len(evaluation.queries) == 43
    assert round(evaluation.mean("nDCG@10"), 4) == 0.5058


@pytest.mark.parametrize("run", COLLECTIONS)
def test_every_query_of_trec_dl_2019_scores_as_in_trec_eval(dl19, run):
    qrels = read_qrels(dl19 / "qrels" / "test.tsv")
    rankings = read_run(dl19 / "runs" / f"{run}.txt.gz")

    assert_as_trec_eval(qrels, {query: rankings[query] for query in qrels}, NAMES)
