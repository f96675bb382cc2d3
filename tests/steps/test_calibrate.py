"""An LLM's expected grades, cut where people's labels say: agreement comes back, and is not flattered."""

from __future__ import annotations

import numpy as np
import pytest

from judging.errors import UserError
from judging.measures.cut_points import cut
from judging.models import Judge, Judgment, fingerprint_of
from judging.steps.agree import agreement, sheet_of
from judging.steps.calibrate import calibrate
from judging.steps.quality.readings import readings
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.steps.quality.rows import everything_said, make_judged_pool

pytestmark = pytest.mark.django_db


def kappa(pool, judge):
    return next(one for one in agreement(pool=pool).llms if one.judge == judge).panel.graded["cohen_kappa"].value


def labels_of(judge):
    rows = Judgment.objects.filter(judge=judge).values_list("query__qid", "document__docid", "grade")
    return {(qid, docid): grade for qid, docid, grade in rows}


def test_calibrating_a_judge_of_known_bias_restores_agreement():
    pool, _person, llm = make_judged_pool(bias=0.6)
    assert kappa(pool, llm) < 0.35

    report = calibrate(pool=pool, judge=llm)

    assert kappa(pool, report.judge) > 0.85
    assert (report.thresholds.verdict, report.is_new, report.changed) == ("gain", True, 240)
    gain = report.thresholds.gain
    assert gain.difference.interval.low > 0.4
    assert (gain.second, gain.first) == pytest.approx((kappa(pool, llm), kappa(pool, report.judge)))


def test_on_a_graded_scale_too():
    pool, _person, llm = make_judged_pool(bias=0.6, highest=3)
    report = calibrate(pool=pool, judge=llm, criterion="quadratic_kappa")

    assert len(report.thresholds.points.cuts) == 3
    assert report.thresholds.gain.first > report.thresholds.gain.second + 0.2


def test_what_is_shown_is_the_cross_validated_agreement_and_not_that_of_the_fit():
    # Where grades are noise, thresholds fitted to them seem to help on their own labels alone.
    fitted, shown = [], []
    for seed in range(8):
        pool, person, llm = make_judged_pool(queries=6, pairs=6, seed=seed, bias=0.2)
        random = np.random.default_rng(seed)
        for row in Judgment.objects.filter(judge=person).order_by("query", "document"):
            row.grade = int(random.integers(0, 2))
            row.save()
        report = calibrate(pool=pool, judge=llm)
        fitted.append(report.thresholds.points.fitted)
        shown.append(kappa(pool, report.judge))
        assert shown[-1] == pytest.approx(report.thresholds.gain.first)
    assert np.mean(fitted) > 0.1
    assert np.mean(shown) < np.mean(fitted) - 0.1


def test_each_query_with_labels_is_cut_at_thresholds_that_do_not_know_it_and_others_at_those_of_all():
    pool, _person, llm = make_judged_pool(queries=12, unjudged=4, bias=0.2)
    report = calibrate(pool=pool, judge=llm)

    points, sheet = report.thresholds.points, sheet_of(pool=pool)
    expected = readings(sheet, sheet.llm(llm.pk)).expected
    said = sheet.llm(report.judge.pk).grades
    qids = [qid for (qid,) in pool.pairs.values_list("query__qid")]
    folds_of = {qid: {int(f) for q, f in zip(qids, points.fold, strict=True) if q == qid} for qid in set(qids)}
    assert all(len(folds) == 1 for folds in folds_of.values())  # a query is in one fold as a whole
    assert {qid for qid, folds in folds_of.items() if folds == {-1}} == {"q08", "q09", "q10", "q11"}
    for row, qid in enumerate(qids):
        (fold,) = folds_of[qid]
        cuts = points.cuts if fold < 0 else points.by_fold[fold]
        assert said[row] == cut([expected[row]], cuts, grades=(0, 1))[0]


def test_a_query_does_not_move_its_own_thresholds():
    pool, person, llm = make_judged_pool(queries=6, pairs=8, bias=0.2)
    before = labels_of(calibrate(pool=pool, judge=llm).judge)
    for row in Judgment.objects.filter(judge=person, query__qid="q00"):
        row.grade = 1 - row.grade
        row.save()
    after = labels_of(calibrate(pool=pool, judge=llm).judge)

    assert {pair: grade for pair, grade in after.items() if pair[0] == "q00"} == {
        pair: grade for pair, grade in before.items() if pair[0] == "q00"
    }


def test_the_same_labels_make_the_same_judge_and_change_nothing():
    pool, _person, llm = make_judged_pool()
    first = calibrate(pool=pool, judge=llm)
    kept = everything_said(first.judge)

    again = calibrate(pool=pool, judge=llm)

    assert (again.judge, again.is_new, again.changed) == (first.judge, False, 0)
    assert everything_said(first.judge) == kept


def test_other_labels_make_another_judge_and_the_earlier_one_stays():
    pool, person, llm = make_judged_pool()
    first = calibrate(pool=pool, judge=llm).judge
    row = Judgment.objects.filter(judge=person).first()
    row.grade = 1 - row.grade
    row.save()

    second = calibrate(pool=pool, judge=llm).judge

    assert second != first
    assert first.judgments.count() == second.judgments.count() == 240


