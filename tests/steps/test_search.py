"""index and retrieve, with the embedded engine."""

from __future__ import annotations

import pytest
from django.db import connection

from judging.errors import UserError
from judging.models import Collection, Run
from judging.steps.search import engine_of, index, retrieve
from tests.factories import make_collection, make_document, make_pool, make_run
from tests.steps.tracks import InterruptedAfter

pytestmark = pytest.mark.django_db

DOCUMENTS = {
    "d1": "A sea captain sailed around the world.",
    "d2": "The captain of the team.",
    "d3": "Concrete floors cost six dollars.",
    "d4": "The world of floors.",
}


@pytest.fixture
def collection():
    return make_collection(documents=DOCUMENTS, queries={"q1": "captain", "q2": "floors", "q3": "zebra"})


@pytest.fixture
def indexed(collection):
    index(collection=collection)
    return collection


def ranking(run, qid):
    return list(run.hits.filter(query__qid=qid).order_by("rank").values_list("document__docid", flat=True))


class TestIndex:
    def test_it_holds_the_corpus(self, collection):
        make_document(collection, "gone")
        collection.documents.filter(docid="gone").update(in_corpus=False)
        report = index(collection=collection)
        assert (report.documents, report.unchanged) == (4, False)
        assert engine_of(collection).info().corpus == collection.corpus_digest

    def test_the_index_of_this_very_corpus_is_used_again(self, indexed):
        report = index(collection=indexed)
        assert (report.documents, report.unchanged) == (4, True)

    def test_it_is_built_anew_when_asked(self, indexed):
        make_document(indexed, "d5")
        report = index(collection=indexed, rebuild=True)
        assert (report.documents, report.unchanged) == (5, False)

    def test_the_index_of_another_corpus_is_not_used_again(self, indexed):
        Collection.objects.update(corpus_digest="another")
        indexed.refresh_from_db()
        assert index(collection=indexed).unchanged is False

    def test_one_that_was_interrupted_leaves_the_old_one(self, indexed):
        with pytest.raises(KeyboardInterrupt):
            index(collection=indexed, rebuild=True, track=InterruptedAfter(2))
        assert engine_of(indexed).info().documents == 4

    def test_an_unknown_engine_is_refused(self, collection):
        with pytest.raises(UserError, match="tantivy, elasticsearch"):
            index(collection=collection, kind="grep")


