"""LLMs in the shell: judging by a server, the order, the cost, the worker, and who the judges are."""

from __future__ import annotations

import io
import re
import signal
import threading
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from judging.management import stopping
from judging.management.outcomes import OutcomeTrack, progress_line
from judging.management.stopping import stoppable
from judging.models import Judge, Judgment, Pool, PrefillJob
from judging.steps import jobs, prompts
from judging.steps.prefill import LlmOptions
from tests.engines.llm.serving import says, serving
from tests.factories import make_collection, make_llm, make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool() -> Pool:
    return make_pool(make_collection("cran", documents=[f"d{n}" for n in range(5)]), name="cran", depth=5)


@pytest.fixture
def server():
    with serving(says("1")) as serving_here:
        yield serving_here


def by(server, *more):
    return ("prefill_llm", "cran", "--judge", "phi", "--server", server.url, *more)


def test_a_server_judges_the_pool_and_the_report_tells_tokens_and_cost(pool, server, run):
    said = run(*by(server, "--prices", "2", "8"))
    assert re.search(r"phi pointwise · \w{8}: 5 pairs judged \(graded 5\)", said)
    assert "  500 tokens read, 10 written, which cost 0.0011" in said
    assert re.search(r"next: python manage.py llm_quality cran --judge [0-9a-f]{8}$", said, re.MULTILINE)
    again = run(*by(server))
    assert "0 pairs judged" in again
    assert "5 were judged before" in again
    assert len(server.asked) == 5


def test_the_key_comes_from_the_environment_and_is_kept_nowhere(pool, server, run, refused, monkeypatch):
    message = refused(*by(server, "--key-variable", "PHI_KEY"))
    assert message == "Expected the server's key in the environment variable PHI_KEY, which is not set."
    monkeypatch.setenv("PHI_KEY", "sk-secret")
    said = run(*by(server, "--key-variable", "PHI_KEY"))
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in said + str(list(Judge.objects.values())) + str(list(Judgment.objects.values()))


def test_failed_pairs_are_tried_again_on_demand(pool, run):
    with serving(says(None)) as server:
        said = run(*by(server, "--limit", "2"))
        assert "2 pairs judged (failed 2)" in said
        assert "  the failed ones, the latest with “the server's answer has no text: expected choices[0]" in said
        assert "”, are tried again with --retry-failed" in said
        server.replies = [says("1")]
        assert "3 pairs judged (graded 3)" in run(*by(server))
        assert "2 pairs judged (graded 2)" in run(*by(server, "--retry-failed"))


def test_one_s_own_prompt_is_chosen_by_its_name(pool, server, run):
    text = "name: mine\nmode: score\nfields: query, document\nscale: any\n---\nMine: {query} {document} {scale}\n"
    prompts.add(text=text, by=None)
    assert "phi mine" in run(*by(server, "--prompt", "mine"))
    assert server.asked[0]["messages"][0]["content"].startswith("Mine: ")


def test_a_server_of_one_model_needs_no_name_of_it(pool, server, run, refused):
    address = ("prefill_llm", "cran", "--judge", server.url)
    assert refused(*address).startswith(f"{server.url} names no model: name one with --judge")
    server.models = ["small", "large"]
    assert refused(*address).startswith(f"{server.url} serves small, large: name one")
    server.models = ["org/only"]
    assert re.search(r"only pointwise · \w{8}: 5 pairs judged", run(*address))
    assert server.asked[0]["model"] == "org/only"


def test_what_is_sent_can_be_looked_at_before(pool, server, run):
    said = run(*by(server, "--preview"))
    assert "Pair 1 of 5: query q1, document d0" in said
    assert "[user]\nDetermine whether the document answers the query." in said
    assert server.asked == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--key-variable", "X"), "--key-variable names the key of a server: give its address with --server."),
        (("--judge", "http://127.0.0.1:9/v1"), "http://127.0.0.1:9/v1 does not tell which models it serves"),
        (("--judge", "phi", "--server", "localhost:8000"), "Expected a server such as http://localhost:8000/v1"),
        (("--judge", "phi", "--server", "http://x", "--first", "uncertain"), "No other LLM gave probabilities"),
        (("--uncertain-judge", "gpt"), "There is no LLM judge 'gpt'"),
        (("--prices", "1", "free"), "expected a number above 0, found 'free'"),
        (("--first", "luck"), "invalid choice: 'luck'"),
    ],
)
def test_what_is_wrong_is_said(pool, options, problem):
    with pytest.raises(CommandError, match=re.escape(problem)):
        call_command("prefill_llm", "cran", *options)
    assert not Judgment.objects.filter(judge__kind="llm").exists()


def test_without_a_terminal_progress_is_a_line_now_and_then(server, pool):
    said: list[str] = []
    track = OutcomeTrack(said.append, every=0)

    class One:
        outcome = "graded"

    assert len(list(track(iter([One(), One()]), 4, "pairs judged by phi"))) == 2
    assert re.fullmatch(r"2 of 4 pairs judged by phi; \S+/s; 0 s left; graded 2", said[1])


