"""llm_quality, llm_calibrate and llm_gullibility as they are given in the shell."""

from __future__ import annotations

import json

import pytest

from judging.models import GullibilityProbe, Judge, Judgment
from tests import tiny_models
from tests.factories import make_llm
from tests.steps.quality.rows import make_judged_pool

pytestmark = pytest.mark.django_db


def test_the_quality_of_the_only_llm_needs_no_name(run):
    pool, _person, llm = make_judged_pool(queries=10)
    said = run("llm_quality", pool.slug)
    assert said.startswith(f"{llm.label} on {pool.slug}\n")
    for words in (
        "80 of 80 pairs answered (graded 80)", "with people, on 80 pairs that both graded", "Cohen's kappa",
        "correlation of expected grades", "probability outside the scale: median 0.040", "expected calibration error",
        "the same by chance alone",
        f"python manage.py llm_calibrate {pool.slug} --judge {llm.fingerprint[:8]}",
    ):  # fmt: skip
        assert words in said
    assert " nan" not in said


def test_alarms_come_first_and_json_has_them_too(run):
    pool, _person, llm = make_judged_pool(queries=10)
    Judgment.objects.filter(judge=llm).update(grade=1)
    assert run("llm_quality", pool.slug).splitlines()[1].startswith("! “llm” calls 100 % of the 80 pairs")
    told = json.loads(run("llm_quality", pool.slug, "--judge", "llm", "--json"))
    assert [alarm["kind"] for alarm in told["alarms"]] == ["one-class"]


def test_of_an_llm_without_probabilities_no_expected_grade_is_spoken_of(run):
    pool, _person, llm = make_judged_pool(queries=10)
    Judgment.objects.filter(judge=llm).update(probabilities=None)
    said = run("llm_quality", pool.slug)
    assert "correlation of grades" in said
    assert "correlation of expected grades" not in said
    assert "It gave no probabilities, so there is nothing to say of their calibration." in said


def test_where_nothing_is_judged_it_says_what_to_do(run, refused):
    pool, _person, llm = make_judged_pool(queries=5, pairs=2)
    make_llm("idle")
    assert f"It has judged no pair of this pool: python manage.py prefill_llm {pool.slug}" in run(
        "llm_quality", pool.slug, "--judge", "idle"
    )
    Judgment.objects.filter(judge=llm).delete()
    assert "No LLM has judged pairs" in refused("llm_quality", pool.slug)


def test_of_several_llms_one_is_to_be_named(refused):
    pool, _person, llm = make_judged_pool(queries=5, pairs=2)
    row = Judgment.objects.filter(judge=llm).first()
    Judgment.objects.create(judge=make_llm("other"), query=row.query, document=row.document, outcome="failed")
    assert "say which with --judge: llm ·" in refused("llm_quality", pool.slug)


def test_calibrating_states_the_gain_and_that_the_fit_overstates(run):
    pool, _person, llm = make_judged_pool(queries=10)
    said = run("llm_calibrate", pool.slug, "--judge", llm.fingerprint)
    judge = Judge.objects.get(name="llm calibrated")
    assert said.startswith(f"{judge.label}: made; 80 judgments new or changed\n")
    for words in (
        "fitted to 80 labels of people on 10 queries, cross-validated in 5 folds of whole queries, seed 0",
        "on queries that the thresholds do not know: gain", "which overstates",
        "It agrees better with people than before, beyond chance.",
    ):  # fmt: skip
        assert words in said
    again = run("llm_calibrate", pool.slug, "--judge", "llm")
    assert "was made of these labels before; 0 judgments new or changed" in again
    told = run("agreement", pool.slug)
    assert told.count("comes from thresholds fitted without the query") == 1


def test_too_few_labels_and_unknown_judges_are_refused(refused):
    pool, _person, _llm = make_judged_pool(queries=3)
    assert "Found 24 labels of 3 queries" in refused("llm_calibrate", pool.slug, "--judge", "llm")
    assert "There is no LLM judge 'gpt'" in refused("llm_calibrate", pool.slug, "--judge", "gpt")


@pytest.mark.models
def test_the_gullibility_of_a_model_is_told_with_its_control(run, refused, tmp_path):
    pool, _person, _llm = make_judged_pool(queries=4, pairs=4, unjudged=4)
    model = str(tiny_models.tiny_phi3(tmp_path / "tiny"))
    named = (pool.slug, "--judge", model, "--prompt", "pointwise", "--dtype", "float32")
    assert "has judged nothing" in refused("llm_gullibility", *named)
    run("prefill_llm", *named)
    said = run("llm_gullibility", *named, "--pairs", "4", "--seed", "3")
    probe = GullibilityProbe.objects.get()
    assert (probe.seed, probe.wanted, len(probe.rows)) == (3, 4, 4)
    for words in ("asked again", "with the query's words:", "with other words:", "Wilson", "McNemar's exact p "):
        assert words in said
    told = json.loads(run("llm_gullibility", *named, "--pairs", "4", "--seed", "3", "--json"))
    assert (told["pairs"], told["seed"], told["way"]) == (4, 3, "start")
    assert "expected a number below" in refused("llm_gullibility", *named, "--seed", str(2**63))
