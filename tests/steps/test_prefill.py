"""An LLM judges the pairs of a pool: each once, by however many workers, whatever stops them."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from judging.engines.llm.base import Answer
from judging.engines.llm.prompts import load_prompt
from judging.errors import UserError
from judging.models import Judge, Judgment, JudgmentEvent, LeaseState, PrefillTask
from judging.steps.prefill import Order, judge_pool, llm_judge, queue
from tests.factories import make_collection, make_document, make_judgment, make_pool, make_run


class Reader:
    """An LLM that answers 1, unless told otherwise, and remembers what it was asked."""

    name = "reader pointwise"

    def __init__(self, answer=lambda question: Answer("graded", 1), *, before=lambda: None, **identity):
        self.answer, self.before, self._identity = answer, before, identity
        self.asked = []
        self.questions = []

    def identity(self):
        return {"model": "reader", **self._identity}

    def judge(self, questions):
        self.before()
        self.questions += questions
        self.asked += [(question.query.id, question.document.id) for question in questions]
        return [self.answer(question) for question in questions]


@pytest.fixture
def collection(db):
    return make_collection(
        documents={**{f"d{n}": f"text of {n}" for n in range(1, 6)}, "k": "known", "best": "the best"},
        queries={"q1": "who is robert gray", "q2": "what is lift"},
        qrels={("q1", "k"): 1, ("q1", "best"): 1, ("q2", "best"): 0},
    )


@pytest.fixture
def pool(collection):
    run = make_run(collection, {"q1": ["d3", "d1", "d2", "d5", "d4"], "q2": ["d2", "d5", "d1", "d4", "d3"]})
    return make_pool(collection, run)


def order_of(pool):
    return list(pool.pairs.values_list("query__qid", "document__docid"))


def judged(**narrowed):
    rows = Judgment.objects.filter(judge__kind="llm", **narrowed).order_by("pk")
    return list(rows.values_list("query__qid", "document__docid"))


def expire_leases():
    PrefillTask.objects.filter(state=LeaseState.LEASED).update(leased_until=timezone.now() - timedelta(seconds=1))


def states():
    return set(PrefillTask.objects.values_list("state", flat=True))


def failing(times, reason="out of memory"):
    """Fails at the first documents so often, then answers."""
    left = {"d3": times}

    def answer(question):
        left[question.document.id] = left.get(question.document.id, 0) - 1
        return Answer("failed", raw=reason) if left[question.document.id] >= 0 else Answer("graded", 0)

    return answer


def test_every_pair_is_judged_once_in_the_order_in_which_people_get_them(pool):
    llm = Reader()
    report = judge_pool(llm=llm, pool=pool)
    assert llm.asked == judged() == order_of(pool)
    assert (report.outcomes, report.already, report.held_by_others) == ({"graded": 10}, 0, 0)
    assert states() == {"done"}
    assert JudgmentEvent.objects.count() == 10


def test_a_second_call_asks_nothing(pool):
    judge_pool(llm=Reader(), pool=pool)
    again = Reader()
    report = judge_pool(llm=again, pool=pool)
    assert (again.asked, report.outcomes, report.already) == ([], {}, 10)


def test_what_the_judge_is_can_be_read_from_it(pool):
    judge = judge_pool(llm=Reader(revision="abc"), pool=pool).judge
    assert (judge.kind, judge.name, judge.configuration) == (
        "llm",
        "reader pointwise",
        {"model": "reader", "revision": "abc"},
    )


@pytest.mark.django_db
def test_what_the_model_is_asked_is_kept_to_be_read():
    reader = Reader()
    assert llm_judge(reader).prompt == ""
    other = Reader(revision="2")
    other.prompt = load_prompt("pointwise")
    assert llm_judge(other).prompt.endswith(f"[user]\n{other.prompt.user}")


def test_another_revision_is_another_judge_and_their_judgments_do_not_mix(pool):
    one = judge_pool(llm=Reader(revision="a"), pool=pool).judge
    other = judge_pool(llm=Reader(lambda question: Answer("graded", 0), revision="b"), pool=pool).judge
    assert one != other
    assert set(one.judgments.values_list("grade", flat=True)) == {1}
    assert set(other.judgments.values_list("grade", flat=True)) == {0}
    assert judge_pool(llm=Reader(revision="a"), pool=pool).judge == one


def test_all_that_an_answer_says_is_kept(pool):
    answer = Answer("graded", 1, {0: 0.25, 1: 0.5}, " 1", seconds=0.5, truncated=True)
    judge_pool(llm=Reader(lambda question: answer), pool=pool, limit=1)
    row = Judgment.objects.get(judge__kind="llm")
    assert (row.grade, row.probabilities, row.raw, row.seconds, row.truncated, row.assisted) == (
        1, {"0": 0.25, "1": 0.5}, " 1", 0.5, True, False,
    )  # fmt: skip


@pytest.mark.parametrize("outcome", ["unparsed", "out_of_scale"])
def test_what_could_not_be_read_is_kept_without_a_grade(pool, outcome):
    report = judge_pool(llm=Reader(lambda question: Answer(outcome, raw="well, 5")), pool=pool)
    assert report.outcomes == {outcome: 10}
    assert set(Judgment.objects.filter(judge=report.judge).values_list("outcome", "grade", "raw")) == {
        (outcome, None, "well, 5")
    }


def test_a_failure_is_tried_once_more(pool):
    llm = Reader(failing(times=1))
    assert judge_pool(llm=llm, pool=pool).outcomes == {"graded": 10}
    assert len(llm.asked) == 11


def test_a_second_failure_is_kept_with_its_reason(pool):
    llm = Reader(failing(times=9), part="both")
    report = judge_pool(llm=llm, pool=pool)
    assert report.outcomes == {"failed": 2, "graded": 8}
    assert len(llm.asked) == 12
    assert set(Judgment.objects.filter(outcome="failed").values_list("document__docid", "grade", "raw")) == {
        ("d3", None, "out of memory")
    }
    assert judge_pool(llm=Reader(part="both"), pool=pool).outcomes == {}


def test_what_was_kept_as_failed_is_asked_again_on_demand_and_its_history_stays(pool):
    judge_pool(llm=Reader(failing(times=9)), pool=pool)
    well = Reader()
    report = judge_pool(llm=well, pool=pool, retry_failed=True)
    assert (report.outcomes, report.already) == ({"graded": 2}, 8)
    assert {document for _, document in well.asked} == {"d3"}
    events = JudgmentEvent.objects.filter(judgment__document__docid="d3", judgment__query__qid="q1")
    assert list(events.values_list("outcome", "grade")) == [("failed", None), ("graded", 1)]
    assert judge_pool(llm=Reader(), pool=pool, retry_failed=True).outcomes == {}


def test_a_limit_stops_after_so_many_pairs(pool):
    assert judge_pool(llm=Reader(), pool=pool, limit=3).outcomes == {"graded": 3}
    assert judged() == order_of(pool)[:3]
    assert judge_pool(llm=Reader(), pool=pool, limit=20).outcomes == {"graded": 7}


def test_a_failing_pair_counts_once_towards_the_limit(pool):
    llm = Reader(lambda question: Answer("failed", raw="no"))
    assert judge_pool(llm=llm, pool=pool, limit=1).outcomes == {"failed": 1}
    assert llm.asked == [order_of(pool)[0]] * 2


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(pool, limit):
    with pytest.raises(UserError, match=f"--limit: expected at least 1, found {limit}"):
        judge_pool(llm=Reader(), pool=pool, limit=limit)


def test_an_order_that_nothing_tells_makes_no_judge(pool):
    with pytest.raises(UserError, match="No other LLM gave probabilities"):
        judge_pool(llm=Reader(), pool=pool, order=Order("uncertain"))
    assert not Judge.objects.filter(kind="llm").exists()
    assert not PrefillTask.objects.exists()


def test_the_reason_of_the_latest_failure_is_reported(pool):
    assert judge_pool(llm=Reader(failing(times=9)), pool=pool).failure == "out of memory"
    assert judge_pool(llm=Reader(), pool=pool, retry_failed=True).failure == ""


def test_what_another_worker_has_in_hand_is_left_to_it_and_counted(pool):
    judge = llm_judge(Reader())
    queue(pool=pool, judge=judge)
    PrefillTask.objects.order_by("pk").claim(lease=timedelta(minutes=1), limit=3, worker="another:1")
    report = judge_pool(llm=Reader(), pool=pool)
    assert (report.outcomes, report.held_by_others) == ({"graded": 7}, 3)


def test_the_pairs_of_a_killed_worker_are_taken_over_when_its_lease_has_run_out(pool):
    judge = llm_judge(Reader())
    queue(pool=pool, judge=judge)
    PrefillTask.objects.order_by("pk").claim(lease=timedelta(minutes=1), limit=3, worker="killed:1")
    judge_pool(llm=Reader(), pool=pool)
    expire_leases()
    report = judge_pool(llm=Reader(), pool=pool)
    assert (report.outcomes, report.already, report.held_by_others) == ({"graded": 3}, 7, 0)
    assert sorted(judged()) == sorted(order_of(pool))


def test_two_workers_share_the_pairs(pool):
    other = Reader()
    calls = iter([lambda: None, lambda: judge_pool(llm=other, pool=pool, limit=4)])
    one = Reader(before=lambda: next(calls, lambda: None)())
    judge_pool(llm=one, pool=pool)
    assert len(other.asked) == 4
    assert sorted(one.asked + other.asked) == sorted(order_of(pool))
    assert JudgmentEvent.objects.count() == 10


def test_a_late_answer_to_a_pair_that_another_worker_took_over_is_dropped(pool):
    def sleep_while_another_judges_everything():
        expire_leases()
        judge_pool(llm=Reader(lambda question: Answer("graded", 0)), pool=pool)

    report = judge_pool(llm=Reader(before=sleep_while_another_judges_everything), pool=pool)
    assert report.outcomes == {}
    assert set(Judgment.objects.filter(judge__kind="llm").values_list("grade", flat=True)) == {0}
    assert JudgmentEvent.objects.count() == 10


def test_a_late_answer_to_a_pair_that_nobody_took_over_counts(pool):
    assert judge_pool(llm=Reader(before=expire_leases), pool=pool, limit=1).outcomes == {"graded": 1}


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_was_claimed_is_free_at_once_when_the_llm_is_stopped(pool, error):
    calls = iter([None, None, error])

    def stop():
        if problem := next(calls, None):
            raise problem

    with pytest.raises(error):
        judge_pool(llm=Reader(before=stop), pool=pool)
    assert len(judged()) == 3
    assert states() == {"done", "free"}
    assert judge_pool(llm=Reader(), pool=pool).outcomes == {"graded": 7}


def test_ctrl_c_between_two_answers_frees_what_is_left_of_the_batch(pool):
    def two_only(items, total, what):
        for n, item in enumerate(items, 1):
            yield item
            if n == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_pool(llm=Reader(), pool=pool, track=two_only)
    assert judged() == order_of(pool)[:2]
    assert states() == {"done", "free"}
    assert judge_pool(llm=Reader(), pool=pool).outcomes == {"graded": 8}
    assert sorted(judged()) == sorted(order_of(pool))


def test_an_interrupted_pair_still_has_both_its_tries(pool):
    calls = iter([KeyboardInterrupt])

    def stop_once():
        if problem := next(calls, None):
            raise problem

    llm = Reader(failing(times=1), before=stop_once)
    with pytest.raises(KeyboardInterrupt):
        judge_pool(llm=llm, pool=pool)
    assert judge_pool(llm=llm, pool=pool).outcomes == {"graded": 10}


def test_pairs_that_the_llm_judged_in_another_pool_are_not_asked_again(pool, collection):
    other = make_pool(collection, pool.runs.get(), name="other", depth=2)
    assert judge_pool(llm=Reader(), pool=other).outcomes == {"graded": 4}
    report = judge_pool(llm=Reader(), pool=pool)
    assert (report.outcomes, report.already) == ({"graded": 6}, 4)


def test_nor_those_that_it_judged_there_after_they_were_queued_here(pool, collection):
    other = make_pool(collection, pool.runs.get(), name="other", depth=2)
    judge_pool(llm=Reader(), pool=pool, limit=1)
    judge_pool(llm=Reader(), pool=other)
    judge_pool(llm=Reader(), pool=pool)
    assert JudgmentEvent.objects.count() == len(set(judged())) == 10


def test_documents_that_left_the_corpus_are_not_asked(pool, collection):
    collection.documents.filter(docid="d1").update(in_corpus=False)
    llm = Reader()
    judge_pool(llm=llm, pool=pool)
    assert len(llm.asked) == 8
    assert "d1" not in {document for _, document in llm.asked}


def test_nor_are_documents_of_a_query_that_left_it(pool, collection):
    collection.queries.filter(qid="q2").update(in_corpus=False)
    llm = Reader()
    judge_pool(llm=llm, pool=pool)
    assert {query for query, _ in llm.asked} == {"q1"}


def test_nor_those_that_were_queued_before_they_left(pool, collection):
    judge_pool(llm=Reader(), pool=pool, limit=1)
    collection.queries.filter(qid="q2").update(in_corpus=False)
    llm = Reader()
    judge_pool(llm=llm, pool=pool)
    assert {query for query, _ in llm.asked} == {"q1"}
    assert not PrefillTask.objects.exclude(state="done").exists()


def test_a_question_has_query_and_document_and_the_best_known_one_where_there_is_one(pool, collection):
    make_document(collection, "a", "better than it looks", title="T")
    make_document(collection, "0", " ")
    qrels = collection.qrels.get()
    make_judgment(qrels, collection, "q1", "a", 3)
    make_judgment(qrels, collection, "q1", "0", 4)
    llm = Reader()
    judge_pool(llm=llm, pool=pool)
    known = {question.query.id: question.known and question.known.full_text for question in llm.questions}
    assert known == {"q1": "T better than it looks", "q2": None}
    texts = {(question.query.text, question.document.text) for question in llm.questions}
    assert ("who is robert gray", "text of 3") in texts


def test_of_known_ones_with_the_same_grade_the_first_by_id_is_shown(pool):
    llm = Reader()
    judge_pool(llm=llm, pool=pool)
    assert {q.known.id for q in llm.questions if q.query.id == "q1"} == {"best"}


def test_queueing_twice_makes_every_task_once(pool):
    judge = llm_judge(Reader())
    assert [queue(pool=pool, judge=judge) for _ in range(2)] == [10, 0]


@pytest.mark.django_db(transaction=True)
def test_workers_that_start_together_make_every_task_once(collection, pool):
    judge = llm_judge(Reader())
    start, made = threading.Barrier(4), []

    def worker():
        start.wait()
        try:
            made.append(queue(pool=pool, judge=judge))
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [0, 0, 0, 10]
