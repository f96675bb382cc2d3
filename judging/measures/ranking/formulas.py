"""The formulas: each takes the graded rankings of Q queries and gives Q values.

Notation: ``g_i`` is the grade at rank i (from 1), ``rel_i`` is 1 where g_i ≥ rel and else 0 (unjudged: 0), R is the
number of judged documents with a grade ≥ rel. A query with R = 0 scores 0, as in trec_eval. ``k`` None reads the whole
ranking.
"""

from __future__ import annotations

import numpy as np

from judging.measures.arrays import FloatArray, ratio
from judging.measures.ranking.graded import Graded


def ndcg(graded: Graded, k: int | None) -> FloatArray:
    """DCG / ideal DCG with DCG = Σ_{i≤k} max(g_i, 0) / log2(i + 1).

    Linear gain as in trec_eval's ``ndcg`` and ``ndcg_cut``; unjudged and negative grades gain 0.
    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
    """
    return _or_zero(ratio(_dcg(graded.grades[:, :k]), _dcg(graded.ideal[:, :k])))


def precision(graded: Graded, k: int | None, rel: int) -> FloatArray:
    """Σ_{i≤k} rel_i / k; a ranking shorter than k is still divided by k, as in trec_eval."""
    depth = graded.grades.shape[1] if k is None else k
    return _or_zero(ratio(_relevant(graded, k, rel).sum(axis=1), depth))


def recall(graded: Graded, k: int | None, rel: int) -> FloatArray:
    """Σ_{i≤k} rel_i / R."""
    return _or_zero(ratio(_relevant(graded, k, rel).sum(axis=1), _relevant_in_all(graded, rel)))


def reciprocal_rank(graded: Graded, k: int | None, rel: int) -> FloatArray:
    """1 / rank of the first relevant document within k; 0 where there is none.

    Kantor and Voorhees, The TREC-5 confusion track, Information Retrieval 2, 2000.
    """
    relevant = _relevant(graded, k, rel)
    reciprocals: FloatArray = (relevant / _ranks(relevant)).max(axis=1, initial=0.0)
    return reciprocals


def average_precision(graded: Graded, k: int | None, rel: int) -> FloatArray:
    """Σ_{i≤k} rel_i · P@i / R, trec_eval's ``map`` and ``map_cut``.

    Buckley and Voorhees, Retrieval system evaluation, in: TREC, MIT Press, 2005.
    """
    relevant = _relevant(graded, k, rel)
    precisions = relevant.cumsum(axis=1) / _ranks(relevant)
    return _or_zero(ratio((precisions * relevant).sum(axis=1), _relevant_in_all(graded, rel)))


def bpref(graded: Graded, rel: int) -> FloatArray:
    """1/R · Σ_{i: rel_i} (1 − min(n_i, R) / min(N, R)).

    n_i judged non-relevant documents stand above rank i, N are judged in all; unjudged ones are skipped. As in
    trec_eval 8 and later, but a negative grade counts as judged non-relevant, where trec_eval skips it.
    Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.
    """
    relevant_in_all = _relevant_in_all(graded, rel)
    bound = np.minimum(relevant_in_all, (graded.ideal < rel).sum(axis=1))
    above = np.minimum((graded.grades < rel).cumsum(axis=1), relevant_in_all[:, None])
    preferred = 1 - _or_zero(ratio(above, bound[:, None]))
    return _or_zero(ratio((preferred * _relevant(graded, None, rel)).sum(axis=1), relevant_in_all))


def rank_biased_precision(graded: Graded, k: int | None, rel: int, p: float) -> FloatArray:
    """(1 − p) · Σ_{i≤k} rel_i · p^(i−1), with binary relevance.

    Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008.
    """
    relevant = _relevant(graded, k, rel)
    utility: FloatArray = relevant @ p ** (_ranks(relevant) - 1)
    return (1 - p) * utility


def judged(graded: Graded, k: int | None) -> FloatArray:
    """Judged documents of the top k, whatever their grade, / min(k, retrieved); nan where nothing was retrieved."""
    read = graded.retrieved if k is None else np.minimum(graded.retrieved, k)
    return ratio((~np.isnan(graded.grades[:, :k])).sum(axis=1), read)


def _dcg(grades: FloatArray) -> FloatArray:
    gains: FloatArray = np.fmax(grades, 0.0)  # fmax takes the number of (nan, number): unjudged gains 0
    discounted: FloatArray = gains @ (1 / np.log2(_ranks(grades) + 1))
    return discounted


def _relevant(graded: Graded, k: int | None, rel: int) -> FloatArray:
    return (graded.grades[:, :k] >= rel).astype(float)


def _relevant_in_all(graded: Graded, rel: int) -> FloatArray:
    return np.asarray((graded.ideal >= rel).sum(axis=1), dtype=float)


def _ranks(matrix: FloatArray) -> FloatArray:
    return np.arange(1, matrix.shape[1] + 1, dtype=float)


def _or_zero(values: FloatArray) -> FloatArray:
    return np.where(np.isnan(values), 0.0, values)
