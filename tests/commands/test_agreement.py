"""The agreement command in its five forms, the report, found positives, and pools drawn by uncertainty."""

from __future__ import annotations

import csv
import io
import json

import pytest

from judging.formats.scale import default_scale
from judging.models import Pool
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db

DOCIDS = [f"d{n}" for n in range(4)]


@pytest.fixture
def pool():
    collection = make_collection(
        "web", documents=[*DOCIDS, "k"], queries=["q1", "q2"], qrels={("q1", "k"): 3, ("q2", "k"): 2},
        scale=default_scale(3),
    )  # fmt: skip
    pool = make_pool(collection, make_run(collection, dict.fromkeys(("q1", "q2"), DOCIDS)), name="web holes", depth=4)
    person, llm = make_person("ada"), make_llm("=a_judge")
    for qid, people, said in (("q1", [0, 1, 2, 3], [0, 1, 2, 2]), ("q2", [2, 0, 0, 1], [3, 0, 1, 1])):
        for docid, grade, label in zip(DOCIDS, people, said, strict=True):
            chances = {str(g): 0.7 if g == label else 0.1 for g in range(4)}
            make_judgment(person, collection, qid, docid, grade)
            make_judgment(llm, collection, qid, docid, label, probabilities=chances)
    return pool


def test_the_text_tells_coefficients_estimates_and_what_more_labels_buy(run, pool):
    said = run("agreement", "web-holes")
    assert "People with =a_judge" in said
    assert "Means over 2 queries, 2 of them judged whole by people" in said
    assert "nDCG@10 of bm25" in said
    assert "What 50 more labels of people would make of the intervals:" in said
    assert "nan" not in said


def test_csv_has_every_coefficient_and_no_formula(run, pool):
    rows = list(csv.DictReader(io.StringIO(run("agreement", "web-holes", "--csv"))))
    assert {row["judge"] for row in rows} == {"'=a_judge"}
    (kappa,) = [row for row in rows if (row["on"], row["coefficient"]) == ("grades", "raw_agreement")]
    assert (float(kappa["value"]), kappa["pairs"], kappa["queries"]) == (0.625, "8", "2")
    assert {row["on"] for row in rows} == {"grades", ">=1", ">=2", ">=3"}


def test_json_has_everything_and_null_where_a_value_is_undefined(run, pool):
    said = json.loads(run("agreement", "web-holes", "--json"))
    assert said["judges"][0]["graded"]["raw_agreement"]["value"] == 0.625
    assert said["judges"][0]["confusion"][0] == [2, 1, 0, 0]
    assert said["people"] is None
    empty = make_pool(make_collection(documents=DOCIDS), name="empty", depth=4)
    assert json.loads(run("agreement", empty.slug, "--json"))["share_relevant"]["value"] is None


def test_markdown_and_latex_tables(run, pool):
    markdown = run("agreement", "web-holes", "--markdown")
    assert (
        "| judge | pairs | raw agreement | kappa, 4 levels | kappa, 0/123 | kappa, 01/23 * | kappa, 012/3 |" in markdown
    )
    assert "| =a_judge | 8 | .6250 [" in markdown
    latex = run("agreement", "web-holes", "--latex")
    assert r"=a\_judge & 8 & .6250 [" in latex
    assert r"\toprule" in latex
    assert "95 \\% intervals" in latex


def test_any_two_judges(run, pool):
    said = run("agreement", "web-holes", "--between", "ada", "=a_judge")
    assert "ada with =a_judge: 8 pairs judged by both" in said
    assert (
        json.loads(run("agreement", "web-holes", "--between", "people", "ada", "--json"))["graded"]["bias"]["value"]
        == 0
    )


def test_against_the_qrels_nothing_is_said_of_what_people_found(run, pool):
    printed = run("agreement", "web-holes", "--reference", "qrels")
    assert "web-holes: LLMs against qrels, who graded" in printed
    assert "relevant among the unjudged" not in printed
    assert "more labels of people" not in printed


def test_two_judges_have_no_csv(refused, pool):
    assert refused("agreement", "web-holes", "--between", "people", "ada", "--csv") == (
        "--between prints text or --json; found --csv."
    )


def test_a_collection_by_its_name_and_one_that_shares_it_with_a_pool(run, refused, pool):
    assert "web: LLMs against people, who graded 8 pairs of 2 queries" in run("agreement", "web")
    make_pool(pool.collection, pool.runs.get(), name="web", depth=1)
    assert "of 2 pairs judged by people" in run("agreement", "web")
    assert "web: LLMs against people" in run("agreement", "web", "--collection")
    make_collection("bare")
    assert refused("agreement", "bare").startswith("No LLM has judged pairs of bare: python manage.py import_judgments")


def test_a_pool_drawn_by_uncertainty(run, refused, pool):
    said = run("open_pool", "web", "--run", "bm25", "--uncertain", "=a_judge", "--budget", 5, "--name", "drawn")
    assert "drawn: 5 pairs of 2 queries to judge" in said
    assert "drawn for random: 2" in said
    assert "passed over, not drawn: 3" in said
    assert Pool.objects.get(slug="drawn").pairs.exclude(stratum="").count() == 5
    assert refused("open_pool", "web", "--run", "bm25", "--uncertain", "=a_judge", "--name", "x") == (
        "--uncertain names the LLM and --budget how many pairs to draw: give both or neither."
    )


def test_the_report_is_written_into_a_folder(run, pool, tmp_path):
    assert run("report", "web-holes", "--out", tmp_path / "r").splitlines() == [
        str(tmp_path / "r" / "report.html"), str(tmp_path / "r" / "report.md"),
    ]  # fmt: skip


def test_found_positives_as_markdown_and_as_json(run, pool):
    assert run("found_positives", "web-holes").startswith("# Found positives of web holes\n")
    entries = json.loads(run("found_positives", "web-holes", "--json"))
    assert {tuple(entry) for entry in entries} == {("query", "positive_doc", "negative_doc")}
    assert len(entries) == 3
