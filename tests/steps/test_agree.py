"""Agreement of people and LLMs on the pairs of a pool, in cases small enough to compute by hand."""

from __future__ import annotations

import math

import pytest

from judging.formats.scale import default_scale
from judging.models import Judge, Pair
from judging.steps.agree import agreement
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool

approx = pytest.approx

pytestmark = pytest.mark.django_db

DOCIDS = ["d1", "d2", "d3", "d4"]


@pytest.fixture
def collection():
    """Two queries with four holes each, and a positive, a positive and a negative judgment that are known."""
    return make_collection(
        documents=[*DOCIDS, "k1", "k2"],
        queries=["q1", "q2"],
        qrels={("q1", "k1"): 1, ("q1", "k2"): 0, ("q2", "k1"): 1, ("q2", "k2"): 1},
    )


@pytest.fixture
def pool(collection):
    return make_pool(collection, depth=6)


def say(judge, collection, q1=(), q2=(), **fields):
    """Grades of d1, d2, … in each query; None cannot be judged, ``...`` is not judged."""
    for qid, grades in (("q1", q1), ("q2", q2)):
        for docid, grade in zip(DOCIDS, grades, strict=False):
            if grade is not ...:
                make_judgment(judge, collection, qid, docid, grade, **fields)
    return judge


def values(estimates):
    return {name: estimate.value for name, estimate in estimates.items()}


def test_eight_pairs_by_a_person_and_an_llm(collection, pool):
    say(make_person(), collection, [1, 1, 0, 0], [1, 0, 0, 1])
    llm = say(make_llm(), collection, [1, 0, 0, 0], [1, 1, 0, 1])
    (compared,) = agreement(pool=pool).llms
    assert compared.judge == llm
    assert (compared.panel.pairs, compared.panel.queries, compared.panel.weighted) == (8, 2, False)
    graded = values(compared.panel.graded)
    assert (graded["raw_agreement"], graded["cohen_kappa"], graded["gwet_ac1"], graded["bias"]) == approx(
        (0.75, 0.5, 0.5, 0)
    )
    binary = values(compared.panel.binary[1])
    assert (binary["precision"], binary["recall"], binary["f1"]) == approx((0.75, 0.75, 0.75))
    assert compared.counts.tolist() == [[3, 1], [1, 3]]
    assert [[(cell.count, cell.shade) for cell in row] for _, row in compared.confusion_rows] == [
        [(3, 4), (1, 1)],
        [(1, 1), (3, 4)],
    ]
    assert (compared.outcomes, compared.left_out) == ({"graded": 8}, {})


def test_high_agreement_with_low_kappa_shows_both(collection, pool):
    say(make_person(), collection, [0, 0, 0, 0], [0, 0, 0, 1])
    say(make_llm(), collection, [0, 0, 0, 0], [0, 0, 1, 0])
    graded = values(agreement(pool=pool).llms[0].panel.graded)
    assert graded["raw_agreement"] == approx(0.75)
    assert graded["cohen_kappa"] == approx(-1 / 7)
    assert graded["gwet_ac1"] == approx((0.75 - 0.21875) / (1 - 0.21875))


def test_a_low_kappa_is_hidden_only_behind_high_agreement(collection, pool):
    say(make_person(), collection, [0, 0, 0, 0], [0, 0, 0, 1])
    say(make_llm(), collection, [0, 0, 0, 0], [0, 0, 1, 0])
    say(make_llm("other"), collection, [0, 0, 0, 0], [0, 0, 0, 0])
    low, high = agreement(pool=pool).llms
    assert (low.hides_low_kappa, high.hides_low_kappa) == (False, True)


def test_the_share_of_relevant_ones_and_what_it_implies_for_the_whole_pool(collection, pool):
    say(make_person(), collection, [1, 1, 0, ...], [1, ..., ..., ...])
    found = agreement(pool=pool).found
    assert (found.judged, found.relevant, found.pairs, found.queries) == (4, 3, 8, 2)
    assert (found.share.value, found.implied) == approx((0.75, 6.0))
    assert found.share.interval.low == approx(2 / 3)
    assert found.share.interval.high == approx(1.0)


