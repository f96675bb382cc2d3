import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judging.measures.agreement import bias, cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha, raw_agreement

SCALE = (0, 1, 2, 3)
SYMMETRIC = {
    "raw": raw_agreement,
    "kappa": cohen_kappa,
    "linear kappa": lambda a, b: cohen_kappa(a, b, weights="linear"),
    "quadratic kappa": lambda a, b: cohen_kappa(a, b, weights="quadratic"),
    "AC1": lambda a, b: gwet_ac(a, b, grades=SCALE),
    "AC2": lambda a, b: gwet_ac(a, b, weights="quadratic", grades=SCALE),
    "nominal alpha": lambda a, b: krippendorff_alpha(a, b, level="nominal"),
    "ordinal alpha": lambda a, b: krippendorff_alpha(a, b, level="ordinal"),
    "interval alpha": lambda a, b: krippendorff_alpha(a, b, level="interval"),
    "Fleiss": fleiss_kappa,
}
NOMINAL = {name: SYMMETRIC[name] for name in ("raw", "kappa", "AC1", "nominal alpha", "Fleiss")}
CHANCE_CORRECTED = {name: f for name, f in SYMMETRIC.items() if name not in ("raw", "AC1", "AC2")}
two_judges = st.lists(st.tuples(st.sampled_from([*SCALE, None]), st.sampled_from([*SCALE, None])), max_size=30)


def columns(pairs):
    return [a for a, _ in pairs], [b for _, b in pairs]


def same(first, second):
    return first == pytest.approx(second, abs=1e-9, nan_ok=True)


@given(pairs=two_judges)
@settings(deadline=None)
def test_neither_judge_comes_first(pairs):
    a, b = columns(pairs)
    for name, coefficient in SYMMETRIC.items():
        assert same(coefficient(a, b), coefficient(b, a)), name


@given(pairs=two_judges)
@settings(deadline=None)
def test_no_coefficient_exceeds_1_and_every_one_is_1_on_full_agreement_or_undefined(pairs):
    a, b = columns(pairs)
    for name, coefficient in SYMMETRIC.items():
        value, full = coefficient(a, b), coefficient(a, a)
        assert np.isnan(value) or value <= 1 + 1e-9, name
        assert np.isnan(full) or full == pytest.approx(1), name


@given(pairs=two_judges)
@settings(deadline=None)
def test_pairs_that_only_one_judge_graded_change_nothing(pairs):
    a, b = columns(pairs)
    shared = columns([(x, y) for x, y in pairs if x is not None and y is not None])
    for name, coefficient in SYMMETRIC.items():
        assert same(coefficient(a, b), coefficient(*shared)), name


@given(pairs=two_judges, order=st.permutations(SCALE))
@settings(deadline=None)
def test_nominal_coefficients_do_not_care_what_the_grades_are_called(pairs, order):
    a, b = columns(pairs)
    renamed = [[None if g is None else order[g] for g in side] for side in (a, b)]
    for name, coefficient in NOMINAL.items():
        assert same(coefficient(a, b), coefficient(*renamed)), name


@given(pairs=two_judges)
@settings(deadline=None)
def test_turning_the_scale_round_changes_nothing(pairs):
    a, b = columns(pairs)
    turned = [[None if g is None else 3 - g for g in side] for side in (a, b)]
    for name, coefficient in SYMMETRIC.items():
        assert same(coefficient(a, b), coefficient(*turned)), name


@given(pairs=two_judges)
@settings(deadline=None)
def test_ordinal_alpha_reads_the_order_of_the_grades_only(pairs):
    a, b = columns(pairs)
    stretched = [[None if g is None else (0, 1, 5, 100)[g] for g in side] for side in (a, b)]

    assert same(krippendorff_alpha(a, b), krippendorff_alpha(*stretched))


@given(pairs=two_judges)
@settings(deadline=None)
def test_bias_changes_its_sign_with_the_judges(pairs):
    a, b = columns(pairs)
    assert same(bias(a, b), -bias(b, a))


@given(pairs=st.lists(st.tuples(st.sampled_from((0, 1)), st.sampled_from((0, 1))), min_size=1))
@settings(deadline=None)
def test_on_two_grades_all_weights_are_alike(pairs):
    a, b = columns(pairs)
    plain = cohen_kappa(a, b)
    assume(not np.isnan(plain))

    assert same(plain, cohen_kappa(a, b, weights="linear"))
    assert same(plain, cohen_kappa(a, b, weights="quadratic"))


@pytest.mark.parametrize("name", CHANCE_CORRECTED)
def test_judges_who_know_nothing_of_each_other_agree_by_chance_only(name):
    random = np.random.default_rng(1)
    a, b = random.choice(4, (2, 50_000), p=[0.6, 0.2, 0.15, 0.05])

    assert CHANCE_CORRECTED[name](a, b) == pytest.approx(0, abs=0.015)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_gwets_coefficients_are_0_where_all_grades_are_given_evenly_at_random(weights):
    random = np.random.default_rng(1)
    a, b = random.integers(0, 4, (2, 50_000))

    assert gwet_ac(a, b, weights=weights) == pytest.approx(0, abs=0.015)
