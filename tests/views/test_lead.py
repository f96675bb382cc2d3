"""The lead's pages, each with data, with little of it and with none."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from django.urls import reverse

from judging.formats.scale import default_scale
from judging.models import Assignment, Collection, Judge, Judgment, LeaseState, Pool
from judging.steps.export import export_qrels
from judging.steps.merge import Policy, llm_judges_of
from tests.factories import make_collection, make_run
from tests.views.pages import Page
from tests.views.test_judge_alone import WRITE, writes

pytestmark = pytest.mark.django_db


def url(name: str, of: Collection | Pool) -> str:
    return reverse(name, args=[of.slug])


def fragment(browser, address: str) -> Page:
    return browser.page(address, htmx=True)


# --- Overview ---------------------------------------------------------------------------------------------------------


def test_without_a_collection_the_overview_tells_how_to_load_one(as_lead):
    page = as_lead.page(reverse("overview"))
    assert "No collection is loaded yet. Load one with: python manage.py import_beir DIR_OR_ZIP" in page.text


def test_the_overview_tells_the_next_thing_to_do_for_each_collection(as_lead):
    make_collection("bare")
    ranked = make_collection("ranked", qrels={("q1", "d1"): 1})
    make_run(ranked, {"q1": ["d1"]})
    page = as_lead.page(reverse("overview"))
    assert "python manage.py index bare && python manage.py retrieve bare" in page.text
    assert "python manage.py rerank ranked" in page.text
    assert "3 documents, 1 query, 1 original judgment " in page.text


def test_the_overview_lists_the_pools_of_each_collection_with_their_status(judged_pool, pool, as_lead):
    Pool.objects.filter(pk=pool.pk).update(status=Pool.Status.PAUSED)
    page = as_lead.page(reverse("overview"))
    assert {url("pool", judged_pool), url("pool", pool)} <= {link["href"] for link in page.all("a")}
    assert "cran paused" in page.text
    assert "trec open" in page.text


# --- Collection -------------------------------------------------------------------------------------------------------


def test_a_collection_with_nothing_done_yet_is_shown_with_what_to_do(as_lead):
    page = as_lead.page(url("collection", make_collection("bare")))
    assert "No run is there yet." in page.text
    assert "No pool is open yet." in page.text
    assert "Original judgments 0" in page.text
    assert not page.all("table")


def test_a_collection_with_a_run_and_no_qrels_is_shown(as_lead):
    collection = make_collection("unjudged")
    make_run(collection, {"q1": ["d1"]})
    assert as_lead.get(url("collection", collection)).status_code == 200


def test_a_collection_with_one_run_has_its_figures(as_lead):
    collection = make_collection("small", documents=["d1", "d2"], qrels={("q1", "d1"): 1})
    make_run(collection, {"q1": ["d1", "d2"]})
    page = as_lead.page(url("collection", collection))
    assert "Of the ten documents that bm25 puts first, 50 % have an original judgment." in page.text
    assert re.search(r"bm25 .500 .* 1.000 .* imported", page.text)


def test_a_collection_is_described_as_a_paper_would(judged_pool, as_lead):
    page = as_lead.page(url("collection", judged_pool.collection))
    assert "Documents 14 Queries 4 Original judgments 6" in page.text
    assert "0 Not relevant 1 1 Relevant 1 2 Highly relevant 4" in page.text
    assert "Documents sharing their text with another 2" in page.text
    assert "Judgments a query: fewest, median, most 1 · 2 · 2" in page.text
    assert [row["href"] for row in page.all("a", class_="button")] == [
        url("evaluation", judged_pool.collection),
        url("collection-agreement", judged_pool.collection),
        url("export", judged_pool.collection),
        url("judges", judged_pool.collection),
    ]


def test_runs_that_were_interrupted_are_not_shown(judged_pool, as_lead):
    make_run(judged_pool.collection, {"q0": ["d1"]}, name="half", complete=False)
    assert "half" not in as_lead.page(url("collection", judged_pool.collection)).text


# --- Evaluation -------------------------------------------------------------------------------------------------------


def test_what_keeps_a_collection_from_being_evaluated_is_said_on_its_page(as_lead):
    unjudged, bare = make_collection("unjudged"), make_collection("bare", qrels={("q1", "d1"): 1})
    make_run(unjudged, {"q1": ["d1"]})
    for collection, reason in ((unjudged, "unjudged has no original qrels"), (bare, "bare has no run yet")):
        response = as_lead.get(url("evaluation", collection), follow=True)
        assert response.redirect_chain == [(url("collection", collection), 303)]
        assert reason in Page(response.content.decode()).text


def test_evaluation_of_one_run_has_no_order_to_compare(pool, as_lead):
    page = as_lead.page(url("evaluation", pool.collection))
    assert "Every run under the 1 original judgments, and under the 1 that there are now." in page.text
    assert "Kendall's tau between the two orders of the runs: undefined." in page.text


def test_evaluation_before_and_after(judged_pool, as_lead):
    collection = judged_pool.collection
    page = as_lead.page(url("evaluation", collection))
    after = re.search(r"6 original judgments, and under the (\d+) that there are now", page.text)
    assert after
    assert len(page.all("table")) == 2
    (first, _second) = page.all("input", name="llm")
    with_llm = as_lead.page(f"{url('evaluation', collection)}?llm={first['value']}")
    more = re.search(r"under the (\d+) that there are now", with_llm.text)
    assert more
    assert int(more[1]) >= int(after[1]) > 6
    assert [box["value"] for box in with_llm.all("input", name="llm") if "checked" in box] == [first["value"]]


# --- Export -----------------------------------------------------------------------------------------------------------


def test_export_of_a_collection_without_any_judgment(as_lead):
    collection = make_collection("bare")
    assert "0 judgments, each with its source:" in as_lead.page(url("export", collection)).text
    assert as_lead.get(url("export-download", collection)).status_code == 200


def test_export_shows_what_each_source_gives_and_what_is_left_out(judged_pool, as_lead):
    page = as_lead.page(url("export", judged_pool.collection))
    assert re.search(r"qrels 1 1 4 6", page.text)
    assert re.search(r"people( \d+){4}", page.text)
    assert re.search(r"\d+ pairs are left out: people are undecided", page.text)


def test_the_counts_come_alone_to_htmx_and_follow_the_choice(judged_pool, as_lead):
    address = url("export", judged_pool.collection)
    (first, _) = as_lead.page(address).all("input", name="llm")
    part = fragment(as_lead, f"{address}?llm={first['value']}&no_duplicates=1")
    assert not part.all("html")
    assert re.search(r"llm( \d+){4}", part.text)
    download = part.one("a", class_="button main")["href"]
    assert download == f"{url('export-download', judged_pool.collection)}?llm={first['value']}&no_duplicates=1"


@pytest.mark.parametrize("llms", [0, 1, 2])
@pytest.mark.parametrize("duplicates", [True, False])
def test_the_download_holds_what_the_step_writes_under_the_same_policy(
    judged_pool, as_lead, tmp_path, llms, duplicates
):
    collection = judged_pool.collection
    chosen = tuple(llm_judges_of(collection)[:llms])
    query = "&".join([*(f"llm={judge.pk}" for judge in chosen), *([] if duplicates else ["no_duplicates=1"])])
    response = as_lead.get(f"{url('export-download', collection)}?{query}")
    assert response.headers["Content-Disposition"] == 'attachment; filename="trec-augmented.zip"'
    with zipfile.ZipFile(io.BytesIO(response.body)) as archive:
        inside = {name.removeprefix("trec-augmented/"): archive.read(name) for name in archive.namelist()}
    folder = export_qrels(
        collection=collection, out=tmp_path / "out", policy=Policy(chosen, duplicates=duplicates)
    ).path
    assert inside == {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    assert as_lead.get(f"{url('export-download', collection)}?{query}").body == response.body


def test_the_download_holds_corpus_and_queries_and_the_forms_of_judgments_that_were_chosen(judged_pool, as_lead):
    collection = judged_pool.collection
    query = "layout=beir&judgments=csv&judgments=parquet"
    page = as_lead.page(f"{url('export', collection)}?{query}")
    assert "a zip: corpus, queries, BEIR and TREC qrels" in page.text
    chosen = [box["value"] for box in page.all("input", type="checkbox") if "checked" in box]
    assert chosen == ["beir", "csv", "parquet"]
    address = page.one("a", class_="button main")["href"]
    assert address == f"{url('export-download', collection)}?{query}"
    with zipfile.ZipFile(io.BytesIO(as_lead.get(address).body)) as archive:
        assert [name.removeprefix("trec-augmented/") for name in archive.namelist()] == [
            "corpus.jsonl",
            "queries.jsonl",
            "qrels/augmented.tsv",
            "qrels.trec",
            "sources.tsv",
            "unresolved.tsv",
            "judgments.csv",
            "judgments.parquet",
            "manifest.json",
        ]


def test_a_layout_and_a_form_that_there_are_not_are_left_out(judged_pool, as_lead):
    collection = judged_pool.collection
    plain, strange = (
        as_lead.get(url("export-download", collection) + query).body for query in ("", "?layout=x&judgments=xml")
    )
    assert plain == strange


def test_an_id_that_no_file_can_hold_is_named_on_the_page_before_anything_is_sent(as_lead):
    collection = make_collection(documents=["a\tb"], qrels={("q1", "a\tb"): 1})
    response = as_lead.get(url("export-download", collection), follow=True)
    assert response.redirect_chain == [(url("export", collection), 303)]
    assert "without tabs and line ends" in response.content.decode()


def test_an_llm_that_does_not_exist_is_no_server_error(judged_pool, as_lead):
    for wrong in ("0", "x", "9" * 30, ""):
        assert as_lead.get(f"{url('export', judged_pool.collection)}?llm={wrong}").status_code == 200


def test_people_are_no_choice_among_the_llms(judged_pool, as_lead):
    person = Judge.objects.filter(kind="person").first()
    plain, chosen = (
        as_lead.page(url("export", judged_pool.collection) + query, htmx=True).text
        for query in ("", f"?llm={person.pk}")
    )
    assert plain == chosen


def test_grades_outside_the_scale_keep_their_column(as_lead):
    collection = make_collection(qrels={("q1", "d1"): -2, ("q1", "d2"): 1}, scale=default_scale(1))
    page = as_lead.page(url("export", collection))
    assert "qrels 1 0 1 2" in page.text
    assert as_lead.get(url("collection", collection)).status_code == 200


# --- All of them ------------------------------------------------------------------------------------------------------


def test_no_page_of_the_lead_writes_a_thing(judged_pool, as_lead):
    before = (Judgment.objects.count(), Assignment.objects.filter(state=LeaseState.DONE).count())
    for name in ("pool", "agreement", "disagreements", "adjudication"):
        assert writes(as_lead, url(name, judged_pool)) == set(), name
    for name in ("collection", "judges", "evaluation", "export", "export-download"):
        assert writes(as_lead, url(name, judged_pool.collection)) == set(), name
    assert writes(as_lead, reverse("overview")) == set()
    assert before == (Judgment.objects.count(), Assignment.objects.filter(state=LeaseState.DONE).count())
    assert WRITE.match('INSERT INTO "judging_pair" VALUES')