def test_known_positives_are_those_of_the_pools_queries_counted_once(collection, pool):
    assert agreement(pool=pool).found.known == 3
    train = Judge.objects.create(kind="qrels", name="qrels/train", collection=collection)
    make_judgment(train, collection, "q1", "k1", 1)
    assert agreement(pool=pool).found.known == 3
    sampled = make_pool(collection, pool.runs.get(), name="one", queries=1)
    assert agreement(pool=sampled).found.known in (1, 2)


def test_relevant_begins_where_the_scale_of_the_collection_says():
    collection = make_collection(
        documents=[*DOCIDS, "k1"],
        queries=["q1", "q2"],
        qrels={("q1", "k1"): 1, ("q2", "k1"): 2},
        scale=default_scale(3),
    )
    pool = make_pool(collection, depth=6)
    say(make_person(), collection, [1, 2, 3, 0], [0, 0, 1, 1])
    say(make_llm(), collection, [1, 2, 2, 0], [0, 1, 1, 3])
    result = agreement(pool=pool)
    assert (result.found.relevant, result.found.known) == (2, 1)
    panel = result.llms[0].panel
    assert list(panel.binary) == [2, 1, 3]
    assert values(panel.graded)["raw_agreement"] == approx(5 / 8)
    assert values(panel.binary[2])["raw_agreement"] == approx(7 / 8)
    assert values(panel.graded)["bias"] == approx((-1 + 1 + 2) / 8)


def test_labels_given_after_seeing_an_llm_label_are_left_out_and_counted(collection, pool):
    say(make_person(), collection, [1, 1], [0, 1])
    say(make_person(), collection, [..., ..., 1, 1], [..., ..., 1, 1], assisted=True)
    say(make_person(), collection, [0], [], assisted=True)
    say(make_llm(), collection, [0, 1, 1, 1], [1, 1, 1, 1])
    result = agreement(pool=pool)
    assert (result.assisted, result.annotators, result.found.judged, result.found.undecided) == (5, 1, 4, 0)
    assert (result.llms[0].panel.pairs, values(result.llms[0].panel.graded)["raw_agreement"]) == (4, 0.5)
    assert result.people is None


def test_answers_without_a_grade_are_counted_beside_and_are_never_a_zero(collection, pool):
    say(make_person(), collection, [0, 0, 0, 0], [1, 1, None, 0])
    llm = say(make_llm(), collection, [0, ..., ..., ...], [1, ..., 0, 0])
    for docid, outcome in (("d2", "unparsed"), ("d3", "failed"), ("d4", "out_of_scale")):
        make_judgment(llm, collection, "q1", docid, None, outcome=outcome)
    make_judgment(llm, collection, "q2", "d2", None, outcome="unparsed")
    result = agreement(pool=pool)
    compared = result.llms[0]
    assert (compared.panel.pairs, compared.counts.tolist()) == (3, [[2, 0], [0, 1]])
    assert values(compared.panel.graded)["raw_agreement"] == 1
    assert compared.outcomes == {"graded": 4, "unparsed": 2, "failed": 1, "out_of_scale": 1}
    assert compared.left_out == {"unreadable": 2, "failed": 1, "out of scale": 1, "people could not judge": 1}
    assert (result.found.judged, result.found.cannot_judge) == (7, 1)


def test_where_no_pair_is_shared_everything_is_undefined_with_the_reason(collection, pool):
    say(make_person(), collection, [1, 1], [])
    say(make_llm(), collection, [], [1, 0])
    compared = agreement(pool=pool).llms[0]
    assert compared.panel.pairs == 0
    assert all(math.isnan(value) for value in values(compared.panel.graded).values())
    assert {estimate.reason for estimate in compared.panel.graded.values()} == {"no pair was graded by both"}


def test_full_agreement_on_one_grade_has_no_kappa(collection, pool):
    say(make_person(), collection, [1, 1], [1, 1])
    say(make_llm(), collection, [1, 1], [1, 1])
    graded = agreement(pool=pool).llms[0].panel.graded
    assert graded["raw_agreement"].value == 1
    assert math.isnan(graded["cohen_kappa"].value)
    assert graded["cohen_kappa"].reason


def test_before_anybody_judged_nothing_is_claimed(pool):
    result = agreement(pool=pool)
    assert (result.llms, result.people, result.annotators) == ([], None, 0)
    assert (result.found.judged, result.found.pairs) == (0, 8)
    assert math.isnan(result.found.share.value)
    assert math.isnan(result.found.implied)
    assert result.found.share.reason == "no pair has an answer"


