"""scikit-learn and statsmodels on random grades."""

import numpy as np
import pytest
import sklearn.metrics
from statsmodels.stats import inter_rater

from judging.measures.agreement import (
    cohen_kappa,
    confusion,
    fleiss_kappa,
    precision_recall_f1,
    raw_agreement,
)

SCALE = (0, 1, 2, 3)


@pytest.fixture(params=range(5))
def grades(request):
    random = np.random.default_rng(request.param)
    a = random.choice(4, 500, p=[0.6, 0.2, 0.15, 0.05])
    b = np.where(random.random(500) < 0.5, a, random.integers(0, 4, 500))
    return a, b, random.uniform(0.1, 5, 500)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohens_kappa_is_that_of_scikit_learn(grades, weights):
    a, b, sample_weight = grades

    assert cohen_kappa(a, b, weights=weights) == pytest.approx(
        sklearn.metrics.cohen_kappa_score(a, b, weights=weights), abs=1e-12
    )
    assert cohen_kappa(a, b, weights=weights, sample_weight=sample_weight) == pytest.approx(
        sklearn.metrics.cohen_kappa_score(a, b, weights=weights, sample_weight=sample_weight), abs=1e-12
    )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohens_kappa_is_that_of_statsmodels(grades, weights):
    a, b, _ = grades

    assert cohen_kappa(a, b, weights=weights) == pytest.approx(
        inter_rater.cohens_kappa(confusion(a, b, grades=SCALE), wt=weights, return_results=False), abs=1e-12
    )


def test_the_confusion_matrix_is_that_of_scikit_learn(grades):
    a, b, weight = grades

    np.testing.assert_array_equal(confusion(a, b, grades=SCALE), sklearn.metrics.confusion_matrix(a, b))
    np.testing.assert_allclose(
        confusion(a, b, grades=SCALE, sample_weight=weight),
        sklearn.metrics.confusion_matrix(a, b, sample_weight=weight) / weight.mean(),
    )


@pytest.mark.parametrize("relevant_from", [1, 2, 3])
def test_precision_recall_and_f1_are_those_of_scikit_learn(grades, relevant_from):
    a, b, weight = grades
    expected = sklearn.metrics.precision_recall_fscore_support(
        a >= relevant_from, b >= relevant_from, average="binary", sample_weight=weight
    )

    assert precision_recall_f1(a, b, relevant_from=relevant_from, sample_weight=weight) == pytest.approx(expected[:3])


def test_raw_agreement_is_the_accuracy_of_scikit_learn(grades):
    a, b, weight = grades

    assert raw_agreement(a, b, sample_weight=weight) == pytest.approx(
        sklearn.metrics.accuracy_score(a, b, sample_weight=weight)
    )


def test_fleiss_kappa_is_that_of_statsmodels(grades):
    a, b, _ = grades
    raters = [a, b, np.minimum(a, b), np.roll(a, 1)]
    counts, _ = inter_rater.aggregate_raters(np.stack(raters, axis=1))

    assert fleiss_kappa(*raters) == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)
