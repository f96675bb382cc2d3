from itertools import combinations_with_replacement
from math import isnan

import numpy as np
import pytest

from judging.measures.agreement import cohen_kappa, krippendorff_alpha
from judging.measures.cut_points import cut, expected_grade, fit_cut_points

SCALE = (0, 1, 2, 3)
_ = None


def graded(seed, *, queries=60, pairs=15, low=0.6):
    """People's grades, and expected grades of an LLM that keeps to the lower part of the scale."""
    random = np.random.default_rng(seed)
    people = random.choice(4, queries * pairs, p=[0.5, 0.25, 0.15, 0.1])
    expected = np.clip(low * people + random.normal(0, 0.35, people.size), 0, 3)
    return np.repeat(np.arange(queries), pairs), people.astype(float), expected


def test_the_expected_grade_is_the_mean_over_the_probabilities():
    values = expected_grade([[0.5, 0, 0, 0.5], [0, 1, 0, 0], [0.1, 0.1, 0, 0], [np.nan] * 4], grades=SCALE)

    assert values == pytest.approx([1.5, 1, 0.5, np.nan], nan_ok=True)


def test_a_cut_point_belongs_to_the_grade_above():
    given = cut([0.2, 0.5, 1.49, 2.5, _], (0.5, 1.5, 2.5), grades=SCALE)

    np.testing.assert_array_equal(given, [0, 1, 1, 3, np.nan])


def test_cut_points_that_coincide_leave_a_grade_out():
    assert cut([0.4, 0.6], (0.5, 0.5), grades=(0, 1, 2)).tolist() == [0, 2]


def test_grades_need_not_follow_each_other():
    assert cut([-0.4, 3], (0.0, 2.0), grades=(-2, 0, 5)).tolist() == [-2, 5]