def test_the_judge_says_what_it_is_made_of():
    pool, _person, llm = make_judged_pool(queries=12, unjudged=4)
    report = calibrate(pool=pool, judge=llm)
    judge = report.judge

    assert (judge.kind, judge.name, judge.is_calibrated, llm.is_calibrated) == ("llm", "llm calibrated", True, False)
    assert judge.fingerprint == fingerprint_of(judge.configuration)
    told = judge.configuration
    assert told["base"] == {"name": "llm", "fingerprint": llm.fingerprint}
    assert (told["labels"], told["queries"], told["folds"], told["seed"]) == (64, 8, 5, 0)
    assert told["criterion"] == "cohen_kappa"
    assert told["thresholds"] == list(report.thresholds.points.cuts)
    assert told["labels_digest"].startswith("sha256:")


def test_answers_given_after_seeing_an_llms_are_not_fitted_to():
    pool, person, llm = make_judged_pool()
    Judgment.objects.filter(judge=person, query__qid="q00").update(assisted=True)

    assert calibrate(pool=pool, judge=llm).thresholds.labels == 232


def test_pairs_that_the_judge_could_not_read_stay_unread():
    pool, _person, llm = make_judged_pool()
    pairs = list(Judgment.objects.filter(judge=llm).order_by("pk")[:2])
    Judgment.objects.filter(pk=pairs[0].pk).update(outcome="failed", grade=None, probabilities=None, raw="timeout")
    Judgment.objects.filter(pk=pairs[1].pk).update(probabilities=None)
    judge = calibrate(pool=pool, judge=llm).judge

    first, second = (judge.judgments.get(query=row.query_id, document=row.document_id) for row in pairs)
    assert (first.outcome, first.grade) == ("failed", None)
    assert (second.outcome, second.grade) == ("unparsed", None)
    assert judge.judgments.filter(outcome="graded").count() == 238


def test_what_the_judge_was_asked_later_is_added():
    pool, _person, llm = make_judged_pool(unjudged=2)
    later = Judgment.objects.filter(judge=llm, query__qid="q29").first()
    values = {"probabilities": later.probabilities, "outcome": "graded", "grade": later.grade}
    query, document = later.query, later.document
    later.delete()
    first = calibrate(pool=pool, judge=llm)
    assert first.changed == 239

    Judgment.objects.create(judge=llm, query=query, document=document, **values)
    again = calibrate(pool=pool, judge=llm)
    assert (again.judge, again.changed) == (first.judge, 1)


def test_too_few_labels_are_refused_with_what_is_there_and_what_is_needed():
    pool, _person, llm = make_judged_pool(queries=8, unjudged=5)
    with pytest.raises(UserError, match=r"at least 30 labels.*at least 5 queries.*Found 24 labels of 3 queries"):
        calibrate(pool=pool, judge=llm)
    assert not Judge.objects.filter(name="llm calibrated").exists()


def test_labels_of_one_kind_are_refused():
    pool, person, llm = make_judged_pool()
    Judgment.objects.filter(judge=person).update(grade=1)
    with pytest.raises(UserError, match=r"240 relevant and 0 not"):
        calibrate(pool=pool, judge=llm)


def test_a_judge_without_probabilities_is_refused():
    pool, _person, llm = make_judged_pool()
    Judgment.objects.filter(judge=llm).update(probabilities=None)
    with pytest.raises(UserError, match=r"gave no probabilities.*mode score"):
        calibrate(pool=pool, judge=llm)


def test_a_calibrated_judge_is_not_calibrated_again():
    pool, _person, llm = make_judged_pool()
    judge = calibrate(pool=pool, judge=llm).judge
    with pytest.raises(UserError, match=r"is calibrated already.*made of: llm"):
        calibrate(pool=pool, judge=judge)


def test_a_judge_that_judged_nothing_of_the_pool_is_refused():
    pool, _person, _llm = make_judged_pool(queries=5, pairs=2)
    with pytest.raises(UserError, match=r"judged none of the pairs"):
        calibrate(pool=pool, judge=make_llm("other"))


def test_folds_do_not_depend_on_primary_keys():
    pool, person, llm = make_judged_pool(queries=8)
    first = calibrate(pool=pool, judge=llm)
    people, said = labels_of(person), Judgment.objects.filter(judge=llm).in_bulk()
    other_pool, other = make_judged_pool_in_reverse(pool, people, said.values())

    second = calibrate(pool=other_pool, judge=other)

    told = [judge.configuration | {"base": None} for judge in (first.judge, second.judge)]
    assert told[0] == told[1]
    assert labels_of(first.judge) == labels_of(second.judge)


def make_judged_pool_in_reverse(pool, people, said):
    """The same labels in a collection whose queries were loaded the other way round."""
    queries = {query.qid: query.text for query in pool.collection.queries.order_by("-qid")}
    documents = {document.docid: document.text for document in pool.collection.documents.order_by("docid")}
    collection = make_collection(documents=documents, queries=queries)
    other = make_pool(collection, make_run(collection, {qid: list(documents) for qid in queries}), name="r", depth=8)
    person, llm = make_person("bea"), make_llm("llm", model="microsoft/Phi-3-mini-4k-instruct")
    for (qid, docid), grade in people.items():
        make_judgment(person, collection, qid, docid, grade)
    for row in said:
        make_judgment(llm, collection, row.query.qid, row.document.docid, row.grade, probabilities=row.probabilities)
    return other, llm
