"""Do 95 % intervals hold the truth? People judge some queries, drawn anew thousands of times, the LLM all of them."""

from typing import NamedTuple

import numpy as np
import pytest

from judging.measures.agreement import confusion
from judging.measures.estimation import llm_only, people_only, prediction_powered
from judging.measures.ranking import evaluate, rank_order
from tests.measures.conftest import read_qrels
from tests.measures.ranking.test_oracle import read_run

SCALE = (0, 1, 2, 3)


class Seen(NamedTuple):
    rmse: float
    coverage: float
    width: float


def simulate(systems, *, judged, draws=2_000, tuning=1.0):
    """People only, LLM only, joined: over all (truth, LLM) vectors of a measure and all draws of judged queries."""
    seen = [[], [], []]
    for number, (truth, llm) in enumerate(systems):
        drawn = np.random.default_rng(number).random((draws, truth.size)).argsort(axis=1)[:, :judged]
        y, f = truth[drawn], llm[drawn]
        estimates = (
            people_only(y, population=truth.size),
            llm_only(llm),
            prediction_powered(y, f, llm, population=truth.size, tuning=tuning),
        )
        for kept, moments in zip(seen, estimates, strict=True):
            error = np.abs(moments.value - truth.mean())
            kept.append(((error**2).mean(), (error <= moments.margin()).mean(), 2 * moments.margin().mean()))
    means = [np.mean(kept, axis=0) for kept in seen]
    return [Seen(np.sqrt(mean[0]), mean[1], mean[2]) for mean in means]


def synthetic(correlation, *, bias=0.1, systems=30, queries=53):
    """A measure with standard deviation .23, as nDCG@10 on TREC DL 2021; an LLM too generous by ``bias``."""
    random = np.random.default_rng(7)
    made = []
    for _ in range(systems):
        truth = random.beta(1.9, 1.9, queries)
        error = random.normal(0, truth.std(), queries)
        like = truth.mean() + correlation * (truth - truth.mean()) + np.sqrt(1 - correlation**2) * error
        made.append((truth, like + bias))
    return made


def test_with_a_strong_judge_the_llm_alone_misses_and_the_joined_interval_is_narrower_and_covers():
    """On TREC DL 2021, 15 of 53 queries: LLM .103 and 6 %, people .050 and 94 %, joined .0375 and 94 %."""
    people, llm, joined = simulate(synthetic(0.72), judged=15)

    assert (people.rmse, llm.rmse, joined.rmse) == pytest.approx((0.050, 0.103, 0.0375), abs=0.004)
    assert llm.coverage <= 0.1
    assert people.coverage == pytest.approx(0.95, abs=0.012)
    assert joined.coverage == pytest.approx(0.95, abs=0.012)
    assert people.width / joined.width == pytest.approx(1.35, abs=0.1)


def test_with_a_weak_judge_there_is_nothing_to_gain_and_a_fitted_tuning_loses_nothing():
    people, _, plain = simulate(synthetic(0.2), judged=15)
    _, _, fitted = simulate(synthetic(0.2), judged=15, tuning="fitted")

    assert plain.width > 1.15 * people.width
    assert fitted.width == pytest.approx(people.width, rel=0.05)
    assert (plain.coverage, fitted.coverage) == pytest.approx((0.95, 0.95), abs=0.012)


@pytest.mark.parametrize("tuning", [1.0, "fitted"])
@pytest.mark.parametrize("judged", [3, 5, 30])
def test_few_judged_queries_and_many_are_covered_alike(judged, tuning):
    people, _, joined = simulate(synthetic(0.7), judged=judged, tuning=tuning)

    assert (people.coverage, joined.coverage) == pytest.approx((0.95, 0.95), abs=0.02)


def test_an_unbiased_judge_is_no_excuse_for_leaving_people_out():
    """Without bias the LLM alone covers: the people's queries are what shows whether there is one."""
    _, llm, joined = simulate(synthetic(0.9, bias=0.0), judged=15)

    assert llm.coverage > 0.9
    assert joined.coverage == pytest.approx(0.95, abs=0.012)


