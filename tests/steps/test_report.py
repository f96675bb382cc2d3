"""Found positives as evidence, and the report: one file that stands alone, with nothing in it that runs."""

from __future__ import annotations

import json
import re

import pytest
from django.utils import translation

from judging.steps.agree import sheet_of
from judging.steps.agreement.evidence import as_json, as_markdown, evidence
from judging.steps.report import as_html, report_of, write_report
from judging.steps.report import as_markdown as report_as_markdown
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db

NASTY = "<script>alert(1)</script> # not a heading\n* no list"


@pytest.fixture
def pool():
    documents = {"d1": "first answer", "d2": NASTY, "d3": "no answer", "known": "the known answer"}
    collection = make_collection(
        "web", documents=documents, queries={"q1": "what is it", "q2": "and that"}, qrels={("q1", "known"): 1}
    )
    run = make_run(collection, {"q1": ["d1", "d2", "known", "d3"], "q2": ["d2", "d1"]})
    make_run(collection, {"q1": ["known", "d3"], "q2": ["d3"]}, name="other")
    return make_pool(collection, run, name="web holes", depth=4)


@pytest.fixture
def judged(pool):
    person, llm = make_person("ada"), make_llm("one", model="a model")
    for (qid, docid), grade, said in (
        (("q1", "d1"), 1, 1), (("q1", "d2"), 1, 0), (("q1", "d3"), 0, 0), (("q2", "d2"), 1, 1), (("q2", "d1"), 0, 1),
    ):  # fmt: skip
        make_judgment(person, pool.collection, qid, docid, grade)
        make_judgment(llm, pool.collection, qid, docid, said)
    return pool


def test_json_in_the_shape_of_query_positive_and_what_counts_as_a_negative(judged):
    assert json.loads(as_json(sheet_of(pool=judged)))
    assert sorted(
        json.loads(as_json(sheet_of(pool=judged))), key=lambda entry: (entry["query"], entry["negative_doc"])
    ) == [
        {"query": "and that", "positive_doc": None, "negative_doc": NASTY},
        {"query": "what is it", "positive_doc": "the known answer", "negative_doc": NASTY},
        {"query": "what is it", "positive_doc": "the known answer", "negative_doc": "first answer"},
    ]


def test_markdown_to_read_in_which_no_text_is_obeyed(judged):
    markdown = as_markdown(sheet_of(pool=judged))
    assert markdown.startswith("# Found positives of web holes\n")
    assert "**Known positive** `known`" in markdown
    assert "> the known answer" in markdown
    assert "**Counted as a negative, found “Relevant”** `d1` (people:1/1)" in markdown
    assert r"> \<script\>alert(1)\</script\> \# not a heading" in markdown
    assert "The query has no known positive that can be read." in markdown


def test_documents_that_people_do_not_call_relevant_are_no_evidence(judged):
    found = {
        one.query.qid: [positive.document.docid for positive in one.found] for one in evidence(sheet_of(pool=judged))
    }
    assert found == {"q1": ["d1", "d2"], "q2": ["d2"]}


def test_the_report_says_what_was_judged_by_whom_and_what_changed(judged):
    markdown = report_as_markdown(report_of(judged))
    assert "5 pairs of 2 queries, from the runs bm25" in markdown
    assert "3 newly found beside 1 known positives" in markdown
    assert "| one | 5 | .6000 [" in markdown
    assert "### People with one · " in markdown
    assert "| bm25 | " in markdown
    assert "| bm25 − other | " in markdown
    assert "Holm-corrected" in markdown
    assert re.search(r"- LLM one: fingerprint `[0-9a-f]{64}`", markdown)
    assert "- Unjudged 0.1.0" in markdown


def test_runs_are_compared_under_the_augmented_qrels(judged):
    report = report_of(judged)
    scores = {row.run.name: (row.before[report.measure], row.after[report.measure]) for row in report.evaluation.runs}
    (test,) = report.tests
    before, after = (scores[test.first][at].mean - scores[test.second][at].mean for at in (0, 1))
    assert test.difference.value == pytest.approx(after)
    assert before != pytest.approx(after)


def test_the_html_needs_nothing_beside_it_and_runs_nothing(judged):
    html = as_html(report_of(judged))
    assert html.count("data:image/svg+xml;base64,") == 4  # light and dark, wide and small
    assert "<style>" in html
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert not re.search(r"""(?:src|srcset|href)=["'](?!data:)""", html)
    assert not re.search(r"\bnan\b", html.lower())


def test_the_report_holds_the_whole_panel_the_policy_and_every_determinant(judged):
    report = report_of(judged)
    assert report.provenance.latest is not None
    wanted = (
        "Precision of “relevant”",
        "Bias of the LLM",
        "grades of LLMs do not enter",
        "last label given at",
        "Kendall",
    )
    for text in (as_html(report), report_as_markdown(report)):
        assert [words for words in wanted if words not in text] == []


def test_the_html_says_why_there_is_no_interval():
    pool = make_pool(make_collection("single", documents=["d1", "d2"]), depth=2)
    make_judgment(make_person(), pool.collection, "q1", "d1", 1)
    assert "<strong>100 % relevant</strong> (no interval: only one query)" in as_html(report_of(pool))


def test_a_report_is_in_the_language_of_who_asks_for_it(judged):
    with translation.override("fr"):
        assert '<html lang="fr">' in as_html(report_of(judged))
    assert '<html lang="en">' in as_html(report_of(judged))


def test_a_report_on_a_pool_that_nobody_has_judged(pool):
    report = report_of(pool)
    assert "No LLM has judged pairs of this pool." in report_as_markdown(report)
    assert "People have not judged any pair yet." in as_html(report)


def test_without_original_qrels_the_report_says_why_there_is_no_evaluation():
    pool = make_pool(make_collection("bare", documents=["d1", "d2"]), depth=2)
    report = report_of(pool)
    assert report.no_evaluation == "bare has no original qrels: nothing can be measured against them."
    assert report.no_evaluation in report_as_markdown(report)
    assert report.no_evaluation in as_html(report)


def test_both_files_are_written_where_asked(judged, tmp_path):
    paths = write_report(report_of(judged), tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["report.html", "report.md"]
    assert all(path.stat().st_size > 1_000 for path in paths)
