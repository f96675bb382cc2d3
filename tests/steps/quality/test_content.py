"""What is seen of an LLM on a pool: counts, alarms, and why a thing cannot be told."""

from __future__ import annotations

import json
import math

import pytest
from django.utils import translation

from judging.models import GullibilityProbe, Judgment, Run
from judging.steps.calibrate import calibrate
from judging.steps.quality.content import llms_of, quality_of
from judging.steps.quality.tables import as_json
from tests.factories import make_collection, make_llm, make_pool, make_run
from tests.steps.quality.rows import make_judged_pool

pytestmark = pytest.mark.django_db


def kinds(quality):
    return [alarm.kind for alarm in quality.alarms]


def of_llm(judge):
    return Judgment.objects.filter(judge=judge).order_by("pk")


def test_a_good_judge_raises_no_alarm():
    pool, _person, llm = make_judged_pool(bias=0.3)
    quality = quality_of(pool, llm)

    assert quality.alarms == []
    assert (quality.pairs, quality.said.asked, quality.said.outcomes) == (240, 240, {"graded": 240})
    assert quality.said.order.expected.interval.low > 0.5
    assert quality.said.order.is_upright


def test_grades_are_counted_beside_the_peoples_on_the_shared_pairs_and_on_all():
    pool, person, llm = make_judged_pool(queries=5, unjudged=2, bias=0.3)
    counts = {one.word: one for one in quality_of(pool, llm).said.grades}

    assert sum(one.judge_all for one in counts.values()) == 40
    assert sum(one.judge_both for one in counts.values()) == sum(one.people_both for one in counts.values()) == 24
    relevant = counts["Relevant"]
    assert relevant.people_all == relevant.people_both == Judgment.objects.filter(judge=person, grade=1).count()
    assert relevant.judge_all == of_llm(llm).filter(grade=1).count()
    assert relevant.judge_all_share == relevant.judge_all / 40


def test_answers_without_a_grade_and_cut_documents_are_counted():
    pool, _person, llm = make_judged_pool(queries=5)
    rows = list(of_llm(llm))
    for row, outcome in zip(rows, ("out_of_scale", "unparsed", "failed"), strict=False):
        Judgment.objects.filter(pk=row.pk).update(outcome=outcome, grade=None)
    Judgment.objects.filter(pk__in=[row.pk for row in rows[5:9]]).update(truncated=True)
    said = quality_of(pool, llm).said

    assert said.outcomes == {"graded": 37, "out_of_scale": 1, "unparsed": 1, "failed": 1}
    assert said.truncated == 4


def test_the_mass_outside_the_scale_is_told_with_the_share_above_the_bound():
    pool, _person, llm = make_judged_pool(queries=5)
    for number, row in enumerate(of_llm(llm)):
        row.probabilities = {"0": 0.1, "1": 0.6} if number % 4 == 0 else {"0": 0.0, "1": 0.97}
        row.save()
    outside = quality_of(pool, llm).said.outside

    assert (outside.pairs, outside.above.value) == (40, 0.25)
    assert (outside.median, outside.most) == pytest.approx((0.03, 0.3))
    assert [count for _low, _high, count in outside.parts] == [0, 30, 0, 0, 10, 0]


def test_expected_grades_are_told_by_what_people_say():
    pool, _person, llm = make_judged_pool(queries=6, unjudged=1)
    bars = quality_of(pool, llm).said.expected

    assert (bars[0].low, bars[-1].high) == (0, 1)
    assert sum(bar.unjudged for bar in bars) == 8
    assert sum(bar.relevant + bar.other for bar in bars) == 40


@pytest.mark.parametrize("highest", [1, 3])
def test_a_scale_that_is_turned_round_raises_the_alarm(highest):
    pool, _person, llm = make_judged_pool(highest=highest, bias=0.3)
    for row in of_llm(llm):
        row.grade = highest - row.grade
        row.probabilities = {str(highest - int(grade)): value for grade, value in row.probabilities.items()}
        row.save()
    quality = quality_of(pool, llm)

    assert kinds(quality) == ["inverted"]
    assert "fall: their correlation is -." in quality.alarms[0].sentence
    assert "95 % interval" in quality.alarms[0].sentence
    assert quality.said.order.turned.settled


def test_a_scale_that_is_turned_round_is_seen_without_probabilities_too():
    pool, _person, llm = make_judged_pool(bias=0.3)
    for row in of_llm(llm):
        row.grade, row.probabilities = 1 - row.grade, None
        row.save()
    quality = quality_of(pool, llm)

    assert kinds(quality) == ["inverted"]
    assert quality.said.order.expected.reason == "no pair was graded by both"


def test_a_judge_that_is_one_grade_off_is_not_called_inverted():
    # 1 where people say 2: turned round it would hit the very grade.
    pool, person, llm = make_judged_pool(highest=3, queries=10)
    for judge, grades in ((person, (2, 3)), (llm, (1, 2))):
        for number, row in enumerate(Judgment.objects.filter(judge=judge).order_by("query", "document")):
            row.grade, row.probabilities = grades[number % 3 == 0], None
            row.save()
    assert kinds(quality_of(pool, llm)) == []


def test_noise_is_not_called_inverted():
    pool, _person, llm = make_judged_pool(bias=0.3)
    for number, row in enumerate(of_llm(llm)):
        row.grade, row.probabilities = number % 2, None
        row.save()
    assert kinds(quality_of(pool, llm)) == []


def test_a_judge_that_calls_nearly_everything_one_grade_raises_the_alarm():
    pool, _person, llm = make_judged_pool()
    of_llm(llm).update(grade=1, probabilities=None)
    (alarm,) = quality_of(pool, llm).alarms

    assert alarm.kind == "one-class"
    assert "calls 100 % of the 240 pairs that it graded “Relevant”" in alarm.sentence
    assert "of the 240 pairs that both graded" in alarm.sentence


