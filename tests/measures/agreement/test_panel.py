import numpy as np
import pytest

from judging.measures.agreement import (
    bias,
    cohen_kappa,
    gwet_ac,
    krippendorff_alpha,
    panel,
    precision_recall_f1,
    prevalence,
    raw_agreement,
)
from judging.measures.agreement.coefficients import alpha, kappa
from judging.measures.agreement.pairs import pair_up

SCALE = (0, 1, 2, 3)
RANDOM = np.random.default_rng(3)
PEOPLE = RANDOM.choice([0, 1, 2, 3, np.nan], 400, p=[0.5, 0.2, 0.15, 0.1, 0.05])
LLM = np.where(RANDOM.random(400) < 0.5, PEOPLE, RANDOM.integers(0, 4, 400))
QUERIES = [f"q{i % 20}" for i in range(400)]
WEIGHTS = RANDOM.uniform(1, 4, 400)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
def test_the_panel_holds_what_the_single_functions_give(weight):
    judged = panel(PEOPLE, LLM, grades=SCALE, sample_weight=weight)
    common = {"grades": SCALE, "sample_weight": weight}

    assert {name: estimate.value for name, estimate in judged.graded.items()} == pytest.approx(
        {
            "raw_agreement": raw_agreement(PEOPLE, LLM, **common),
            "cohen_kappa": cohen_kappa(PEOPLE, LLM, **common),
            "linear_kappa": cohen_kappa(PEOPLE, LLM, weights="linear", **common),
            "quadratic_kappa": cohen_kappa(PEOPLE, LLM, weights="quadratic", **common),
            "krippendorff_alpha": krippendorff_alpha(PEOPLE, LLM, **common),
            "gwet_ac1": gwet_ac(PEOPLE, LLM, **common),
            "gwet_ac2": gwet_ac(PEOPLE, LLM, weights="quadratic", **common),
            "bias": bias(PEOPLE, LLM, **common),
        }
    )
    assert judged.weighted is (weight is not None)


def test_a_binarisation_is_the_same_as_binarising_the_grades_first():
    binary = panel(PEOPLE, LLM, grades=SCALE).binary[2]
    people, llm = (np.where(np.isnan(side), np.nan, side >= 2) for side in (PEOPLE, LLM))

    assert binary["cohen_kappa"].value == pytest.approx(cohen_kappa(people, llm))
    assert binary["gwet_ac1"].value == pytest.approx(gwet_ac(people, llm))
    assert binary["krippendorff_alpha"].value == pytest.approx(krippendorff_alpha(people, llm, level="nominal"))
    assert [binary[name].value for name in ("precision", "recall", "f1")] == pytest.approx(
        precision_recall_f1(people, llm)
    )
    assert (binary["prevalence_first"].value, binary["prevalence_second"].value) == pytest.approx(
        prevalence(people, llm)
    )


def test_the_collections_own_threshold_comes_first():
    assert list(panel(PEOPLE, LLM, grades=SCALE).binary) == [1, 2, 3]
    assert list(panel(PEOPLE, LLM, grades=SCALE, relevant_from=2).binary) == [2, 1, 3]
    assert list(panel([-1, 2], [-1, 2], grades=(-1, 0, 2), relevant_from=0).binary) == [0, 2]


def test_what_does_not_count_is_counted_beside():
    judged = panel([0, 1, None, 2, 7, None], [0, None, 1, 9, 1, None], grades=SCALE)

    assert (judged.pairs, judged.only_first, judged.only_second, judged.out_of_scale) == (1, 1, 1, 2)


def test_queries_without_a_shared_pair_are_not_resampled():
    judged = panel([0, 1, 1, None], [0, 1, 0, 1], grades=(0, 1), clusters=["a", "a", "b", "c"])

    assert judged.queries == 2


def test_without_clusters_there_is_no_interval():
    judged = panel(PEOPLE, LLM, grades=SCALE)

    assert judged.queries is None
    assert {estimate.interval for estimate in judged.graded.values()} == {None}


def test_every_value_lies_in_its_interval():
    judged = panel(PEOPLE, LLM, grades=SCALE, clusters=QUERIES, sample_weight=WEIGHTS)
    estimates = [*judged.graded.values(), *(e for at in SCALE[1:] for e in judged.binary[at].values())]

    assert all(e.interval.low < e.value < e.interval.high for e in estimates)


def test_the_interval_is_the_same_at_each_call_and_another_with_another_seed():
    def interval(**seed):
        return panel(PEOPLE, LLM, grades=SCALE, clusters=QUERIES, **seed).graded["cohen_kappa"].interval

    assert interval() == interval() == interval(seed=0)
    assert interval() != interval(seed=1)


def test_an_interval_comes_from_two_thousand_resamples_of_whole_queries():
    """The slow way: draw queries, put their pairs together, compute the coefficient on the grades."""
    random = np.random.default_rng(11)
    queries = np.array(QUERIES)
    members = [np.flatnonzero(queries == query) for query in sorted(set(QUERIES))]
    kappas = []
    for _ in range(2000):
        drawn = np.concatenate([members[i] for i in random.integers(0, 20, 20)])
        kappas.append(cohen_kappa(PEOPLE[drawn], LLM[drawn]))

    interval = panel(PEOPLE, LLM, grades=SCALE, clusters=QUERIES).graded["cohen_kappa"].interval

    assert interval[:2] == pytest.approx(np.quantile(kappas, [0.025, 0.975]), abs=0.01)


def test_the_matrices_of_the_queries_add_up_to_that_of_all_pairs():
    pairs = pair_up(PEOPLE, LLM, grades=SCALE, clusters=QUERIES, sample_weight=WEIGHTS)

    np.testing.assert_allclose(pairs.confusion_by_cluster().sum(axis=0), pairs.confusion())


@pytest.mark.parametrize("coefficient", [kappa, alpha])
def test_a_stack_of_matrices_gives_the_values_of_its_members(coefficient):
    stack = np.random.default_rng(0).integers(0, 9, (5, 2, 4, 4)).astype(float)
    scale = np.arange(4.0)

    values = coefficient(stack, scale)

    assert values.shape == (5, 2)
    assert values[3, 1] == coefficient(stack[3, 1], scale)


@pytest.mark.parametrize("wrong", [{"clusters": ["q"]}, {"sample_weight": [1.0]}, {"sample_weight": [1.0, -1.0]}])
def test_clusters_and_weights_belong_to_the_pairs(wrong):
    with pytest.raises(ValueError, match=r"clusters|weights|Weights"):
        panel([0, 1], [0, 1], grades=(0, 1), **wrong)


def test_judges_of_different_pairs_are_refused():
    with pytest.raises(ValueError, match="same pairs; found 2 and 1"):
        panel([0, 1], [0], grades=(0, 1))
