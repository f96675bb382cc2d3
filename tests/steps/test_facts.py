"""A collection in figures, which are true after each change of what they were computed from."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from judging.formats.scale import default_scale
from judging.models import Document, Judge, Judgment, Run
from judging.steps.facts import Facts, facts, next_thing, run_table
from tests.factories import make_collection, make_document, make_judgment, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


@pytest.fixture
def collection():
    return make_collection(
        documents={"d1": "same", "d2": " same ", "d3": "other", "d4": " ", "d5": ""},
        queries=["q1", "q2", "q3"],
        qrels={("q1", "d1"): 1, ("q1", "d3"): 0, ("q1", "d2"): -1, ("q2", "d1"): 1},
    )


def ndcg(collection):
    return [row.before["nDCG@10"].mean for row in run_table(collection, ["nDCG@10"])]


def test_the_table_that_a_paper_would_print(collection):
    make_document(collection, "gone", "")
    Document.objects.filter(docid="gone").update(in_corpus=False)
    collection.queries.filter(qid="q3").update(in_corpus=False)
    assert facts(collection) == Facts(
        documents=5,
        queries=2,
        judgments=4,
        grades={-1: 1, 0: 1, 1: 2},
        negative_grades=1,
        per_query=(1, 3, 3),
        empty=2,
        duplicates=2,
        documents_missing=1,
        queries_missing=1,
    )


def test_a_collection_without_qrels_has_no_judgments_a_query():
    found = facts(make_collection())
    assert (found.judgments, found.grades, found.per_query) == (0, {}, None)


def test_other_collections_are_not_counted(collection):
    before = facts(collection)
    make_collection(documents=["d1", "d2"], qrels={("q1", "d1"): 1})
    assert facts(collection) == before


def test_the_corpus_is_counted_once_and_again_after_it_has_changed(collection, django_assert_num_queries):
    facts(collection)
    with django_assert_num_queries(5):
        facts(collection)
    make_document(collection, "d6", "same")
    assert (facts(collection).documents, facts(collection).duplicates) == (6, 3)
    Document.objects.filter(docid="d6").update(in_corpus=False, text="", is_empty=True)
    collection.corpus_digest = "another"
    collection.save()
    assert (facts(collection).documents, facts(collection).documents_missing) == (5, 1)


def test_the_table_of_runs_has_every_complete_run(collection):
    make_run(collection, {"q1": ["d1", "d2", "d3"], "q2": ["d1"]}, name="one")
    make_run(collection, {"q1": ["d3"], "q2": ["d3"]}, name="two")
    make_run(collection, {"q1": ["d1"]}, name="broken", complete=False)
    table = run_table(collection, ["nDCG@10", "judged@10"])
    assert [row.run.name for row in table] == ["one", "two"]
    assert [row.before["nDCG@10"].mean for row in table] == [1, 0]
    assert [row.before["judged@10"].mean for row in table] == [1, 0.5]


def test_the_second_look_reads_no_ranking(collection, django_assert_num_queries):
    make_run(collection, {"q1": ["d1", "d2", "d3"]})
    first = run_table(collection, ["nDCG@10"])
    with django_assert_num_queries(2):
        assert run_table(collection, ["nDCG@10"]) == first


def test_the_qrels_are_read_once_for_all_new_runs(collection, django_assert_num_queries):
    for name in ("one", "two", "three"):
        make_run(collection, {"q1": ["d1", "d2", "d3"]}, name=name)
    with django_assert_num_queries(2 + 1 + 3):
        run_table(collection, ["nDCG@10"])


def test_a_grade_that_was_changed_in_place_changes_the_scores(collection):
    make_run(collection, {"q1": ["d3", "d1", "d2"], "q2": ["d1"]})
    before = ndcg(collection)
    Judgment.objects.filter(query__qid="q1", document__docid="d3").update(grade=1)
    assert ndcg(collection) != before


def test_two_grades_that_changed_places_change_the_scores(collection):
    make_run(collection, {"q1": ["d3", "d1", "d2"], "q2": ["d1"]})
    before = ndcg(collection)
    Judgment.objects.filter(query__qid="q1", document__docid="d3").update(grade=1)
    Judgment.objects.filter(query__qid="q1", document__docid="d1").update(grade=0)
    assert ndcg(collection) != before


def test_qrels_that_were_replaced_by_as_many_others_change_the_scores(collection):
    make_run(collection, {"q1": ["d3", "d1", "d2"], "q2": ["d1"]})
    before = ndcg(collection)
    judge = Judge.objects.get()
    Judgment.objects.all().delete()
    for docid, grade in (("d3", 1), ("d1", 0), ("d2", -1), ("d4", 1)):
        make_judgment(judge, collection, "q1", docid, grade)
    assert ndcg(collection) != before


def test_a_run_that_was_made_again_is_measured_again(collection):
    run = make_run(collection, {"q1": ["d3", "d1"], "q2": ["d1"]})
    before = ndcg(collection)
    Run.objects.filter(pk=run.pk).delete()
    make_run(collection, {"q1": ["d1", "d3"], "q2": ["d1"]})
    assert ndcg(collection) != before


def test_other_measures_have_scores_of_their_own(collection):
    make_run(collection, {"q1": ["d1"]})
    assert list(run_table(collection, ["nDCG@10"])[0].before) == ["nDCG@10"]
    assert list(run_table(collection, ["P@1"])[0].before) == ["P@1"]


def test_without_qrels_there_is_no_table():
    collection = make_collection()
    make_run(collection, {"q1": ["d1"]})
    assert run_table(collection, ["nDCG@10"]) == []


def test_the_next_thing_leads_from_the_index_to_the_pool():
    collection = make_collection("nf", scale=default_scale(1))
    assert next_thing(collection) == "python manage.py index nf && python manage.py retrieve nf"
    run = make_run(collection, {"q1": ["d1"]})
    assert next_thing(collection) == "python manage.py rerank nf"
    Run.objects.create(collection=collection, name="reranked", kind="reranked", parent=run)
    assert next_thing(collection) == "python manage.py open_pool nf --run RUN"
    make_pool(collection, run)
    assert next_thing(collection) == ""