class TestRetrieve:
    def test_a_run_holds_the_best_documents_of_each_query(self, indexed):
        report = retrieve(collection=indexed)
        assert ranking(report.run, "q1") == ["d2", "d1"]
        assert set(ranking(report.run, "q2")) == {"d3", "d4"}
        assert (report.run.name, report.queries, report.hits, report.unchanged) == ("bm25", 3, 4, False)

    def test_queries_without_a_hit_are_named(self, indexed):
        assert retrieve(collection=indexed).without_hits == ["q3"]
        assert retrieve(collection=indexed).without_hits == ["q3"]

    def test_no_more_than_the_top_is_kept(self, indexed):
        assert ranking(retrieve(collection=indexed, top=1).run, "q1") == ["d2"]

    @pytest.mark.parametrize("top", [0, -1])
    def test_a_top_below_one_is_refused(self, indexed, top):
        with pytest.raises(UserError, match=f"--top: expected at least 1, found {top}"):
            retrieve(collection=indexed, top=top)

    def test_the_run_names_every_determinant(self, indexed):
        run = retrieve(collection=indexed, top=7).run
        assert run.kind == "retrieved"
        assert run.corpus_digest == indexed.corpus_digest
        assert {"engine", "version", "analyzer", "k1", "b", "top", "exclude_self"} <= run.identity.keys()

    def test_a_repeated_term_counts_as_often_as_it_occurs_or_once_as_asked(self):
        collection = make_collection(
            documents={"d1": "captain", "d2": "floors paved", "d3": "other words"},
            queries={"q1": "captain's captains floor paving"},
        )
        index(collection=collection)
        repeated = retrieve(collection=collection).run
        distinct = retrieve(collection=collection, name="once", distinct_terms=True).run
        assert (ranking(repeated, "q1"), ranking(distinct, "q1")) == (["d1", "d2"], ["d2", "d1"])
        assert (repeated.identity["query_terms"], distinct.identity["query_terms"]) == ("repeated", "distinct")

    def test_without_an_index_the_error_says_how_to_make_one(self, collection):
        with pytest.raises(UserError, match=f"no index yet: python manage.py index {collection.slug}"):
            retrieve(collection=collection)
        assert not Run.objects.exists()

    def test_the_index_of_another_corpus_is_not_searched(self, indexed):
        Collection.objects.update(corpus_digest="another")
        indexed.refresh_from_db()
        with pytest.raises(UserError, match="another corpus"):
            retrieve(collection=indexed)
        assert not Run.objects.exists()

    def test_a_collection_without_queries_has_nothing_to_retrieve_for(self, indexed):
        indexed.queries.update(in_corpus=False)
        with pytest.raises(UserError, match="no query with a text"):
            retrieve(collection=indexed)

    def test_queries_without_text_are_not_searched(self, indexed):
        indexed.queries.filter(qid="q1").update(in_corpus=False)
        report = retrieve(collection=indexed)
        assert (report.queries, ranking(report.run, "q1")) == (2, [])

    def test_all_queries_or_nothing(self, indexed):
        with pytest.raises(KeyboardInterrupt):
            retrieve(collection=indexed, track=InterruptedAfter(2))
        assert not Run.objects.exists()
        assert retrieve(collection=indexed).hits == 4

    def test_again_it_changes_nothing(self, indexed):
        first = retrieve(collection=indexed)
        hits = set(first.run.hits.values_list("pk"))
        second = retrieve(collection=indexed)
        assert (second.unchanged, second.run, second.hits) == (True, first.run, 4)
        assert set(second.run.hits.values_list("pk")) == hits

    def test_another_making_under_the_same_name_is_refused_by_what_differs(self, indexed):
        retrieve(collection=indexed)
        with pytest.raises(UserError, match=r"another making \(top\)"):
            retrieve(collection=indexed, top=1)
        assert retrieve(collection=indexed, top=1, name="short").hits == 2
        assert retrieve(collection=indexed, top=1, replace=True).hits == 2
        assert Run.objects.count() == 2

    def test_a_run_of_an_earlier_corpus_is_refused(self, indexed):
        retrieve(collection=indexed)
        Collection.objects.update(corpus_digest="another")
        indexed.refresh_from_db()
        index(collection=indexed)
        with pytest.raises(UserError, match=r"another making \(corpus\)"):
            retrieve(collection=indexed)

    def test_a_run_in_use_is_not_replaced(self, indexed):
        run = retrieve(collection=indexed).run
        make_pool(indexed, run, name="p")
        with pytest.raises(UserError, match="used by the pool p"):
            retrieve(collection=indexed, top=1, replace=True)
        assert run.hits.count() == 4

    def test_a_replacement_that_is_interrupted_leaves_the_old_run(self, indexed):
        run = make_run(indexed, {"q1": ["d1"]}, name="bm25")
        with pytest.raises(KeyboardInterrupt):
            retrieve(collection=indexed, replace=True, track=InterruptedAfter(1))
        assert ranking(run, "q1") == ["d1"]

    def test_where_queries_are_documents_the_top_remains_without_them(self):
        documents = {f"a{n}": "captain" for n in range(4)}
        collection = make_collection(documents=documents, queries={"a2": "captain", "b": "captain"}, exclude_self=True)
        index(collection=collection)
        run = retrieve(collection=collection, top=3).run
        assert ranking(run, "a2") == ["a3", "a1", "a0"]
        assert ranking(run, "b") == ["a3", "a2", "a1"]

    def test_elsewhere_an_equal_id_is_a_coincidence(self):
        collection = make_collection(documents={"7": "captain"}, queries={"7": "captain"})
        index(collection=collection)
        assert ranking(retrieve(collection=collection).run, "7") == ["7"]

    def test_nothing_is_written_while_it_searches(self, indexed):
        """A long search inside a transaction would keep SQLite from everybody who annotates."""
        depths = []

        def looking(items, total, what):
            for item in items:
                depths.append((Run.objects.count(), len(connection.savepoint_ids)))
                yield item

        retrieve(collection=indexed, track=looking)
        assert set(depths) == {(0, 0)}
