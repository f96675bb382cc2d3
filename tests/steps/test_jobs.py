"""LLMs that were asked for: one job however often it is asked, taken up by workers, and left as somebody can go on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from judging.engines.llm import Server
from judging.engines.llm.base import Answer
from judging.errors import UserError
from judging.models import Judge, Judgment, PrefillJob, PrefillTask
from judging.steps import jobs, prompts, worker
from judging.steps.delete import delete_pool
from judging.steps.prefill import LlmOptions, Order, judge_pool
from tests.engines.llm.serving import refuses, says, serving
from tests.factories import make_collection, make_judgment, make_llm, make_pool
from tests.steps.test_prefill import Reader

pytestmark = pytest.mark.django_db


ANSWER = says("1")


@pytest.fixture
def pool():
    return make_pool(make_collection("cran", documents=[f"d{n}" for n in range(6)]), name="cran", depth=6)


def served(url: str, **options: object) -> LlmOptions:
    """A model behind a server: no weights need to be loaded."""
    return LlmOptions("phi", server=Server(url, concurrency=1, retries=0), **options)


NOWHERE = served("http://127.0.0.1:9/v1")


def judged() -> int:
    return Judgment.objects.filter(judge__kind="llm").count()


def state() -> str:
    return PrefillJob.objects.get().state


def work(**options: object) -> int:
    """Take up jobs until there is none; how many."""
    count = 0
    while job := worker.take(**options):
        worker.work_at(job=job)
        count += 1
    return count


# --- Asking -----------------------------------------------------------------------------------------------------------


def test_asked_twice_it_is_one_job_with_the_latest_order_and_limit(pool):
    lea = User.objects.create_user("lea")
    first = jobs.ask(pool=pool, llm=NOWHERE, limit=5)
    again = jobs.ask(pool=pool, llm=NOWHERE, order=Order("rank"), by=lea)
    assert first == again
    job = PrefillJob.objects.get()
    assert (job.state, job.first, job.limit, job.asked_by) == ("queued", "rank", None, lea)


def test_how_a_server_is_asked_makes_no_other_job_but_the_prompt_and_the_model_do(pool):
    jobs.ask(pool=pool, llm=NOWHERE)
    jobs.ask(pool=pool, llm=LlmOptions(" phi ", server=Server("http://127.0.0.1:9/v1/", concurrency=3)))
    assert PrefillJob.objects.count() == 1
    for other in (served("http://127.0.0.1:9/v1", prompt="graded"), served("http://127.0.0.1:8/v1"), LlmOptions("phi")):
        jobs.ask(pool=pool, llm=other)
    assert PrefillJob.objects.count() == 4


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"llm": LlmOptions("phi", prompt="poetic")}, "There is no prompt 'poetic'. There are: graded, known"),
        ({"llm": LlmOptions("phi", dtype="int3")}, "--dtype: expected one of .*, found 'int3'"),
        ({"llm": LlmOptions(" ")}, "Expected the name of a model, found nothing"),
        ({"llm": LlmOptions("http://x/v1")}, "found the address 'http://x/v1'"),
        ({"llm": NOWHERE, "limit": 0}, "Expected a limit of at least 1, found 0"),
        ({"llm": NOWHERE, "order": Order("luck")}, "found 'luck'"),
        ({"llm": NOWHERE, "order": Order("uncertain")}, "No other LLM gave probabilities"),
    ],
)
def test_what_can_be_told_to_be_wrong_is_said_when_asking(pool, options, problem):
    with pytest.raises(UserError, match=problem):
        jobs.ask(pool=pool, **options)
    assert not PrefillJob.objects.exists()


@pytest.mark.parametrize("called", ["phi pointwise", "phi pointwise · 12345678", "123456"])
@pytest.mark.parametrize("server", [None, Server("http://127.0.0.1:9/v1")])
def test_a_judge_is_no_model_and_the_refusal_says_what_it_is_made_of(pool, called, server):
    made_of = {"model": "org/phi", "prompt": "pointwise"}
    Judge.objects.create(kind="llm", name="phi pointwise", configuration=made_of, fingerprint="12345678" * 8)
    with pytest.raises(UserError, match=r"found the judge 'phi pointwise · 12345678'.* 'org/phi' .* 'pointwise'"):
        jobs.ask(pool=pool, llm=LlmOptions(called, server=server))
    assert not PrefillJob.objects.exists()


def test_a_calibrated_judge_cannot_be_asked_and_the_refusal_says_what_to_do_instead(pool):
    base = {"name": "phi pointwise", "fingerprint": "abcdef12" * 8}
    derived = make_llm("phi pointwise calibrated", base=base, thresholds=[0.5], model="org/phi")
    for called in (derived.name, derived.label):
        with pytest.raises(UserError, match=r"what 'phi pointwise' answers.* llm_calibrate POOL --judge abcdef12"):
            jobs.ask(pool=pool, llm=LlmOptions(called))
    assert not PrefillJob.objects.exists()


def test_six_characters_of_a_fingerprint_name_a_judge_and_fewer_may_name_a_model(pool):
    judge = make_llm("phi pointwise", prompt="pointwise", model="org/phi")
    with pytest.raises(UserError, match="found the judge"):
        jobs.ask(pool=pool, llm=LlmOptions(judge.fingerprint[:6]))
    assert jobs.ask(pool=pool, llm=LlmOptions(judge.fingerprint[:5])).state == "queued"


def test_labels_made_elsewhere_may_have_the_name_of_the_model_that_is_asked(pool):
    Judge.objects.create(kind="llm", name="gpt-4o")
    make_llm("gpt-4o", model="gpt-4o")
    assert jobs.ask(pool=pool, llm=LlmOptions("gpt-4o")).state == "queued"


def test_asked_again_by_uncertainty_a_judge_does_not_stand_in_its_own_way(pool):
    made_of = {"probabilities": {"0": 0.5, "1": 0.5}}
    make_judgment(make_llm("uncertain"), pool.collection, "q1", "d1", 1, **made_of)
    job = jobs.ask(pool=pool, llm=NOWHERE, order=Order("uncertain"))
    job.judge = make_llm("phi pointwise")
    job.save()
    make_judgment(job.judge, pool.collection, "q1", "d1", 1, **made_of)
    assert jobs.ask(pool=pool, llm=NOWHERE, order=Order("uncertain")) == job


# --- Working ----------------------------------------------------------------------------------------------------------


def test_a_worker_does_what_was_asked_and_says_who_the_judge_was(pool):
    with serving(ANSWER) as server:
        jobs.ask(pool=pool, llm=served(server.url))
        assert work() == 1
    job = PrefillJob.objects.select_related("judge").get()
    assert (job.state, job.judge.name, judged()) == ("done", "phi pointwise", 6)
    assert job.started_at <= job.finished_at
    assert set(Judgment.objects.values_list("prompt_tokens", "completion_tokens")) == {(100, 2)}


def test_a_limit_is_kept_and_asking_again_counts_anew(pool):
    with serving(ANSWER) as server:
        for done in (4, 6):
            jobs.ask(pool=pool, llm=served(server.url), limit=4)
            assert work() == 1
            assert (state(), judged()) == ("done", done)


def test_two_workers_never_take_more_than_the_limit_together(pool):
    llm = Reader()
    job = jobs.ask(pool=pool, llm=NOWHERE, limit=3)
    PrefillJob.objects.update(state="running")
    other = Reader()
    calls = iter([lambda: None, lambda: judge_pool(llm=other, pool=pool, job=job)])
    llm.before = lambda: next(calls, lambda: None)()
    judge_pool(llm=llm, pool=pool, job=job)
    assert judged() == 3


def test_what_cannot_be_loaded_fails_with_the_reason_and_can_be_asked_again(pool, monkeypatch):
    with serving(ANSWER) as server:
        llm = LlmOptions("phi", server=Server(server.url, key_variable="NO_SUCH_KEY"))
        jobs.ask(pool=pool, llm=llm)
        work()
        job = PrefillJob.objects.get()
        assert (job.state, judged()) == ("failed", 0)
        assert "environment variable NO_SUCH_KEY" in job.error
        monkeypatch.setenv("NO_SUCH_KEY", "secret")
        jobs.ask(pool=pool, llm=llm)
        work()
    job.refresh_from_db()
    assert (job.state, job.error, judged()) == ("done", "", 6)
    assert "secret" not in str(PrefillJob.objects.values())


def test_a_library_that_raises_fails_the_job_with_what_it_said(pool, monkeypatch, caplog):
    jobs.ask(pool=pool, llm=NOWHERE)
    monkeypatch.setattr(LlmOptions, "start", lambda *_: 1 / 0)
    work()
    job = PrefillJob.objects.get()
    assert (job.state, job.error) == ("failed", "ZeroDivisionError: division by zero")
    assert "ZeroDivisionError" in caplog.text


def test_a_server_that_refuses_everything_is_given_up(db):
    pool = make_pool(make_collection(documents=[f"d{n}" for n in range(40)]), depth=40)
    with serving(refuses(400, "no such thing")) as server:
        jobs.ask(pool=pool, llm=served(server.url))
        work()
        asked = len(server.asked)
    job = PrefillJob.objects.get()
    assert job.state == "failed"
    assert "in a row failed, the latest with: HTTP 400: no such thing" in job.error
    assert 20 <= asked < 40


def test_pairs_that_cannot_be_asked_are_no_reason_to_give_up(db):
    pool = make_pool(make_collection(documents=[f"d{n}" for n in range(40)]), depth=40)
    llm = Reader(lambda question: Answer("failed", raw="no known document"))
    assert judge_pool(llm=llm, pool=pool).outcomes == {"failed": 40}


def test_a_job_whose_worker_was_killed_is_taken_up_by_another(pool):
    with serving(ANSWER) as server:
        jobs.ask(pool=pool, llm=served(server.url))
        assert worker.take() is not None
        assert worker.take() is None
        PrefillJob.objects.update(heartbeat_at=F("heartbeat_at") - timedelta(minutes=5))
        assert work() == 1
    assert (state(), judged()) == ("done", 6)


def test_a_second_worker_helps_once_there_are_pairs_to_share(pool):
    with serving(ANSWER) as server:
        job = jobs.ask(pool=pool, llm=served(server.url), limit=4)
        work()
        PrefillJob.objects.update(state="running", heartbeat_at=timezone.now(), finished_at=None)
        assert worker.take() is None, "the limit is reached"
        PrefillJob.objects.update(limit=None)
        assert worker.take() == job
        PrefillTask.objects.update(state="done")
        assert worker.take() is None, "no pair is free"


def test_a_pool_that_is_deleted_while_a_worker_is_at_it_ends_the_job(pool, monkeypatch):
    jobs.ask(pool=pool, llm=NOWHERE)
    calls = iter([lambda: None, lambda: delete_pool(pool=pool)])
    monkeypatch.setattr(LlmOptions, "start", lambda *_: Reader(before=lambda: next(calls, lambda: None)()))
    assert work() == 1
    assert (PrefillJob.objects.count(), judged()) == (0, 1)


def test_of_a_server_more_pairs_are_claimed_than_it_is_asked_at_once(db):
    pool = make_pool(make_collection(documents=[f"d{n}" for n in range(60)]), depth=60)
    sizes = []
    llm = Reader(before=lambda: sizes.append(PrefillTask.objects.filter(state="leased").count()))
    llm.server = Server("http://127.0.0.1:9/v1", concurrency=20)
    judge_pool(llm=llm, pool=pool)
    assert sizes == [1, 2, 4, 8, 16, 29]


def test_the_oldest_job_comes_first_and_one_that_failed_here_is_passed_over(pool):
    first = jobs.ask(pool=pool, llm=NOWHERE)
    second = jobs.ask(pool=pool, llm=served("http://127.0.0.1:9/v1", prompt="graded"))
    assert worker.take(passed_over={first.pk: first.asked_at}) == second
    assert worker.take() == first


def test_a_job_that_failed_here_is_taken_again_once_it_is_asked_for_again(pool):
    job = jobs.ask(pool=pool, llm=NOWHERE)
    failed_here = {job.pk: job.asked_at}
    jobs.stop(job=job)
    assert worker.take(passed_over=failed_here) is None
    jobs.go_on(job=job)
    assert worker.take(passed_over=failed_here) == job


def test_an_interrupted_worker_gives_the_job_back(pool, monkeypatch):
    jobs.ask(pool=pool, llm=NOWHERE)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LlmOptions, "start", lambda *_: Reader(before=stop))
    with pytest.raises(KeyboardInterrupt):
        worker.work_at(job=worker.take())
    assert (state(), PrefillJob.objects.get().heartbeat_at) == ("queued", None)
    assert set(PrefillTask.objects.values_list("state", flat=True)) == {"free"}


def test_what_goes_wrong_for_one_worker_alone_does_not_stop_the_others(pool, monkeypatch):
    with serving(ANSWER) as server:
        jobs.ask(pool=pool, llm=served(server.url), limit=1)
        work()
    PrefillJob.objects.update(state="running", finished_at=None, limit=None)
    job = PrefillJob.objects.get()
    PrefillTask.objects.filter(state="free").order_by("pk").claim(lease=timedelta(minutes=1), limit=1, worker="other")
    monkeypatch.setattr(LlmOptions, "start", lambda *_: 1 / 0)
    assert worker.work_at(job=job) is None
    assert state() == "running"


# --- Stopping and trying again ----------------------------------------------------------------------------------------


def test_a_job_is_stopped_after_the_batch_in_hand_and_goes_on_where_it_stopped(pool, monkeypatch):
    job = jobs.ask(pool=pool, llm=NOWHERE)
    calls = iter([lambda: None, lambda: jobs.stop(job=job)])
    monkeypatch.setattr(LlmOptions, "start", lambda *_: Reader(before=lambda: next(calls, lambda: None)()))
    assert work() == 1
    assert (state(), judged()) == ("stopped", 3)
    assert work() == 0
    jobs.go_on(job=job)
    assert work() == 1
    assert (state(), judged()) == ("done", 6)


def test_stopping_what_has_ended_changes_nothing(pool):
    with serving(ANSWER) as server:
        job = jobs.ask(pool=pool, llm=served(server.url))
        work()
    jobs.stop(job=job)
    assert state() == "done"


def test_what_failed_is_tried_again_on_demand(pool, monkeypatch):
    job = jobs.ask(pool=pool, llm=NOWHERE)
    with pytest.raises(UserError, match="No pair of this LLM is kept as failed"):
        jobs.go_on(job=job, retry_failed=True)
    failing = Reader(lambda question: Answer("failed") if question.document.id == "d1" else Answer("graded", 1))
    monkeypatch.setattr(LlmOptions, "start", lambda *_: failing)
    work()
    assert Judgment.objects.filter(outcome="failed").count() == 1
    monkeypatch.setattr(LlmOptions, "start", lambda *_: Reader())
    assert jobs.go_on(job=job, retry_failed=True) == 1
    work()
    assert (state(), Judgment.objects.filter(outcome="graded").count()) == ("done", 6)


# --- Progress ---------------------------------------------------------------------------------------------------------


def test_a_job_shows_how_far_it_is_how_fast_and_how_long_it_takes(pool):
    with serving(ANSWER) as server:
        jobs.ask(pool=pool, llm=served(server.url), limit=3)
        (before,) = jobs.jobs_of(pool)
        work()
    assert (before.judged, before.pairs, before.rate, before.is_waiting) == (0, 6, None, True)
    now = timezone.now()
    PrefillJob.objects.update(
        state="running", finished_at=None, limit=None, started_at=now - timedelta(minutes=1), heartbeat_at=now
    )
    PrefillTask.objects.filter(state="free").order_by("pk").claim(lease=timedelta(minutes=1), limit=1, worker="w")
    (row,) = jobs.jobs_of(pool)
    assert (row.judged, row.failed, row.workers, row.percent, row.is_waiting) == (3, 0, 1, 50, False)
    assert row.rate == pytest.approx(3, abs=0.2)
    assert row.remaining == pytest.approx(60, abs=4)
    PrefillJob.objects.update(heartbeat_at=now - timedelta(minutes=5))
    assert jobs.jobs_of(pool)[0].is_waiting


def test_the_progress_costs_the_same_for_any_number_of_jobs(pool, django_assert_num_queries):
    for number in (1, 3):
        for n in range(number):
            job = jobs.ask(pool=pool, llm=LlmOptions(f"phi{number}{n}"))
            job.judge = make_llm(f"phi{number}{n}")
            job.save()
            make_judgment(job.judge, pool.collection, "q1", "d1", 1)
        with django_assert_num_queries(4):
            assert len(jobs.jobs_of(pool)) >= number


def test_a_prompt_with_an_example_of_the_pool_is_refused_when_asking(pool):
    query, document = pool.pairs.first().query.text, "a text of some length to be read"
    pool.collection.documents.update(text=document)
    text = (
        "name: leaky\nmode: score\nfields: query, document\nscale: any\nexamples: somewhere\n---\n"
        f"[user]\n{query}\n{document}\n[assistant]\n1\n[user]\n{{query}} {{document}} {{scale}}\n"
    )
    prompts.add(text=text, by=None)
    with pytest.raises(UserError, match="Example 1 of the prompt 'leaky' is the query 'q1'"):
        jobs.ask(pool=pool, llm=LlmOptions("phi", prompt="leaky"))
