"""The holes of runs become a pool. Rankings are small enough to be walked by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from judging.errors import UserError
from judging.formats.scale import default_scale
from judging.models import Assignment, Collection, Judgment, LeaseState, Pair, Pool
from judging.steps import serve
from judging.steps.judgments import Said
from judging.steps.pooling import PoolOptions, open_pool
from tests.factories import make_collection, make_document, make_judgment, make_llm, make_person, make_run

pytestmark = pytest.mark.django_db


def pooled(*runs, name=None, **options):
    return open_pool(collection=runs[0].collection, runs=runs, name=name, options=PoolOptions(**options))


def queue(pool, qid="q1"):
    """Document ids with their best rank, in the order in which they are served."""
    return list(pool.pairs.filter(query__qid=qid).values_list("document__docid", "best_rank"))


@pytest.fixture
def collection():
    """Of the six documents, q1 has a judgment of d2 and of d4."""
    documents = [f"d{n}" for n in range(1, 7)]
    return make_collection(documents=documents, qrels={("q1", "d2"): 1, ("q1", "d4"): 0})


@pytest.fixture
def run(collection):
    return make_run(collection, {"q1": ["d1", "d2", "d3", "d4", "d5", "d6"]})


class TestDepth:
    def test_first_unjudged_walks_down_to_the_kth_unjudged_document(self, run):
        assert queue(pooled(run, depth=3)) == [("d1", 1), ("d3", 3), ("d5", 5)]

    def test_holes_are_the_unjudged_documents_among_the_first_k(self, run):
        assert queue(pooled(run, depth=3, mode="holes")) == [("d1", 1), ("d3", 3)]

    def test_the_end_of_the_ranking_ends_the_walk(self, run):
        assert len(queue(pooled(run, depth=100))) == len(queue(pooled(run, depth=100, mode="holes", name="b"))) == 4

    def test_a_judgment_of_another_query_is_no_judgment_of_this_one(self, collection):
        judged_elsewhere = make_collection(documents=["d1", "d2"], queries=["q1", "q2"], qrels={("q2", "d1"): 1})
        run = make_run(judged_elsewhere, {"q1": ["d1", "d2"]})
        assert queue(pooled(run, depth=1)) == [("d1", 1)]

    def test_a_negative_grade_is_a_judgment(self, collection, run):
        make_judgment(collection.qrels.get(), collection, "q1", "d1", -2)
        assert queue(pooled(run, depth=1)) == [("d3", 3)]

    def test_what_people_and_llms_said_is_no_original_judgment(self, collection, run):
        make_judgment(make_person(), collection, "q1", "d1", 1)
        make_judgment(make_llm(), collection, "q1", "d1", 1)
        assert queue(pooled(run, depth=1)) == [("d1", 1)]

    @pytest.mark.parametrize(
        ("option", "named"), [("depth", "--depth"), ("people", "--people"), ("queries", "--queries")]
    )
    def test_below_one_makes_no_sense(self, run, option, named):
        with pytest.raises(UserError, match=f"{named}: expected at least 1, found 0"):
            pooled(run, **{option: 0})


class TestWhatIsPassedOver:
    def pool(self, documents, *, judged=(), exclude_self=False, depth=2, **options):
        """A pool over one ranking: the documents (id → text) in their order, those ``judged`` with a judgment."""
        collection = make_collection(
            documents=documents,
            queries=["q"],
            qrels={("q", docid): 1 for docid in judged},
            exclude_self=exclude_self,
        )
        self.before(collection)
        return pooled(make_run(collection, {"q": list(documents)}), depth=depth, **options)

    def before(self, collection):
        """What a test does to the collection before the pool is opened."""

    def queued(self, pool):
        return [docid for docid, _ in queue(pool, "q")]

    def test_empty_documents(self):
        pool = self.pool({"e": " \n", "a": "x", "b": "y", "c": "z"})
        assert (self.queued(pool), pool.left_out) == (["a", "b"], {"empty": 1})

    def test_duplicates_of_a_judged_document(self):
        pool = self.pool({"copy": "same  text", "a": "x", "b": "y", "judged": "same text"}, judged=["judged"])
        assert (self.queued(pool), pool.left_out) == (["a", "b"], {"duplicate of a judged document": 1})

    def test_duplicates_of_a_judged_document_that_the_run_lacks(self):
        collection = make_collection(
            documents={"judged": "same", "copy": "same", "a": "x"}, qrels={("q1", "judged"): 0}
        )
        pool = pooled(make_run(collection, {"q1": ["copy", "a"]}), depth=1)
        assert (queue(pool), pool.left_out) == ([("a", 2)], {"duplicate of a judged document": 1})

    def test_duplicates_of_a_queued_document(self):
        pool = self.pool({"first": "same", "second": "same", "third": "same", "a": "x"})
        assert (self.queued(pool), pool.left_out) == (["first", "a"], {"duplicate of a queued document": 2})

    def test_documents_of_one_text_are_queued_once_a_query(self):
        collection = make_collection(documents={"a": "same", "b": "same"}, queries=["q1", "q2"])
        pool = pooled(make_run(collection, {"q1": ["a", "b"], "q2": ["b", "a"]}), depth=2)
        assert (queue(pool, "q1"), queue(pool, "q2")) == ([("a", 1)], [("b", 1)])

    def test_the_query_itself_where_the_collection_says_so(self):
        pool = self.pool({"q": "the query", "a": "x", "b": "y"}, exclude_self=True)
        assert (self.queued(pool), pool.left_out) == (["a", "b"], {"self-match": 1})

    def test_but_not_where_ids_are_equal_by_chance(self):
        assert self.queued(self.pool({"q": "another text", "a": "x"})) == ["q", "a"]

    def test_ids_without_text(self):
        self.before = lambda collection: collection.documents.filter(docid="gone").update(in_corpus=False)
        pool = self.pool({"gone": "x", "a": "y", "b": "z"})
        assert (self.queued(pool), pool.left_out) == (["a", "b"], {"without text": 1})

    def test_two_judged_ids_without_text_make_no_duplicate_of_an_empty_document(self):
        pool = self.pool({"e": "", "judged": "", "a": "x"}, judged=["judged"])
        assert pool.left_out == {"empty": 1}

    def test_what_is_passed_over_keeps_its_place_among_the_first_k_holes(self):
        pool = self.pool({"e": "", "a": "x", "b": "y"}, mode="holes")
        assert (self.queued(pool), pool.left_out) == (["a"], {"empty": 1})

    def test_a_document_of_several_runs_is_passed_over_once(self):
        collection = make_collection(documents={"e": "", "a": "x"})
        runs = [make_run(collection, {"q1": ["e", "a"]}, name=name) for name in ("a", "b")]
        assert pooled(*runs).left_out == {"empty": 1}

    def test_queries_without_text(self, collection, run):
        make_document(collection, "d7")
        collection.queries.create(qid="lost", in_corpus=False)
        with_lost = make_run(collection, {"q1": ["d1"], "lost": ["d7"]}, name="b")
        pool = pooled(run, with_lost)
        assert queue(pool, "lost") == []
        assert (pool.queries_sampled, pool.queries_available) == (1, 1)


class TestSeveralRuns:
    @pytest.fixture
    def runs(self, collection):
        return [
            make_run(collection, {"q1": ["d1", "d2", "d3"]}, name="bm25"),
            make_run(collection, {"q1": ["d5", "d3", "d1"]}, name="dense"),
        ]

    def test_each_ranking_is_walked_to_its_own_depth(self, runs):
        assert dict(queue(pooled(*runs, depth=2))).keys() == {"d1", "d3", "d5"}

    def test_a_document_has_its_best_rank(self, runs):
        assert dict(queue(pooled(*runs, depth=3))) == {"d1": 1, "d3": 2, "d5": 1}

    def test_each_pair_knows_the_runs_that_found_it(self, runs):
        pool = pooled(*runs, depth=2)
        found = {pair.document.docid: {run.name for run in pair.runs.all()} for pair in pool.pairs.all()}
        assert found == {"d1": {"bm25"}, "d3": {"bm25", "dense"}, "d5": {"dense"}}

    def test_the_order_of_the_runs_does_not_matter(self, runs):
        there, back = pooled(*runs, depth=3, name="a"), pooled(*runs[::-1], depth=3, name="b")
        assert set(queue(there)) == set(queue(back))

    def test_a_run_named_twice_counts_once(self, runs):
        pool = pooled(runs[0], runs[0], depth=2)
        assert list(pool.runs.all()) == [runs[0]]
        assert queue(pool) == [("d1", 1), ("d3", 3)]

    def test_queries_of_any_run_are_pooled(self, collection):
        collection.queries.create(qid="q2", text="second")
        runs = [make_run(collection, {qid: ["d1"]}, name=qid) for qid in ("q1", "q2")]
        pool = pooled(*runs)
        assert (queue(pool, "q1"), queue(pool, "q2")) == ([("d1", 1)], [("d1", 1)])

    def test_without_a_run_there_is_no_pool(self, collection):
        with pytest.raises(UserError, match="at least one run"):
            open_pool(collection=collection, runs=[], options=PoolOptions())


class TestSample:
    QUERIES = tuple(f"q{n:02}" for n in range(60))

    @pytest.fixture
    def run(self):
        collection = make_collection(documents=["d1", "d2"], queries=self.QUERIES)
        return make_run(collection, {qid: ["d1", "d2"] for qid in self.QUERIES})

    def drawn(self, run, **options):
        pool = pooled(run, depth=1, name=f"pool {Pool.objects.count()}", **options)
        return list(pool.pairs.values_list("query__qid", flat=True))

    def test_one_seed_draws_the_same_queries_in_the_same_order(self, run):
        assert self.drawn(run, queries=10, seed=7) == self.drawn(run, queries=10, seed=7)

    def test_another_seed_draws_others(self, run):
        assert set(self.drawn(run, queries=10, seed=1)) != set(self.drawn(run, queries=10, seed=2))

    def test_the_draw_depends_on_the_ids_alone_not_on_the_rows(self, run):
        again = make_collection(documents=["d1", "d2"], queries=self.QUERIES[::-1])
        other = make_run(again, {qid: ["d1", "d2"] for qid in self.QUERIES})
        assert self.drawn(run, queries=10, seed=3) == self.drawn(other, queries=10, seed=3)

    def test_every_query_is_drawn_about_equally_often(self, run):
        """60 draws of 10 out of 60: each query is expected ten times, with a standard deviation of three."""
        counts = Counter(qid for seed in range(60) for qid in self.drawn(run, queries=10, seed=seed))
        assert counts.total() == 600
        assert counts.keys() == set(self.QUERIES)
        assert max(counts.values()) <= 24

    def test_all_queries_come_in_random_order_too(self, run):
        """So that a pool which is judged half is still a random sample."""
        order = self.drawn(run)
        assert set(order) == set(self.QUERIES)
        assert order != list(self.QUERIES)

    def test_a_pair_knows_how_likely_it_was_to_be_drawn(self, run):
        pool = pooled(run, queries=15)
        assert (pool.queries_sampled, pool.queries_available) == (15, 60)
        assert set(pool.pairs.values_list("inclusion_probability", flat=True)) == {0.25}

    def test_more_than_there_are_is_all_of_them(self, run):
        pool = pooled(run, queries=1_000)
        assert (pool.queries_sampled, pool.queries_available) == (60, 60)
        assert set(pool.pairs.values_list("inclusion_probability", flat=True)) == {1.0}


class TestThePool:
    def test_it_keeps_what_was_asked_for(self, run):
        pool = pooled(
            run, name="My Pool", depth=4, mode="holes", people=2, seed=9, guidelines="# Read", show_known=False
        )
        pool.refresh_from_db()
        assert (pool.slug, pool.name, pool.depth, pool.mode, pool.people) == ("my-pool", "My Pool", 4, "holes", 2)
        assert (pool.seed, pool.guidelines, pool.show_known, pool.status) == (9, "# Read", False, "open")
        assert list(pool.runs.all()) == [run]

    def test_its_name_is_that_of_the_collection_unless_given(self, run):
        assert pooled(run).slug == f"{run.collection.slug}-holes"

    def test_a_name_that_is_taken_is_refused(self, run):
        pooled(run, name="holes")
        with pytest.raises(UserError, match="A pool 'holes' is there already"):
            pooled(run, name="Holes")

    @pytest.mark.parametrize("name", ["…", "x" * 101])
    def test_a_name_of_which_no_short_name_can_be_made_is_refused(self, run, name):
        with pytest.raises(UserError, match="name"):
            pooled(run, name=name)

    def test_where_nothing_is_left_to_judge_there_is_no_pool(self):
        collection = make_collection(documents={"d1": "x", "d2": "x", "d3": ""}, qrels={("q1", "d1"): 1})
        run = make_run(collection, {"q1": ["d1", "d2", "d3"]})
        with pytest.raises(UserError) as refusal:
            pooled(run, depth=3)
        assert "no hole within depth 3 of bm25 over 1 queries" in str(refusal.value)
        assert "passed over: 1 duplicate of a judged document, 1 empty" in str(refusal.value)
        assert not Pool.objects.exists()
        assert not Pair.objects.exists()

    def test_a_run_without_hits_has_nothing_to_judge(self, collection):
        with pytest.raises(UserError, match="Nothing to judge"):
            pooled(make_run(collection, {}))


class TestSlots:
    @pytest.mark.parametrize("people", [1, 3])
    def test_each_pair_has_as_many_as_people_are_wanted(self, run, people):
        pool = pooled(run, depth=2, people=people)
        assert sorted(Assignment.objects.values_list("pair__document__docid", "slot")) == [
            (docid, slot) for docid in ("d1", "d3") for slot in range(1, people + 1)
        ]
        assert set(Assignment.objects.filter(pair__pool=pool).values_list("state", flat=True)) == {"free"}

    def test_what_people_said_before_fills_them(self, collection, run):
        person = make_person()
        said = make_judgment(person, collection, "q1", "d3", 1)
        pooled(run, depth=2, people=2)
        filled = Assignment.objects.exclude(state=LeaseState.FREE).get()
        assert (filled.pair.document.docid, filled.annotator, filled.state) == ("d3", person, "done")
        assert filled.answered_at == Judgment.objects.get(pk=said.pk).updated_at

    def test_no_more_than_are_wanted_and_none_twice(self, collection, run):
        people = [make_person() for _ in range(3)]
        for person in people:
            make_judgment(person, collection, "q1", "d1", 1)
        pooled(run, depth=1, people=2, name="two")
        assert list(Assignment.objects.order_by("slot").values_list("annotator", flat=True)) == [
            person.pk for person in people[:2]
        ]
        assert Judgment.objects.by_people().count() == 3

    def test_what_an_llm_said_does_not(self, collection, run):
        make_judgment(make_llm(), collection, "q1", "d1", 1)
        pooled(run, depth=1)
        assert Assignment.objects.get().state == LeaseState.FREE

    def test_what_people_said_of_another_collection_does_not(self, run):
        other = make_collection(documents=["d1"], scale=default_scale(1))
        make_judgment(make_person(), other, "q1", "d1", 1)
        pooled(run, depth=1)
        assert Collection.objects.count() == 2
        assert Assignment.objects.get().state == LeaseState.FREE

    def test_a_second_pool_over_the_same_pairs_takes_over_what_was_said_in_the_first(self, collection, run):
        person = make_person()
        first = pooled(run, depth=1, name="first")
        pair = serve.next_pair(pool=first, annotator=person)
        serve.answer(pair=pair, annotator=person, said=Said(outcome="graded", grade=1))
        second = pooled(run, depth=2, name="second")
        states = Assignment.objects.filter(pair__pool=second).values_list("pair__document__docid", "state")
        assert set(states) == {("d1", "done"), ("d3", "free")}
