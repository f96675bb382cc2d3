"""Pools drawn by an LLM's uncertainty: the chance of every pair is kept, and the estimates undo it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from judging.errors import UserError
from judging.measures.sampling import NO_LABEL
from judging.models import Judgment
from judging.steps.agree import agreement, sheet_of
from judging.steps.drawing import ByUncertainty
from judging.steps.pooling import PoolOptions, open_pool
from tests.factories import make_collection, make_llm, make_person, make_run

pytestmark = pytest.mark.django_db

QIDS = [f"q{n}" for n in range(20)]
DOCIDS = [f"d{n:02}" for n in range(12)]


@pytest.fixture
def llm():
    """Sure of most pairs and right there; unsure of a third, and wrong on half of these."""
    generator = random.Random(7)
    collection = make_collection(documents=DOCIDS, queries=QIDS, qrels={("q0", "d00"): 1})
    make_run(collection, dict.fromkeys(QIDS, DOCIDS))
    judge, person = make_llm(), make_person("oracle")
    queries = {query.qid: query for query in collection.queries.all()}
    documents = {document.docid: document for document in collection.documents.all()}
    said = []
    for qid in QIDS:
        for number, docid in enumerate(DOCIDS):
            grade = generator.random() < 0.4
            unsure = number % 3 == 0
            p = 0.55 if unsure else 0.97
            wrong = unsure and generator.random() < 0.5
            pair = {"query": queries[qid], "document": documents[docid], "outcome": "graded"}
            label = int(grade != wrong)
            chances = {"1": p, "0": 1 - p} if label else {"0": p, "1": 1 - p}
            said.append(Judgment(judge=judge, grade=label, probabilities=chances, **pair))
            said.append(Judgment(judge=person, grade=int(grade), **pair))
    Judgment.objects.bulk_create(said)
    return judge


def drawn(llm, *, budget=60, share=0.3, seed=0, name=None, **options):
    collection = Judgment.objects.filter(judge=llm).first().query.collection
    settings = PoolOptions(depth=12, seed=seed, uncertain=ByUncertainty(llm, budget, share), **options)
    return open_pool(collection=collection, runs=list(collection.runs.all()), name=name or f"s{seed}", options=settings)


def test_pairs_that_the_llm_gave_no_label_count_as_the_mean_of_the_others(llm):
    Judgment.objects.filter(judge=llm, document__docid__gte="d06").delete()
    strata = Counter(drawn(llm, share=0.0).pairs.values_list("stratum", flat=True))
    assert strata[NO_LABEL] in (30, 31)  # half of the pairs, half of the budget


def test_the_budget_is_drawn_and_every_pair_keeps_its_stratum_and_its_chance(llm):
    pool = drawn(llm)
    strata = Counter(pool.pairs.values_list("stratum", flat=True))
    assert (pool.pairs.count(), strata["random"]) == (60, 18)
    assert strata["uncertainty-3"] > strata["uncertainty-1"]
    assert pool.left_out["not drawn"] == 239 - 60
    # Horvitz and Thompson: the pairs stand for all that they were drawn from.
    weights = [1 / p for p in pool.pairs.values_list("inclusion_probability", flat=True)]
    assert sum(weights) == pytest.approx(239, rel=0.25)
    assert agreement(pool=pool).found.holes == pytest.approx(sum(weights))


def test_the_same_seed_draws_the_same_pairs_and_another_seed_others(llm):
    def pairs(pool):
        return set(pool.pairs.values_list("query", "document", "stratum"))

    first, again, other = drawn(llm, name="a"), drawn(llm, name="b"), drawn(llm, name="c", seed=5)
    assert pairs(first) == pairs(again) != pairs(other)


def test_a_sample_of_queries_multiplies_the_chance_of_each_pair(llm):
    pool = drawn(llm, queries=10, budget=30)
    sheet = sheet_of(pool=pool)
    assert sheet.query_probability == 0.5
    assert sheet.inclusion.max() <= 0.5
    assert sheet.drew_pairs


def test_the_plain_kappa_of_uncertain_pairs_is_too_low_and_the_weighted_one_is_not(llm):
    everything = agreement(collection=Judgment.objects.first().query.collection, reference="people")
    truth = everything.llms[0].panel.graded["cohen_kappa"].value
    weighted, naive = [], []
    for seed in range(12):
        pool = drawn(llm, seed=seed)
        sheet = sheet_of(pool=pool)
        weighted.append(agreement(pool=pool).llms[0].panel.graded["cohen_kappa"].value)
        unweighted = replace(sheet, inclusion=np.ones(len(sheet.keys)))
        from judging.steps.agree import agreement_of

        naive.append(agreement_of(unweighted).llms[0].panel.graded["cohen_kappa"].value)
    assert np.mean(naive) < truth - 0.1
    assert np.mean(weighted) == pytest.approx(truth, abs=0.06)


@pytest.mark.parametrize(
    ("budget", "share", "message"),
    [
        (239, 0.3, "--budget: expected at least 1 pair and fewer than the 239 that there are to draw from, found 239"),
        (0, 0.3, "found 0"),
        (10, 1.5, "--random-share: expected a share from 0 to 1, found 1.5"),
    ],
)
def test_a_draw_that_makes_no_sense_is_refused(llm, budget, share, message):
    with pytest.raises(UserError, match=message):
        drawn(llm, budget=budget, share=share)


def test_a_judge_without_probabilities_cannot_be_unsure(llm):
    Judgment.objects.filter(judge=llm).update(probabilities=None)
    with pytest.raises(UserError, match="gave no probabilities for these pairs"):
        drawn(llm)
