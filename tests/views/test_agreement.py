"""The agreement pages: a sentence first, then the evidence, and never a number that was not measured."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from django.urls import reverse

from judging.models import Judge, Judgment, Probe
from judging.steps.adjudicate import adjudicate
from judging.steps.agreement.sheet import Sheet
from judging.steps.judgments import Said
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.views.conftest import judge_all


def url(name, pool, *arguments):
    return reverse(name, args=[pool.slug, *arguments])


@pytest.fixture(autouse=True)
def _nothing_kept(settings, tmp_path):
    own = {name: settings.CACHES[name] | {"LOCATION": tmp_path / name} for name in ("plots", "figures")}
    settings.CACHES = settings.CACHES | own


def test_agreement_before_anybody_judged(pool, as_lead):
    page = as_lead.page(url("agreement", pool))
    assert "Nobody has judged yet" in page.text
    assert "python manage.py prefill_llm cran" in page.text
    assert not page.all("table")


def test_agreement_of_people_without_an_llm(pool, person, as_lead):
    judge_all(pool, person, [1, 0])
    page = as_lead.page(url("agreement", pool))
    assert "People have judged; no LLM has yet" in page.text
    assert "people find 50 % relevant (no interval: only one query)" in page.text
    assert "Beside the 1 known positive the pool holds at least 1 more." in page.text
    assert "No pair was judged by two people" in page.text


def test_agreement_of_an_llm_without_people(pool, as_lead):
    make_judgment(make_llm(), pool.collection, "q1", "d1", 1)
    page = as_lead.page(url("agreement", pool))
    assert "People and LLM share no judged pair yet" in page.text
    assert "There is nothing to compare: no pair was graded by both." in page.text
    assert "Nothing to show: no pair was graded by both." in page.text
    assert "nan" not in page.text.lower().split()


def test_a_single_pair_shows_what_is_undefined_as_undefined(pool, person, as_lead):
    judge_all(pool, person, [1])
    make_judgment(make_llm("solo"), pool.collection, "q1", "d1", 1)
    page = as_lead.page(url("agreement", pool))
    assert "People and solo agree on 100 % of 1 pair" in page.text
    assert re.search(r"Cohen's kappa undefined", page.text)
    assert "both gave one and the same grade to every pair, so agreement by chance is complete" in page.text
    assert "too few" in page.text
    assert "only one query: how queries differ cannot be told" in page.text
    assert "nan" not in page.text.lower().split()


def test_one_query_has_values_and_no_intervals(pool, person, as_lead):
    judge_all(pool, person, [1, 0, 1])
    llm = make_llm()
    for docid, grade in (("d1", 1), ("d2", 0), ("d3", 0)):
        make_judgment(llm, pool.collection, "q1", docid, grade)
    page = as_lead.page(url("agreement", pool))
    assert "agree on 67 % of 3 pairs" in page.text
    assert "Raw agreement .667 only one query" in page.text


def test_judges_of_different_scales_share_nothing_and_it_is_said(pool, person, as_lead):
    judge_all(pool, person, [1, 0])
    llm = make_llm()
    for docid in ("d1", "d2"):
        make_judgment(llm, pool.collection, "q1", docid, None, outcome="out_of_scale", raw="7")
    page = as_lead.page(url("agreement", pool))
    assert "Left out: 2 out of scale." in page.text
    clipped = as_lead.page(url("agreement", pool) + "?clip=1")
    assert "2 grades outside the scale were taken as its nearest end, as asked for." in clipped.text
    assert "agree on 50 % of 2 pairs" in clipped.text


def test_answers_that_could_not_be_read_are_counted(pool, person, as_lead):
    judge_all(pool, person, [1, 0, None])
    llm = make_llm()
    for docid, outcome in (("d1", "unparsed"), ("d2", "failed"), ("d3", "out_of_scale")):
        make_judgment(llm, pool.collection, "q1", docid, None, outcome=outcome)
    page = as_lead.page(url("agreement", pool))
    assert "People and LLM share no judged pair yet" in page.text
    assert "Left out: 1 unreadable, 1 failed, 1 people could not judge." in page.text


def test_two_people_and_two_llms(judged_pool, as_lead):
    page = as_lead.page(url("agreement", judged_pool))
    assert re.search(r"People and first agree on \d+ % of \d pairs", page.text)
    for llm in ("first", "second"):
        assert re.search(rf"{llm} · \w{{8}}", page.text)
    for words in ("People with people", "Raw agreement", "Quadratic kappa", "Cohen's kappa", "AC1", "compared with"):
        assert words in page.text
    assert "Each person against the majority of the others" in page.text
    assert len(page.all("table", class_="confusion")) == 1
    assert "nan" not in page.text.lower().split()


def test_every_plot_of_the_page_can_be_fetched_and_says_in_words_what_it_shows(judged_pool, as_lead):
    page = as_lead.page(url("agreement", judged_pool))
    images = page.all("img")
    assert len(images) == 6  # coefficients, judges, breakdown, each for light and for dark
    assert all(image["alt"].count("95 % intervals") for image in images)
    for address in [*(image["src"] for image in images), *(source["srcset"] for source in page.all("source"))]:
        response = as_lead.get(address)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "image/svg+xml")
        assert response.content.startswith(b"<svg")


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("csv", b"label,value,low"), ("svg", b"<svg")])
def test_plots_are_downloaded_in_three_forms(judged_pool, as_lead, form, start):
    response = as_lead.get(url("agreement-plot", judged_pool, "coefficients", form))
    assert response.content.startswith(start)
    assert response.headers["Content-Disposition"] == f'attachment; filename="trec-coefficients.{form}"'


@pytest.mark.parametrize("name", ["nothing.svg", "coefficients.gif", "calibration.svg"])
def test_a_plot_that_is_not_there(judged_pool, as_lead, name):
    plot, _, form = name.partition(".")
    assert as_lead.get(url("agreement-plot", judged_pool, plot, form)).status_code == 404


def test_another_judge_is_looked_at_by_its_address(judged_pool, as_lead):
    second = Judgment.objects.filter(judge__name="second").first().judge
    page = as_lead.page(url("agreement", judged_pool) + f"?judge={second.pk}")
    assert re.search(r"People and second agree on", page.text)
    assert as_lead.get(url("agreement", judged_pool) + "?judge=999999").status_code == 404


@pytest.mark.parametrize("by", ["rank", "query", "topic", "length", "time", "annotator", "nonsense"])
def test_broken_down_in_every_way(judged_pool, as_lead, by):
    page = as_lead.page(url("agreement", judged_pool) + f"?by={by}")
    (current,) = [a for a in page.all("a", aria_current="true") if "by=" in a["href"]]
    assert f"by={'rank' if by == 'nonsense' else by}" in current["href"]
    assert "nan" not in page.text.lower().split()


def test_high_agreement_with_low_kappa_does_not_hide(as_lead):
    qids = [f"q{n}" for n in range(15)]
    collection = make_collection("rare", documents=["d1", "d2"], queries=qids)
    pool = make_pool(collection, depth=2, name="rare")
    person, llm = make_person(), make_llm()
    for n, qid in enumerate(qids):
        for docid in ("d1", "d2"):
            make_judgment(person, collection, qid, docid, int(n == 0 and docid == "d1"))
            make_judgment(llm, collection, qid, docid, int(n == 1 and docid == "d1"))
    page = as_lead.page(url("agreement", pool))
    assert "The 93 % flatter: nearly all pairs are of one kind" in page.text
    assert "Kappa is −.03 and AC1 .93." in page.text


def test_each_cell_opens_its_very_pairs(judged_pool, as_lead):
    page = as_lead.page(url("agreement", judged_pool))
    cells = [a["href"] for a in page.all("a") if "first=" in a["href"]]
    assert cells
    pairs = as_lead.page(cells[0])
    assert re.search(r"\d pairs? that people call “Not relevant” and first “", pairs.text)
    assert len(pairs.all("article")) >= 1
    assert "text number" in pairs.text
    assert "best rank" in pairs.text


def test_a_cell_of_many_pairs_is_paged(as_lead):
    qids = [f"q{n}" for n in range(12)]
    collection = make_collection("many", documents=["d1"], queries=qids)
    pool = make_pool(collection, depth=1, name="many")
    person, llm = make_person(), make_llm()
    for qid in qids:
        make_judgment(person, collection, qid, "d1", 1)
        make_judgment(llm, collection, qid, "d1", 1)
    address = url("agreement-pairs", pool) + f"?judge={llm.pk}&first=1&said=1"
    first = as_lead.page(address)
    assert len(first.all("article")) == 10
    second = as_lead.page(url("agreement-pairs", pool) + first.one("a", rel="next")["href"])
    assert len(second.all("article")) == 2


def test_pairs_of_nothing_are_not_found(judged_pool, as_lead):
    assert as_lead.get(url("agreement-pairs", judged_pool)).status_code == 404
    assert as_lead.get(url("agreement-pairs", judged_pool) + "?first=x&said=1").status_code == 404
    empty = as_lead.page(url("agreement-pairs", judged_pool) + "?first=77&said=77")
    assert "There is no such pair." in empty.text


def test_an_llms_probabilities_are_held_against_people(pool, person, as_lead):
    judge_all(pool, person, [1, 0, 1])
    llm = make_llm()
    for docid, p in (("d1", 0.9), ("d2", 0.3), ("d3", 0.6)):
        chances = {"0": 1 - p, "1": p}
        make_judgment(llm, pool.collection, "q1", docid, int(p > 0.5), probabilities=chances)
    page = as_lead.page(url("agreement", pool))
    assert "On 3 pairs it is off by .27 on average (expected calibration error)" in page.text
    (image, _dark) = [image for image in page.all("img") if "calibration" in image["src"]]
    assert as_lead.get(image["src"]).status_code == 200


def test_people_are_compared_with_themselves_where_they_were_asked_again(pool, person, as_lead):
    judge_all(pool, person, [1, 0, 1])
    assert "People with themselves" not in as_lead.page(url("agreement", pool)).text
    pair = pool.pairs.first()
    Probe.objects.create(
        pair=pair, annotator=person, after=1, answered_at=pair.pool.created_at,
        first_outcome="graded", first_grade=1, outcome="graded", grade=0,
    )  # fmt: skip
    page = as_lead.page(url("agreement", pool))
    assert "People with themselves" in page.text
    assert "ann 1 .000" in page.text


def test_weighted_figures_say_so(pool, person, as_lead):
    judge_all(pool, person, [1, 0, 1])
    make_judgment(make_llm(), pool.collection, "q1", "d1", 1)
    assert "weighted by 1 / inclusion probability" not in as_lead.page(url("agreement", pool)).text
    first = pool.pairs.first()
    first.inclusion_probability = 0.5
    first.save()
    assert "weighted by 1 / inclusion probability" in as_lead.page(url("agreement", pool)).text


def test_a_whole_collection_against_its_qrels(as_lead):
    collection = make_collection(
        "judged", documents=["d1", "d2"], queries=["q1", "q2"], qrels={("q1", "d1"): 1, ("q2", "d2"): 0}
    )
    address = reverse("collection-agreement", args=["judged"])
    assert "Nobody has judged yet" in as_lead.page(address).text
    llm = make_llm("one")
    make_judgment(llm, collection, "q1", "d1", 1)
    make_judgment(llm, collection, "q2", "d2", 1)
    page = as_lead.page(address)
    assert "The original qrels and one agree on 50 % of 2 pairs" in page.text
    assert "A query is one cluster, so there are no intervals here." in page.text
    assert "only the pairs of a pool have a best rank" in as_lead.page(address + "?by=rank").text
    for link in [a["href"] for a in page.all("a") if "first=" in a["href"]]:
        assert "that the qrels call" in as_lead.page(link).text
    assert as_lead.get(page.all("img")[0]["src"]).status_code == 200
    assert "share no judged pair yet" in as_lead.page(address + "?reference=people").text


def test_found_positives_stand_beside_the_known_one(pool, person, as_lead):
    assert "People have found no document relevant yet." in as_lead.page(url("found", pool)).text
    judge_all(pool, person, [1, 0, 1])
    page = as_lead.page(url("found", pool))
    assert "2 documents newly found relevant, of 1 queries" in page.text
    assert "Known positive" in page.text
    assert "text of known" in page.text
    assert "Relevant 1 person text of d1" in page.text
    entries = json.loads(as_lead.get(url("found-file", pool, "json")).content)
    assert entries[0] == {"query": "query q1", "positive_doc": "text of known", "negative_doc": "text of d1"}
    assert as_lead.get(url("found-file", pool, "md")).content.startswith(b"# Found positives of cran")
    assert as_lead.get(url("found-file", pool, "pdf")).status_code == 404


def test_any_two_judges_are_compared(judged_pool, as_lead):
    pk = {judge.name: judge.pk for judge in Judge.objects.all()}
    address = url("agreement", judged_pool)
    offered = [option["value"] for option in as_lead.page(address).all("option")]
    judges = [str(pk[name]) for name in ("first", "second", "ada", "ben")]
    assert sorted(offered) == sorted(["people", "qrels", *judges, *judges])

    people = as_lead.page(f"{address}?reference={pk['ada']}&judge={pk['ben']}")
    assert re.search(r"ada and ben agree on \d+ % of \d+ pairs", people.text)
    assert "ben: Relevant" in people.text
    assert "Do its probabilities mean what they say?" not in people.text
    assert "What 50 more labels of people would buy" not in people.text
    for link in [a["href"] for a in people.all("a") if "first=" in a["href"]]:
        assert re.search(r"that ada calls “[^”]+” and ben “", as_lead.page(link).text)
    assert as_lead.get(people.all("img")[0]["src"]).status_code == 200

    llms = as_lead.page(f"{address}?reference={pk['first']}&judge={pk['second']}")
    assert "first and second agree on" in llms.text
    (cell, *_) = [a["href"] for a in llms.all("a") if "first=" in a["href"]]
    shown = as_lead.page(cell)
    assert len(shown.all("article")) >= 1
    assert re.search(r"\bfirst \w+.* second \w+", shown.text)


def test_a_judge_with_itself_is_answered_with_what_to_do(judged_pool, as_lead):
    pk = Judge.objects.get(name="first").pk
    response = as_lead.get(url("agreement", judged_pool) + f"?reference={pk}&judge={pk}")
    assert response.status_code == 303
    assert "choose two different ones" in as_lead.page(response.headers["Location"]).text
    assert as_lead.get(url("agreement", judged_pool) + f"?reference=999999&judge={pk}").status_code == 404


def test_every_coefficient_stands_on_every_scale(judged_pool, as_lead):
    page = as_lead.page(url("agreement", judged_pool))
    own = judged_pool.collection.scale.relevant_from
    first, second = ("0/12", "01/2") if own == 1 else ("01/2", "0/12")
    assert f"Coefficient All grades {first} (relevant or not) {second} " in page.text
    for label in ("Linear kappa", "Precision of “relevant”", "Relevant to the people", "Bias of the LLM"):
        assert label in page.text


def test_why_kappa_or_its_interval_is_missing_is_said_in_a_sentence(pool, person, as_lead):
    judge_all(pool, person, [1, 1, 1])
    llm = make_llm()
    for docid in ("d1", "d2"):
        make_judgment(llm, pool.collection, "q1", docid, 1)
    page = as_lead.page(url("agreement", pool))
    assert "Kappa is undefined: both gave one and the same grade to every pair" in page.text
    make_judgment(llm, pool.collection, "q1", "d3", 0)
    assert "Kappa has no interval: only one query." in as_lead.page(url("agreement", pool)).text


def test_where_every_weight_is_0_nothing_is_shown_and_the_reason_is(pool, person, as_lead, monkeypatch):
    """A pair that could not be drawn cannot be stored, so the weights are those of a sheet made for it."""
    judge_all(pool, person, [1, 0, 1])
    llm = make_llm()
    for docid in ("d1", "d2", "d3"):
        make_judgment(llm, pool.collection, "q1", docid, 1)
    monkeypatch.setattr(Sheet, "weights", property(lambda sheet: np.zeros(len(sheet.keys))))
    page = as_lead.page(url("agreement", pool))
    assert "There is nothing to compare: every pair that was graded by both has weight 0." in page.text
    assert "nan" not in page.text.lower().split()


def test_a_changed_answer_is_seen_at_the_next_look(pool, person, lead, as_lead):
    judge_all(pool, person, [1, 0, 1])
    llm = make_llm()
    for docid in ("d1", "d2", "d3"):
        make_judgment(llm, pool.collection, "q1", docid, 1)
    assert "agree on 67 % of 3 pairs" in as_lead.page(url("agreement", pool)).text
    said = Said(outcome="graded", grade=1, seconds=None)
    adjudicate(pair=pool.pairs.get(document__docid="d2"), by=lead.user, said=said)
    assert "agree on 100 % of 3 pairs" in as_lead.page(url("agreement", pool)).text


def test_the_report_is_one_button(judged_pool, as_lead):
    assert as_lead.page(url("agreement", judged_pool)).one("a", href=url("report", judged_pool))
    response = as_lead.get(url("report", judged_pool))
    assert response.headers["Content-Disposition"] == 'attachment; filename="trec-report.html"'
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert b"data:image/svg+xml;base64," in response.content
    markdown = as_lead.get(url("report", judged_pool) + "?form=md")
    assert markdown.content.startswith(b"# trec\n")


def test_the_page_is_the_same_at_each_load(judged_pool, as_lead):
    assert len({as_lead.page(url("agreement", judged_pool)).text for _ in range(2)}) == 1


def test_annotators_see_none_of_it(judged_pool, as_person):
    for name, *arguments in (
        ("agreement",), ("agreement-pairs",), ("agreement-plot", "coefficients", "svg"), ("found",),
        ("found-file", "json"), ("report",),
    ):  # fmt: skip
        assert as_person.get(url(name, judged_pool, *arguments)).status_code == 403, name
    assert as_person.get(reverse("collection-agreement", args=[judged_pool.collection.slug])).status_code == 403


def test_the_page_costs_as_many_queries_for_a_large_pool_as_for_a_small_one(as_lead, django_assert_num_queries):
    for size in (2, 30):
        docids = [f"d{n}" for n in range(size)]
        collection = make_collection(documents=docids, queries=["q1", "q2"])
        run = make_run(collection, dict.fromkeys(("q1", "q2"), docids))
        pool = make_pool(collection, run, name=f"size {size}", depth=size)
        person, llm = make_person(), make_llm()
        for docid in docids:
            make_judgment(llm, collection, "q1", docid, 1)
            make_judgment(person, collection, "q1", docid, 1)
        # Five of each ask for the state of the pool; the second time nothing else is read of judgments.
        for count in (18, 9):
            with django_assert_num_queries(count):
                as_lead.get(url("agreement", pool))
