"""Breakdowns, judges side by side, calibration, people one by one, estimates and purchases, in small cases."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from django.utils import timezone

from judging.models import Judgment, Query
from judging.steps.agree import agreement, sheet_of
from judging.steps.agreement.breakdown import WAYS, breakdown
from judging.steps.agreement.calibrated import calibration
from judging.steps.agreement.cells import rows_of, shown
from judging.steps.agreement.compare import each_person, side_by_side
from judging.steps.agreement.estimate import estimates, purchases
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db

QIDS = [f"q{n}" for n in range(6)]
DOCIDS = [f"d{n}" for n in range(4)]


@pytest.fixture
def pool():
    """Six queries with four holes each, ranked alike."""
    documents = {docid: "word " * 10 * (n + 1) for n, docid in enumerate(DOCIDS)} | {"known": "a good answer"}
    collection = make_collection(documents=documents, queries=QIDS, qrels={(qid, "known"): 1 for qid in QIDS})
    return make_pool(collection, make_run(collection, {qid: [*DOCIDS, "known"] for qid in QIDS}), depth=5)


def say(judge, pool, grade_of, qids=QIDS, **fields):
    for i, qid in enumerate(qids):
        for j, docid in enumerate(DOCIDS):
            make_judgment(judge, pool.collection, qid, docid, grade_of(i, j), **fields)
    return judge


@pytest.fixture
def judged(pool):
    """A person who finds every second document, and an LLM that is wrong on the last of each query."""
    say(make_person("ada"), pool, lambda i, j: (i + j) % 2)
    say(make_llm("one"), pool, lambda i, j: (i + j + (j == 3)) % 2)
    return pool


class TestBreakdown:
    def test_by_rank_shows_where_the_llm_is_wrong(self, judged):
        sheet = sheet_of(pool=judged)
        groups = breakdown(sheet, sheet.llms[0], "rank").groups
        assert [(g.label, g.panel.pairs, g.panel.graded["raw_agreement"].value) for g in groups] == [
            ("1", 6, 1), ("2", 6, 1), ("3", 6, 1), ("4 to 5", 6, 0),
        ]  # fmt: skip
        assert all(group.is_small for group in groups)

    def test_by_query_has_no_intervals_and_the_worst_come_first(self, judged):
        Judgment.objects.filter(judge__name="one", query__qid="q3").update(grade=1)
        sheet = sheet_of(pool=judged)
        parts = breakdown(sheet, sheet.llms[0], "query")
        assert parts.groups[0].label == "query q3"
        assert parts.groups[0].query == Query.objects.get(qid="q3").pk
        assert {group.panel.graded["raw_agreement"].interval.reason for group in parts.groups} == {"only one query"}

    def test_by_topic_where_there_is_one(self, judged):
        sheet = sheet_of(pool=judged)
        assert breakdown(sheet, sheet.llms[0], "topic").reason == "the queries of this collection have no topic"
        Query.objects.filter(qid__in=["q0", "q1"]).update(topic="cooking")
        groups = breakdown(sheet, sheet.llms[0], "topic").groups
        assert [(group.label, group.panel.pairs) for group in groups] == [("no topic", 16), ("cooking", 8)]

    def test_by_length_in_quarters(self, judged):
        sheet = sheet_of(pool=judged)
        groups = breakdown(sheet, sheet.llms[0], "length").groups
        assert [(group.label, group.panel.pairs) for group in groups] == [
            ("50 to 50 characters", 6), ("51 to 100 characters", 6), ("101 to 150 characters", 6),
            ("151 to 200 characters", 6),
        ]  # fmt: skip

    def test_over_time_in_the_order_of_the_answers(self, judged):
        start = timezone.now().replace(hour=8, minute=0)
        for days, judgment in enumerate(Judgment.objects.filter(judge__name="ada").order_by("pk")):
            Judgment.objects.filter(pk=judgment.pk).update(updated_at=start + timedelta(days=days))
        sheet = sheet_of(pool=judged)
        groups = breakdown(sheet, sheet.llms[0], "time").groups
        assert [group.panel.pairs for group in groups] == [6, 6, 6, 6]
        assert groups[0].label.startswith(f"{start:%Y-%m-%d} to ")

    def test_by_annotator_takes_each_persons_own_labels(self, judged):
        say(make_person("ben"), judged, lambda i, j: 1, qids=["q0"])
        sheet = sheet_of(pool=judged)
        groups = breakdown(sheet, sheet.llms[0], "annotator").groups
        assert [(group.label, group.panel.pairs) for group in groups] == [("ada", 24), ("ben", 4)]

    @pytest.mark.parametrize("by", WAYS)
    def test_without_a_shared_pair_each_says_so(self, pool, by):
        say(make_llm(), pool, lambda i, j: 1)
        sheet = sheet_of(pool=pool)
        parts = breakdown(sheet, sheet.llms[0], by)
        assert not parts.groups
        assert "graded" in parts.reason

    def test_a_collection_has_no_ranks(self, judged):
        sheet = sheet_of(collection=judged.collection)
        assert breakdown(sheet, sheet.llms[0], "rank").reason == "only the pairs of a pool have a best rank"


def test_judges_side_by_side_differ_by_pairs_that_both_graded(judged):
    say(make_llm("two"), judged, lambda i, j: (i + j) % 2)
    result = agreement(pool=judged)
    first, second = side_by_side(result.sheet, result.llms, result.llms[0].judge)
    assert first.difference is None
    contrast = second.difference.graded["cohen_kappa"]
    assert (contrast.first, contrast.second, contrast.difference.value) == pytest.approx((1, 0.5, 0.5))


def test_probabilities_are_held_against_people(pool):
    say(make_person(), pool, lambda i, j: int(j < 2))
    llm = make_llm()
    for _i, qid in enumerate(QIDS):
        for j, docid in enumerate(DOCIDS):
            p = 0.9 if j < 2 else 0.3
            make_judgment(llm, pool.collection, qid, docid, int(p > 0.5), probabilities={"0": 1 - p, "1": p})
    sheet = sheet_of(pool=pool)
    found = calibration(sheet, sheet.llms[0])
    assert (found.pairs, [b.pairs for b in found.bins if b.pairs]) == (24, [12, 12])
    assert found.expected_error.value == pytest.approx((0.1 + 0.3) / 2)


def test_a_judge_without_probabilities_has_no_calibration(judged):
    sheet = sheet_of(pool=judged)
    assert calibration(sheet, sheet.llms[0]) is None


def test_each_person_against_the_majority_of_the_others(judged):
    for name in ("ben", "cas"):
        say(make_person(name), judged, lambda i, j: (i + j) % 2 if j else 0)
    persons = each_person(sheet_of(pool=judged))
    assert [(one.judge.name, one.graded, one.rest.panel.pairs) for one in persons] == [
        ("ada", 24, 24), ("ben", 24, 21), ("cas", 24, 21),
    ]  # fmt: skip


def test_the_pairs_of_a_cell_are_those_that_the_matrix_counts(judged):
    result = agreement(pool=judged)
    sheet, counts = result.sheet, result.llms[0].counts
    for first in (0, 1):
        for said in (0, 1):
            assert len(rows_of(sheet, sheet.llms[0], said=(first, said))) == counts[first][said]
    rows = rows_of(sheet, sheet.llms[0], said=(1, 0))
    pair = shown(sheet, rows[:1], sheet.llms[0].judge.pk)[0]
    assert pair.reading.docid == "d3"
    assert [(label.judge, label.word) for label in pair.labels] == [("one", "Not relevant"), ("ada", "Relevant")]
    assert len(rows_of(sheet, sheet.llms[0], query=sheet.keys[0][0])) == 4


class TestEstimates:
    def test_people_on_some_queries_and_the_llm_on_all(self, pool):
        say(make_person(), pool, lambda i, j: int(j <= i % 3), qids=QIDS[:3])
        say(make_llm(), pool, lambda i, j: int(j <= (i + 1) % 3))
        sheet = sheet_of(pool=pool)
        found = estimates(sheet, sheet.llms[0])
        assert (found.queries, found.judged, found.population) == (6, 3, 6)
        by_name = {row.name: row.joined for row in found.rows}
        assert list(by_name) == ["relevant documents found a query", "nDCG@10 of bm25", "P@10 of bm25"]
        positives = by_name["relevant documents found a query"]
        # People: 1, 2, 3. The LLM: 2, 3, 1 on these and on the others: right on average, query by query not.
        assert (positives.people.value, positives.llm.value, positives.joined.value) == pytest.approx((2, 2, 2))
        assert by_name["P@10 of bm25"].people.value == pytest.approx((2 + 3 + 4) / 30)
        assert positives.gain.says.startswith("The LLM does harm")

    def test_a_tie_or_a_missing_pair_leaves_a_query_unjudged_and_cannot_judge_does_not(self, pool):
        person = say(make_person(), pool, lambda i, j: 1, qids=QIDS[:3])
        say(make_person(), pool, lambda i, j: 0, qids=QIDS[:1])
        Judgment.objects.filter(judge=person, query__qid="q1", document__docid="d0").delete()
        Judgment.objects.filter(judge=person, query__qid="q2", document__docid="d0").update(
            outcome="cannot_judge", grade=None
        )
        say(make_llm(), pool, lambda i, j: 1)
        sheet = sheet_of(pool=pool)
        found = estimates(sheet, sheet.llms[0])
        assert (found.judged, found.undecided) == (1, 1)

    def test_what_keeps_it_from_being_estimated_is_said(self, pool):
        say(make_llm(), pool, lambda i, j: 1)
        sheet = sheet_of(pool=pool)
        assert estimates(sheet, sheet.llms[0]).reason == "people have judged no query whole yet"
        of_collection = sheet_of(collection=pool.collection)
        assert estimates(of_collection, of_collection.llms[0]).reason == "such means are those of a pool's queries"
        pair = pool.pairs.first()
        pair.inclusion_probability = 0.5
        pair.save()
        drawn = sheet_of(pool=pool)
        assert "drawn one by one" in estimates(drawn, drawn.llms[0]).reason

    def test_one_query_judged_whole_gives_a_value_without_an_interval(self, pool):
        say(make_person(), pool, lambda i, j: 1, qids=QIDS[:1])
        say(make_llm(), pool, lambda i, j: i % 2)
        sheet = sheet_of(pool=pool)
        joined = estimates(sheet, sheet.llms[0]).rows[0].joined
        assert joined.joined.value == pytest.approx(6)
        assert "too few queries" in joined.joined.interval.reason
        assert joined.gain.says == "The gain cannot be told: one of the two intervals is undefined."


class TestPurchases:
    def test_more_labels_make_intervals_narrower(self, judged):
        Judgment.objects.filter(judge__name="ada", query__qid__in=["q0", "q1"]).update(grade=1)
        bought = purchases(sheet_of(pool=judged), 50)
        assert [buying.of for buying in bought[:3]] == ["share relevant"] * 3
        assert all(b.purchase.width < b.now for b in bought if not b.purchase.reason)
        assert "instead of" in bought[0].sentence

    def test_second_opinions_say_nothing_of_kappa_and_the_reason_is_the_right_one(self, judged):
        of_kappa = [one for one in purchases(sheet_of(pool=judged), 50) if one.of.startswith("kappa")]
        (reason,) = {one.purchase.reason for one in of_kappa if one.purchase.more == "people"}
        assert reason == "how much of its variance is people's noise cannot be told from one grade a pair"

    def test_before_anybody_judged_there_is_nothing_to_say(self, pool):
        assert purchases(sheet_of(pool=pool), 50) == []

    def test_one_query_says_why_nothing_can_be_told(self, pool):
        say(make_person(), pool, lambda i, j: j % 2, qids=QIDS[:1])
        (only,) = purchases(sheet_of(pool=pool), 50)
        assert only.sentence.endswith("cannot be told, only one query: how queries differ cannot be told")
        assert math.isnan(only.now)
