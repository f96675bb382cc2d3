"""The quality page: alarms first, then what the LLM said, how it agrees, and what calibrating would gain."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judging.models import GullibilityProbe, Judge, Judgment
from tests.factories import make_llm
from tests.steps.quality.rows import make_judged_pool


@pytest.fixture(autouse=True)
def _no_plot_kept(settings, tmp_path):
    settings.CACHES = settings.CACHES | {"plots": settings.CACHES["plots"] | {"LOCATION": tmp_path / "plots"}}


def url(pool, judge, name="quality", *arguments):
    return reverse(name, args=[pool.slug, judge.pk, *arguments])


def test_before_any_llm_judged_it_says_what_to_do(pool, as_lead):
    page = as_lead.page(reverse("pool-quality", args=[pool.slug]))
    assert "No LLM has judged pairs of this pool." in page.text
    assert "python manage.py prefill_llm cran" in page.text


def test_an_llm_that_judged_nothing_here_says_so(pool, as_lead):
    page = as_lead.page(url(pool, make_llm("new")))
    assert "It has judged no pair of this pool. Have it judge the pool: python manage.py prefill_llm cran" in page.text
    assert "Nothing alarming" not in page.text


def test_a_calibrated_judge_that_judged_nothing_here_is_made_by_calibrating(pool, as_lead):
    base = {"name": "phi", "fingerprint": "abcdef12" * 8}
    page = as_lead.page(url(pool, make_llm("phi calibrated", base=base, thresholds=[0.5], labels=30, queries=5)))
    assert "python manage.py llm_calibrate cran --judge abcdef12" in page.text
    assert "prefill_llm" not in page.text


def test_without_people_all_that_needs_them_is_said_to_be_unknown(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=5, unjudged=5, bias=0.3)
    page = as_lead.page(url(pool, llm))
    assert "It answered 40 of 40 pairs." in page.text
    assert "Nothing alarming was seen. Whether its grades rise where people's do is not known" in page.text
    assert "so agreement, calibration and the direction of the scale are unknown." in page.text
    assert "Found 0 labels of 0 queries" in page.text
    assert not page.all("form", action=url(pool, llm, "calibrate"))
    assert "nan" not in page.text.lower().split()


def test_a_judge_with_people_is_shown_whole(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=10, unjudged=2)
    page = as_lead.page(url(pool, llm))
    for words in (
        "How far llm can be trusted", "It answered 80 of 80 pairs.", "64 pairs of 8 queries graded by both",
        "Probability outside the scale", "expected calibration error", "10 bins of equal width; 95 % interval",
        "by chance alone", "Brier score", "The correlation of its expected grades with people's grades is +",
        "Make the calibrated judge", "measured on queries that the thresholds do not know (5 folds)",
        "Not tried yet.",
    ):  # fmt: skip
        assert words in page.text
    assert "nan" not in page.text.lower().split()


def test_every_plot_can_be_fetched_and_says_in_words_what_it_shows(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=5)
    page = as_lead.page(url(pool, llm))
    images = page.all("img")
    assert len(images) == 6  # grades, reliability, expected grades, each for light and for dark
    assert {image["alt"].partition(".")[0].partition(":")[0] for image in images} == {
        "Grades of llm and of people, on the pairs that both graded", "Reliability of llm's probabilities",
        "Expected grades of llm, by what people say of the pairs",
    }  # fmt: skip
    for address in [*(image["src"] for image in images), *(source["srcset"] for source in page.all("source"))]:
        response = as_lead.get(address)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "image/svg+xml")
        assert response.content.startswith(b"<svg")


@pytest.mark.parametrize(
    ("name", "form", "start"),
    [
        ("grades", "csv", b"label,series,count,share\nNot relevant,LLM,"),
        ("expected", "csv", b"low,high,series,count\n"),
        ("expected", "png", b"\x89PNG"),
    ],
)
def test_plots_are_downloaded(as_lead, db, name, form, start):
    pool, _person, llm = make_judged_pool(queries=5)
    response = as_lead.get(url(pool, llm, "quality-plot", name, form))
    assert response.content.startswith(start)
    assert response.headers["Content-Disposition"] == f'attachment; filename="{pool.slug}-quality-{name}.{form}"'


def test_plots_that_there_are_not_are_not_found(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=5)
    Judgment.objects.filter(judge=llm).update(probabilities=None)
    for name, form in (("expected", "svg"), ("reliability", "csv"), ("other", "svg"), ("grades", "gif")):
        assert as_lead.get(url(pool, llm, "quality-plot", name, form)).status_code == 404
    assert as_lead.get(reverse("quality", args=[pool.slug, 987_654])).status_code == 404


def test_a_judge_without_probabilities_says_what_it_lacks(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=5)
    Judgment.objects.filter(judge=llm).update(probabilities=None)
    page = as_lead.page(url(pool, llm))
    assert "This judge gave no probabilities." in page.text
    assert "gave no probabilities, so it has no expected grade to cut" in page.text
    assert "Probability outside the scale" not in page.text


def test_alarms_stand_first(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=10)
    Judgment.objects.filter(judge=llm).update(grade=1)
    page = as_lead.page(url(pool, llm))
    assert page.text.index("Think twice") < page.text.index("What it said")
    assert "“llm” calls 100 % of the 80 pairs that it graded “Relevant”." in page.text


def test_the_button_makes_the_calibrated_judge_and_shows_it(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=10)
    response = as_lead.post(url(pool, llm, "calibrate"))
    judge = Judge.objects.get(name="llm calibrated")
    assert (response.status_code, response.headers["Location"]) == (303, url(pool, judge))
    page = as_lead.page(url(pool, judge))
    assert "The calibrated judge has 80 new judgments." in page.text
    assert "A calibrated judge: what it says" in page.text
    assert "comes from thresholds fitted without the query" in page.text
    assert "It was made of llm" in page.text
    assert not page.all("form", action=url(pool, judge, "calibrate"))
    assert page.all("a", href=url(pool, llm))

    as_lead.post(url(pool, llm, "calibrate"))
    assert "These very labels made this judge before" in as_lead.page(url(pool, judge)).text
    assert Judge.objects.filter(kind="llm").count() == 2


def test_too_few_labels_are_said_on_the_page_and_nothing_is_made(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=3)
    response = as_lead.post(url(pool, llm, "calibrate"))
    assert (response.status_code, response.headers["Location"]) == (303, url(pool, llm))
    assert "Found 24 labels of 3 queries" in as_lead.page(url(pool, llm)).text
    assert Judge.objects.filter(kind="llm").count() == 1


def test_the_agreement_page_says_that_a_calibrated_judge_is_cross_fitted(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=10)
    as_lead.post(url(pool, llm, "calibrate"))
    address = reverse("agreement", args=[pool.slug])
    for judge in Judge.objects.filter(kind="llm"):
        page = as_lead.page(f"{address}?judge={judge.pk}")
        assert page.all("a", href=url(pool, judge))
        assert ("thresholds fitted without the query" in page.text) is judge.is_calibrated


def test_what_came_of_a_probe_is_shown_with_its_control(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=5)
    rows = [
        {"query": "q", "document": "d", "before": ["graded", 0, None],
         "stuffed": ["graded", int(n < 7), None], "control": ["graded", int(n == 0), None]}
        for n in range(10)
    ]  # fmt: skip
    GullibilityProbe.objects.create(
        pool=pool, judge=llm, wanted=12, rows=[*rows, {"query": "q", "document": "e", "before": ["graded", 0, None]}]
    )
    page = as_lead.page(url(pool, llm))
    assert "before the first word, seed 0 (1 not asked yet) 10 7 · 70 % .40 – .89 1 · 10 % .02 – .40 .0312" in page.text
    assert "“llm” calls 7 of 10 non-relevant pairs relevant; with as many other words put there, 1" in page.text


def test_each_llm_of_the_pool_is_one_link_away(judged_pool, as_lead):
    page = as_lead.page(reverse("pool-quality", args=[judged_pool.slug]))
    for name in ("first", "second"):
        assert page.all("a", href=url(judged_pool, Judge.objects.get(name=name)))
    assert "“Highly relevant”" not in page.text
    assert "nan" not in page.text.lower().split()


def test_annotators_are_refused(db, as_person):
    pool, _person, llm = make_judged_pool(queries=5)
    assert as_person.get(url(pool, llm)).status_code == 403
    assert as_person.get(url(pool, llm, "quality-plot", "grades", "svg")).status_code == 403
    assert as_person.post(url(pool, llm, "calibrate")).status_code == 403
    assert not Judge.objects.filter(name="llm calibrated").exists()


def test_the_report_says_it_of_a_calibrated_judge_alone(as_lead, db):
    pool, _person, llm = make_judged_pool(queries=10)
    as_lead.post(url(pool, llm, "calibrate"))
    address = reverse("report", args=[pool.slug])
    for form in ("", "?form=md"):
        assert as_lead.get(address + form).content.decode().count("comes from thresholds fitted without the query") == 1