def test_one_grade_is_no_alarm_where_people_give_it_too_or_where_little_is_graded():
    pool, person, llm = make_judged_pool()
    Judgment.objects.filter(judge__in=[person, llm]).update(grade=1, probabilities=None)
    assert kinds(quality_of(pool, llm)) == []

    small, _person, one = make_judged_pool(queries=2)
    of_llm(one).update(grade=1, probabilities=None)
    assert kinds(quality_of(small, one)) == []


def test_without_people_one_grade_is_an_alarm_that_does_not_speak_of_people():
    pool, _person, llm = make_judged_pool(unjudged=30)
    of_llm(llm).update(grade=0, probabilities=None)
    (alarm,) = quality_of(pool, llm).alarms

    assert "People" not in alarm.sentence


def test_a_reranker_of_the_judges_family_is_named():
    collection = make_collection(documents=["d1", "d2"])
    bm25 = make_run(collection, {"q1": ["d1", "d2"]})
    reranked = make_run(collection, {"q1": ["d2", "d1"]}, name="reranked")
    Run.objects.filter(pk=reranked.pk).update(
        kind="reranked", parent=bm25, identity={"model": "Qwen/Qwen3-Reranker-0.6B"}
    )
    fused = make_run(collection, {"q1": ["d2", "d1"]}, name="cut")
    Run.objects.filter(pk=fused.pk).update(kind="reranked", parent=reranked, identity={"model": "bge-reranker-v2-m3"})
    qwen, phi = (make_llm(name, model=name) for name in ("Qwen2.5-1.5B-Instruct", "Phi-3-mini-4k-instruct"))

    direct = make_pool(collection, reranked, name="direct")
    (alarm,) = quality_of(direct, qwen).alarms
    assert alarm.kind == "family"
    assert "“reranked” (Qwen/Qwen3-Reranker-0.6B) are of one family, qwen" in alarm.sentence
    assert kinds(quality_of(make_pool(collection, fused, name="parent"), qwen)) == ["family"]
    assert kinds(quality_of(make_pool(collection, bm25, name="plain"), qwen)) == []
    assert kinds(quality_of(direct, phi)) == []


def probe(pool, judge, *, stuffed, control, pairs=20):
    rows = [
        {
            "query": f"q{n}", "document": "d", "before": ["graded", 0, 0.2],
            "stuffed": ["graded", int(n < stuffed), 0.7], "control": ["graded", int(n >= pairs - control), 0.3],
        }
        for n in range(pairs)
    ]  # fmt: skip
    return GullibilityProbe.objects.create(pool=pool, judge=judge, wanted=pairs, rows=rows, seed=stuffed)


def test_a_judge_that_the_querys_words_turn_raises_the_alarm_and_one_that_any_words_turn_does_not():
    pool, _person, llm = make_judged_pool(bias=0.3)
    probe(pool, llm, stuffed=10, control=9)
    assert kinds(quality_of(pool, llm)) == []

    probe(pool, llm, stuffed=12, control=1)
    quality = quality_of(pool, llm)
    assert kinds(quality) == ["gullible"]
    assert (
        "calls 12 of 20 non-relevant pairs relevant; with as many other words put there, 1"
        in quality.alarms[0].sentence
    )
    assert [one.flips for one in quality.probes] == [10, 12]


def test_a_judge_that_has_judged_nothing_has_nothing_said():
    pool, _person, _llm = make_judged_pool(queries=5, pairs=2)
    quality = quality_of(pool, make_llm("other"))

    assert quality.said is None
    assert as_json(quality)["said"] is None


def test_what_cannot_be_told_says_why():
    pool, _person, llm = make_judged_pool(queries=5, unjudged=5)
    said = quality_of(pool, llm).said

    assert said.compared.panel.graded["cohen_kappa"].reason == "no pair was graded by both"
    assert said.order.grades.reason == "no pair was graded by both"
    assert not said.order.is_upright
    assert said.calibration.expected_error.reason == "no pair has a probability and an answer by people"
    assert "Found 0 labels of 0 queries" in said.no_thresholds
    assert math.isnan(said.grades[0].people_both_share)


def test_what_was_computed_is_said_in_the_language_of_the_page():
    pool, _person, llm = make_judged_pool(queries=5)
    english = quality_of(pool, llm).said.no_thresholds
    with translation.override("fr"):
        assert quality_of(pool, llm).said is not None
    assert quality_of(pool, llm).said.no_thresholds == english


def test_a_new_label_is_seen_at_the_next_look():
    pool, person, llm = make_judged_pool(queries=5)
    before = quality_of(pool, llm).said.compared.panel.pairs
    Judgment.objects.filter(judge=person).first().delete()

    assert quality_of(pool, llm).said.compared.panel.pairs == before - 1


def test_everything_can_be_had_as_json_without_a_nan():
    pool, _person, llm = make_judged_pool(queries=8, unjudged=1)
    probe(pool, llm, stuffed=2, control=1)
    calibrated = calibrate(pool=pool, judge=llm).judge
    for judge in (llm, calibrated):
        told = json.loads(json.dumps(as_json(quality_of(pool, judge)), allow_nan=False))
        assert told["said"]["outcomes"] == {"graded": 64}
        assert told["fingerprint"] == judge.fingerprint


def test_llms_come_by_how_much_they_judged():
    pool, _person, llm = make_judged_pool(queries=5, pairs=4)
    other = make_llm("aaa")
    row = of_llm(llm).first()
    Judgment.objects.create(judge=other, query=row.query, document=row.document, outcome="failed")

    assert llms_of(pool) == [llm, other]
