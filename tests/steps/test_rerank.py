"""rerank, with the sentence encoder that is installed along."""

from __future__ import annotations

import pytest

from judging.engines.rerank import EMBEDDED_NAME
from judging.errors import UserError
from judging.models import Run
from judging.steps.rerank import rerank
from tests.factories import make_collection, make_document, make_pool, make_run
from tests.steps.tracks import InterruptedAfter

pytestmark = [pytest.mark.django_db, pytest.mark.models]

DOCUMENTS = {
    "gray": "Robert Gray was an American merchant sea captain.",
    "floor": "Concrete floors cost six dollars a square foot.",
    "wing": "Air flows faster above the wing of an aircraft.",
    "other": "The parliament met in spring.",
}
QUERIES = {"q1": "who is robert gray", "q2": "price of a concrete floor", "q3": "how do wings make lift"}
WORST_FIRST = {"q1": ["floor", "wing", "gray"], "q2": ["gray", "wing", "floor"], "q3": ["gray", "floor", "wing"]}


@pytest.fixture
def collection():
    return make_collection(documents=DOCUMENTS, queries=QUERIES)


@pytest.fixture
def parent(collection):
    return make_run(collection, WORST_FIRST)


def reranked(parent, **options):
    return rerank(collection=parent.collection, parent=parent, **{"model": "embedded", **options})


def ranking(run, qid):
    return list(run.hits.filter(query__qid=qid).order_by("rank").values_list("document__docid", flat=True))


def test_what_answers_the_query_comes_first(parent):
    report = reranked(parent)
    assert [ranking(report.run, qid)[0] for qid in QUERIES] == ["gray", "floor", "wing"]
    assert (report.queries, report.unchanged, report.resumed_after) == (3, False, 0)


def test_the_run_is_called_as_its_model_and_names_every_determinant(parent):
    run = reranked(parent).run
    assert (run.name, run.kind, run.parent) == (EMBEDDED_NAME, "reranked", parent)
    assert {"model", "revision", "dtype", "window", "versions", "top"} <= run.identity.keys()
    assert run.completed_at is not None


def test_scores_fall_and_ranks_count_from_one(parent):
    rows = list(reranked(parent).run.hits.filter(query__qid="q1").order_by("rank").values_list("rank", "score"))
    assert [rank for rank, _ in rows] == [1, 2, 3]
    assert [score for _, score in rows] == sorted((score for _, score in rows), reverse=True)


def test_ties_stand_by_document_id_descending():
    collection = make_collection(documents=dict.fromkeys(["10", "9", "b"], "the same text"))
    assert ranking(reranked(make_run(collection, {"q1": ["10", "b", "9"]})).run, "q1") == ["b", "9", "10"]


def test_only_the_top_is_rescored(parent):
    assert set(ranking(reranked(parent, top=2).run, "q1")) == {"floor", "wing"}


@pytest.mark.parametrize("top", [0, -5])
def test_a_top_below_one_is_refused(parent, top):
    with pytest.raises(UserError, match=f"--top: expected at least 1, found {top}"):
        reranked(parent, top=top)


def test_ids_without_document_are_not_rescored(parent):
    parent.collection.documents.filter(docid="gray").update(in_corpus=False)
    assert set(ranking(reranked(parent).run, "q1")) == {"floor", "wing"}


def test_a_run_of_such_ids_alone_has_nothing_to_rerank_and_leaves_no_run(parent):
    parent.collection.documents.update(in_corpus=False)
    with pytest.raises(UserError, match="no hit with a text"):
        reranked(parent)
    assert list(Run.objects.all()) == [parent]


def test_an_interrupted_run_goes_on_where_it_stopped(parent):
    with pytest.raises(KeyboardInterrupt):
        reranked(parent, track=InterruptedAfter(2))
    half = Run.objects.get(name=EMBEDDED_NAME)
    kept = set(half.hits.values_list("pk"))
    assert (half.completed_at, len(kept)) == (None, 6)
    report = reranked(parent)
    assert (report.run, report.resumed_after, report.unchanged) == (half, 2, False)
    assert kept < set(report.run.hits.values_list("pk"))
    assert (report.run.hits.count(), report.run.completed_at is not None) == (9, True)


def test_it_gives_the_same_run_whether_interrupted_or_not(parent):
    with pytest.raises(KeyboardInterrupt):
        reranked(parent, track=InterruptedAfter(1))
    resumed = reranked(parent).run
    whole = reranked(parent, name="whole").run
    fields = ("query", "document", "rank", "score")
    assert set(resumed.hits.values_list(*fields)) == set(whole.hits.values_list(*fields))


def test_again_it_changes_nothing(parent):
    first = reranked(parent)
    hits = set(first.run.hits.values_list("pk"))
    second = reranked(parent)
    assert (second.unchanged, second.run) == (True, first.run)
    assert set(second.run.hits.values_list("pk")) == hits


@pytest.mark.parametrize(("options", "what"), [({"dtype": "bfloat16"}, "dtype"), ({"top": 2}, "top")])
def test_other_settings_under_the_same_name_are_refused(parent, options, what):
    run = reranked(parent).run
    with pytest.raises(UserError, match=rf"another making \({what}\)"):
        reranked(parent, **options)
    assert run.hits.count() == 9
    assert reranked(parent, name="beside", **options).run != run


def test_an_interrupted_run_is_not_gone_on_with_in_another_way(parent):
    with pytest.raises(KeyboardInterrupt):
        reranked(parent, track=InterruptedAfter(1))
    with pytest.raises(UserError, match=r"another making \(dtype\)"):
        reranked(parent, dtype="bfloat16")


def test_replacing_makes_it_anew(parent):
    old = reranked(parent).run
    new = reranked(parent, top=2, replace=True).run
    assert (new.name, new.hits.count()) == (old.name, 6)
    assert not Run.objects.filter(pk=old.pk).exists()


def test_a_run_in_use_is_not_replaced(parent):
    run = reranked(parent).run
    make_pool(parent.collection, run, name="p")
    reranked(run, name="twice")
    with pytest.raises(UserError, match="used by the pool p, the run twice"):
        reranked(parent, top=2, replace=True)
    assert run.hits.count() == 9


def test_a_run_is_not_replaced_by_its_own_reranking(parent):
    with pytest.raises(UserError, match="used by the run that is to take its place"):
        reranked(parent, name=parent.name, replace=True)
    assert parent.hits.count() == 9


def test_another_parents_run_of_the_same_model_is_named_with_it(parent):
    reranked(parent)
    other = make_run(parent.collection, WORST_FIRST, name="dense")
    assert reranked(other).run.name == f"{EMBEDDED_NAME} < dense"
    assert reranked(other).unchanged is True


def test_documents_that_joined_the_corpus_later_are_no_part_of_it(parent):
    make_document(parent.collection, "late")
    assert "late" not in ranking(reranked(parent).run, "q1")