@pytest.mark.parametrize(
    ("done", "seconds", "line"),
    [
        ({"graded": 118, "failed": 2}, 100.0, "120 of 2,000 pairs; 1.2/s; 26 min left; failed 2, graded 118"),
        ({"graded": 2}, 120.0, "2 of 2,000 pairs; 1.0/min; 33 h 18 min left; graded 2"),
    ],
)
def test_a_line_of_progress(done, seconds, line):
    from collections import Counter

    assert progress_line("pairs", Counter(done), 2_000, seconds) == line


# --- The worker -------------------------------------------------------------------------------------------------------


def test_the_worker_does_what_is_queued_and_goes_when_told_to_do_it_once(pool, server, run):
    jobs.ask(pool=pool, llm=LlmOptions("phi", server=_server(server.url)))
    said = run("worker", "--once")
    assert "cran: phi pointwise begins\ncran: phi pointwise: 5 pairs judged (graded 5)" in said
    assert PrefillJob.objects.get().state == "done"
    assert run("worker", "--once") == ""


def test_the_worker_says_what_failed_and_goes_on_with_the_next(pool, server, run):
    jobs.ask(pool=pool, llm=LlmOptions("/nowhere/model"))
    jobs.ask(pool=pool, llm=LlmOptions("phi", server=_server(server.url)))
    said = run("worker", "--once")
    assert "cran: /nowhere/model pointwise failed here: The model '/nowhere/model' cannot be loaded" in said
    assert "5 pairs judged" in said
    assert {job.options["model"]: job.state for job in PrefillJob.objects.all()} == {
        "/nowhere/model": "failed",
        "phi": "done",
    }


def test_a_job_that_failed_is_done_by_the_same_worker_once_the_lead_has_it_go_on(pool, server, monkeypatch):
    """The worker is one process throughout: what it has seen fail, it must not refuse for good."""

    class Said(io.StringIO):
        def write(self, text: str) -> int:
            if "failed here" in text:
                monkeypatch.setenv("PHI_KEY", "sk-secret")
                jobs.go_on(job=PrefillJob.objects.get())
            return super().write(text)

    jobs.ask(pool=pool, llm=LlmOptions("phi", server=replace(_server(server.url), key_variable="PHI_KEY")))
    said = Said()
    call_command("worker", "--once", stdout=said)
    assert "PHI_KEY, which is not set" in said.getvalue()
    assert "5 pairs judged (graded 5)" in said.getvalue()
    assert PrefillJob.objects.get().state == "done"


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_the_worker_waits_for_work_and_stops_cleanly(pool, stop):
    class Said(io.StringIO):
        """Sends the signal once the worker waits, and so can be told."""

        def write(self, text: str) -> int:
            if "waiting" in text:
                threading.Timer(0.1, signal.raise_signal, [stop]).start()
            return super().write(text)

    said = Said()
    before = signal.getsignal(signal.SIGTERM)
    call_command("worker", stdout=said)
    assert said.getvalue() == "waiting for work\nstopped; what was judged is kept\n"
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_does_not_disturb_what_is_given_back(stop):
    with stoppable():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(stop)
        for again in (signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(again)


def test_what_does_not_end_is_broken_off_by_a_later_signal(monkeypatch):
    monkeypatch.setattr(stopping, "DEAF", 0.0)
    with stoppable():
        for _turn in range(2):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)


def _server(url):
    from judging.engines.llm import Server

    return Server(url, retries=0)


# --- Who the judges are -----------------------------------------------------------------------------------------------


def test_the_llm_judges_are_listed_shown_and_compared(pool, server, run, refused):
    assert run("llm_judges") == "No LLM has judged yet: python manage.py prefill_llm POOL\n"
    run(*by(server))
    run(*by(server, "--prompt", "graded"))
    make_llm("silent")
    one, other = Judge.objects.filter(name__startswith="phi").order_by("-name")
    listed = run("llm_judges")
    assert re.search(r"judge +model +prompt +mode +dtype +graded", listed)
    assert re.search(rf"phi pointwise · {one.fingerprint[:8]} +phi +pointwise +score +– +5", listed)
    assert re.search(r"silent · \w{8} .* 0", listed)
    shown = run("llm_judges", "show", one.fingerprint[:8])
    assert "5 judgments: graded 5" in shown
    assert "500 tokens read, 10 written" in shown
    assert f'"server": "{server.url}"' in shown
    assert "Determine whether the document answers the query." in shown
    compared = run("llm_judges", "compare", one.label, other.name)
    assert f"prompt\n  {one.label}: pointwise\n  {other.label}: graded\n" in compared
    assert "prompt text" in compared
    assert "server" not in compared
    assert "Nothing differs" in run("llm_judges", "compare", one.name, one.name)
    assert refused("llm_judges", "compare", one.name).startswith("llm_judges compare: expected 2 judges, found 1.")
    assert "There is no LLM judge 'gpt'" in refused("llm_judges", "show", "gpt")