def test_people_are_compared_with_people_on_the_pairs_that_two_of_them_judged(collection, pool):
    say(make_person(), collection, [1, 1, 0, 0], [1, ..., ..., ...])
    say(make_person(), collection, [1, 0, 0, ...], [1, 0, ..., ...])
    result = agreement(pool=pool)
    assert (result.annotators, result.people.pairs, result.people.queries) == (2, 4, 2)
    # One of four differs. Taken both ways round: 3/8 each relevant and irrelevant agree, margins (3/8, 5/8).
    assert values(result.people.graded)["raw_agreement"] == approx(0.75)
    assert values(result.people.graded)["cohen_kappa"] == approx((0.75 - 34 / 64) / (1 - 34 / 64))
    assert result.found.undecided == 1


def test_the_people_are_their_majority_and_an_adjudication_where_there_is_one(collection, pool):
    for grades in ([1, 1, 0], [1, 0, 0], [0, 1, 1]):
        say(make_person(), collection, grades)
    say(make_person(), collection, [..., ..., ..., 1], [1])
    say(Judge.objects.create(kind="adjudication", name="lead"), collection, [..., 0], [])
    llm = say(make_llm(), collection, [1, 1, 0, 1], [0])
    compared = agreement(pool=pool).llms[0]
    assert compared.judge == llm
    assert compared.counts.tolist() == [[1, 1], [1, 2]]


def test_pairs_on_which_people_are_undecided_are_left_out_and_counted(collection, pool):
    say(make_person(), collection, [1, 0], [0])
    say(make_person(), collection, [0, 0], [0])
    say(make_llm(), collection, [1, 0], [0])
    result = agreement(pool=pool)
    assert (result.llms[0].panel.pairs, result.llms[0].left_out) == (2, {"people undecided": 1})
    assert (result.found.judged, result.found.undecided) == (2, 1)


def test_pairs_of_unequal_probability_are_weighted_and_the_counts_are_not(collection, pool):
    Pair.objects.filter(query__qid="q1").update(inclusion_probability=0.5)
    say(make_person(), collection, [1, 1, 0, 0], [1, 0, 0, 0])
    say(make_llm(), collection, [1, 1, 0, 0], [0, 0, 0, 0])
    result = agreement(pool=pool)
    assert result.found.share.value == approx((2 * 2 + 1) / (2 * 4 + 4))
    assert values(result.llms[0].panel.graded)["raw_agreement"] == approx(11 / 12)
    assert result.llms[0].panel.weighted
    assert result.llms[0].counts.tolist() == [[5, 0], [1, 2]]


def test_pairs_of_equal_probability_are_not_weighted(collection, pool):
    Pair.objects.update(inclusion_probability=0.1)
    say(make_person(), collection, [1, 1, 0, 0], [1, 0, 0, 0])
    say(make_llm(), collection, [1, 1, 0, 0], [0, 0, 0, 0])
    result = agreement(pool=pool)
    assert result.found.share.value == approx(3 / 8)
    assert not result.llms[0].panel.weighted


def test_judgments_outside_the_pool_do_not_count(collection, pool):
    person, llm = make_person(), make_llm()
    for judge in (person, llm):
        make_judgment(judge, collection, "q1", "k1", 1)
    say(person, collection, [0])
    result = agreement(pool=pool)
    assert result.found.judged == 1
    assert result.llms == []


def test_each_llm_stands_alone_and_the_figures_are_the_same_at_each_look(collection, pool):
    say(make_person(), collection, [1, 0, 1, 0], [1, 0, 1, 0])
    one = say(make_llm("phi"), collection, [1, 0, 1, 0], [1, 0, 1, 1])
    other = say(make_llm("phi"), collection, [0, 1, 1, 1], [0, 1, 0, 1])
    first, second = agreement(pool=pool), agreement(pool=pool)
    assert [compared.judge for compared in first.llms] == [one, other]
    assert [values(c.panel.graded)["raw_agreement"] for c in first.llms] == approx([7 / 8, 1 / 8])
    assert [c.panel.graded for c in first.llms] == [c.panel.graded for c in second.llms]