def as_qrels(llmjudge, grades):
    qrels = {}
    for (query, document), grade in zip(llmjudge.pairs, grades, strict=True):
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def positives(qrels):
    return np.array([sum(grade >= 2 for grade in grades.values()) for grades in qrels.values()], dtype=float)


def test_positives_of_llmjudge_gain_by_a_judge_who_is_biased_yet_orders_the_queries_as_people_do(llmjudge):
    """Numbers of positives are skewed, 4 to 186 a query, so ten queries cover a little less than 95 %."""
    truth = positives(as_qrels(llmjudge, llmjudge.people))
    llm = positives(as_qrels(llmjudge, np.clip(llmjudge.llm("RMITIR-llama70B"), 0, 3)))

    people, alone, joined = simulate([(truth, llm)], judged=10, draws=10_000)

    assert alone.coverage == 0
    assert alone.rmse > 2.5 * people.rmse
    assert people.coverage == pytest.approx(0.92, abs=0.015)
    assert joined.coverage == pytest.approx(0.94, abs=0.015)
    assert people.width / joined.width > 1.35


def test_ndcg_of_llmjudge_gains_nothing_by_a_judge_whose_queries_are_not_the_peoples(llmjudge):
    """The rankings are those of the other teams' labels; umbrela's nDCG@10 correlates by about .2 with the people's."""
    people_qrels, judge = as_qrels(llmjudge, llmjudge.people), as_qrels(llmjudge, llmjudge.llm("willia-umbrela1"))
    systems = []
    for run in (run for run in llmjudge.runs if not run.startswith("willia")):
        labels = as_qrels(llmjudge, llmjudge.llm(run))
        ranked = {q: [list(g)[i] for i in rank_order(list(g), list(map(float, g.values())))] for q, g in labels.items()}
        systems.append([evaluate(q, ranked, ["nDCG@10"]).values["nDCG@10"] for q in (people_qrels, judge)])

    people, alone, plain = simulate(systems, judged=10, draws=500)
    _, _, fitted = simulate(systems, judged=10, draws=500, tuning="fitted")

    assert alone.rmse == pytest.approx(0.10, abs=0.01)
    assert alone.coverage < 0.6
    assert people.coverage == pytest.approx(0.94, abs=0.02)
    assert (plain.coverage, fitted.coverage) == pytest.approx((0.95, 0.95), abs=0.02)
    assert plain.width > 1.1 * people.width
    assert fitted.width == pytest.approx(people.width, rel=0.05)


def test_runs_of_trec_dl_2019_judged_as_umbrela_confuses_grades_show_the_pattern(dl19, llmjudge):
    """Eight runs; every grade is replaced at random by what umbrela said of pairs to which people gave that grade."""
    qrels = read_qrels(dl19 / "qrels" / "test.tsv")
    cells = confusion(llmjudge.people, llmjudge.llm("willia-umbrela1"), grades=SCALE)
    thresholds = (cells / cells.sum(axis=1, keepdims=True)).cumsum(axis=1)
    random = np.random.default_rng(0)
    confused = {
        query: {document: int((thresholds[grade][:-1] <= random.random()).sum()) for document, grade in grades.items()}
        for query, grades in qrels.items()
    }
    systems = []
    for path in sorted((dl19 / "runs").glob("*.txt.gz")):
        ranked = read_run(path)
        systems.append([evaluate(q, ranked, ["nDCG@10"]).values["nDCG@10"] for q in (qrels, confused)])

    people, alone, joined = simulate(systems, judged=15)

    assert len(systems) == 8
    assert alone.rmse > 4 * people.rmse
    assert alone.coverage < 0.1
    assert (people.coverage, joined.coverage) == pytest.approx((0.95, 0.95), abs=0.015)
    assert people.width / joined.width > 1.2