def test_two_grades_get_the_best_cut_there_is():
    random = np.random.default_rng(0)
    people = random.integers(0, 2, 200)
    expected = np.clip(random.normal(0.3 + 0.2 * people, 0.15), 0, 1)
    best = max(cohen_kappa(people, expected >= at) for at in expected)

    fitted = fit_cut_points(expected, people, grades=(0, 1), clusters=np.arange(200) // 5)

    assert fitted.fitted == pytest.approx(best)
    assert cohen_kappa(people, cut(expected, fitted.cuts, grades=(0, 1))) == pytest.approx(best)


@pytest.mark.parametrize("coefficient", ["cohen_kappa", "quadratic_kappa"])
@pytest.mark.parametrize("seed", range(5))
def test_the_search_comes_within_a_hundredth_of_the_best_of_all_cuts(seed, coefficient):
    random = np.random.default_rng(seed)
    people = random.integers(0, 4, 60)
    expected = np.round(np.clip(0.6 * people + random.normal(0, 0.5, 60), 0, 3), 1)
    weights = "quadratic" if coefficient == "quadratic_kappa" else None
    best = max(
        cohen_kappa(people, cut(expected, cuts, grades=SCALE), weights=weights, grades=SCALE)
        for cuts in combinations_with_replacement(np.unique(expected), 3)
    )

    fitted = fit_cut_points(expected, people, grades=SCALE, clusters=np.arange(60) // 6, coefficient=coefficient)

    assert best - 0.01 <= fitted.fitted <= best + 1e-12


def test_the_cut_points_give_the_coefficient_that_they_claim():
    queries, people, expected = graded(1)
    weight = np.random.default_rng(0).uniform(1, 4, people.size)
    fitted = fit_cut_points(
        expected, people, grades=SCALE, clusters=queries, coefficient="krippendorff_alpha", sample_weight=weight
    )
    given = cut(expected, fitted.cuts, grades=SCALE)

    assert list(fitted.cuts) == sorted(fitted.cuts)
    assert krippendorff_alpha(people, given, grades=SCALE, sample_weight=weight) == pytest.approx(
        fitted.fitted, abs=1e-3
    )


def test_an_llm_that_keeps_to_the_lower_part_of_the_scale_gains_on_queries_it_was_not_fitted_to():
    queries, people, expected = graded(2)
    fitted = fit_cut_points(expected, people, grades=SCALE, clusters=queries)

    assert fitted.cuts == pytest.approx((0.3, 0.9, 1.5), abs=0.15)
    assert fitted.cross_validated.value > fitted.plain.value + 0.1
    assert fitted.cross_validated.interval.low < fitted.cross_validated.value < fitted.cross_validated.interval.high
    assert fitted.held_out.graded["cohen_kappa"] == fitted.cross_validated


def test_what_was_fitted_overstates_and_what_was_cross_validated_is_what_new_queries_show():
    """Thirty labels a fit: on average the fit claims more than it keeps on 3,000 new pairs, the folds do not."""
    _queries, new_people, new_expected = graded(99, queries=200)
    claimed, tested, kept = [], [], []
    for seed in range(40):
        queries, people, expected = graded(seed, queries=10, pairs=3)
        fitted = fit_cut_points(expected, people, grades=SCALE, clusters=queries, folds=10, resamples=2)
        claimed.append(fitted.fitted)
        tested.append(fitted.cross_validated.value)
        kept.append(cohen_kappa(new_people, cut(new_expected, fitted.cuts, grades=SCALE)))

    assert np.mean(claimed) > np.mean(kept) + 0.05
    assert np.nanmean(tested) == pytest.approx(np.mean(kept), abs=0.04)


def test_a_query_is_never_in_the_fit_and_in_the_test():
    """Every query has its own shift: cuts fitted to a query's own pairs would seem to work; on others none do."""
    queries = np.repeat(np.arange(2), 50)
    people = np.tile([0, 1], 50)
    expected = np.where(queries == 0, 0.1 + 0.1 * people, 0.8 + 0.1 * people)

    fitted = fit_cut_points(expected, people, grades=(0, 1), clusters=queries)

    assert len(fitted.by_fold) == 2
    assert fitted.fitted > 0.3
    assert fitted.cross_validated.value == pytest.approx(0, abs=1e-12)


def test_the_folds_are_the_same_at_each_call_and_others_with_another_seed():
    queries, people, expected = graded(3, queries=20)
    first, again, other = (
        fit_cut_points(expected, people, grades=SCALE, clusters=queries, seed=seed).by_fold for seed in (0, 0, 1)
    )

    assert first == again != other
    assert len(first) == 5


def test_pairs_without_either_grade_and_people_outside_the_scale_do_not_count():
    queries, people, expected = graded(3)
    more = fit_cut_points(
        [*expected, np.nan, 1.0, 2.0], [*people, 1, np.nan, 9], grades=SCALE, clusters=[*queries, 0, 1, 2]
    )

    assert more.by_fold == fit_cut_points(expected, people, grades=SCALE, clusters=queries).by_fold
    assert more.held_out.pairs == people.size


@pytest.mark.parametrize(
    ("expected", "people", "grades", "reason"),
    [
        ([], [], SCALE, "no pair has an expected grade and a grade by people"),
        ([0.5, _], [_, 1], SCALE, "no pair has an expected grade and a grade by people"),
        ([0.5], [1], SCALE, "people gave one and the same grade"),
        ([0.5, 0.7], [1, 1], SCALE, "people gave one and the same grade"),
        ([0.5, 0.5], [0, 1], SCALE, "the expected grade is the same for every pair"),
        ([0.5, 0.7], [0, 0], (0,), "the scale has one grade only"),
    ],
)
def test_where_nothing_can_be_fitted_there_are_no_cut_points_and_a_reason(expected, people, grades, reason):
    fitted = fit_cut_points(expected, people, grades=grades, clusters=range(len(people)))

    assert (fitted.cuts, fitted.held_out, isnan(fitted.fitted)) == ((), None, True)
    assert fitted.reason.startswith(reason)
    assert fitted.cross_validated.reason == fitted.cross_validated.interval.reason == fitted.reason


def test_one_query_has_cut_points_but_no_test_of_them():
    fitted = fit_cut_points([0.1, 0.3, 0.2], [0, 1, 0], grades=(0, 1), clusters=["q"] * 3)

    assert (fitted.fitted, fitted.cuts) == (1, (0.25,))
    assert isnan(fitted.cross_validated.value)
    assert fitted.cross_validated.reason == "only one query: there is no other to test the cut points on"


def test_a_fold_whose_other_queries_teach_nothing_is_cut_half_way():
    fitted = fit_cut_points([0.1, 0.3, 0.7, 0.8], [0, 1, 1, 1], grades=(0, 1), clusters=["a", "a", "b", "b"])

    assert (0.5,) in fitted.by_fold


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="'bias' cannot be made as large"):
        fit_cut_points([0.1], [0], grades=(0, 1), clusters=[1], coefficient="bias")
    with pytest.raises(ValueError, match="at least 2 folds"):
        fit_cut_points([0.1], [0], grades=(0, 1), clusters=[1], folds=1)
    with pytest.raises(ValueError, match="same pairs; found 1 and 2"):
        fit_cut_points([0.1], [0, 1], grades=(0, 1), clusters=[1])
    with pytest.raises(ValueError, match="Expected 1 cut points, rising"):
        cut([0.1], (0.5, 0.2), grades=(0, 1))
    with pytest.raises(ValueError, match="each of the 2 grades"):
        expected_grade([[0.1, 0.2, 0.7]], grades=(0, 1))


def test_the_mean_of_sixteen_llms_of_llmjudge_gains_a_little_by_its_own_cut_points(llmjudge):
    expected = np.mean([np.clip(llmjudge.llm(run), 0, 3) for run in llmjudge.runs[:16]], axis=0)

    fitted = fit_cut_points(expected, llmjudge.people, grades=SCALE, clusters=llmjudge.queries)

    assert fitted.plain.value == pytest.approx(0.215, abs=0.001)
    assert fitted.plain.value < fitted.cross_validated.value < fitted.fitted
