"""LLMs on the page of a pool: asked for, watched, stopped and tried again; the page itself never judges."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from judging.models import Judgment, PrefillJob, PrefillTask
from judging.steps import jobs, worker
from judging.steps.prefill import LlmOptions
from tests.engines.llm.serving import says, serving
from tests.factories import make_judgment, make_llm
from tests.views.pages import HTMX, Page

pytestmark = pytest.mark.django_db

URL = "http://127.0.0.1:9/v1"


def start(browser, pool, *, status=303, **fields):
    given = {"model": "microsoft/phi", "prompt": "pointwise", "first": "queries", "dtype": "auto", **fields}
    response = browser.post(reverse("pool-llm-start", args=[pool.slug]), given)
    assert response.status_code == status, response.status_code
    return Page(response.content.decode())


def change(browser, job, wish):
    address = reverse("pool-llm-change", args=[job.pool.slug, job.pk])
    return Page(browser.post(address, {"do": wish}, follow=True).content.decode())


def live(browser, pool):
    return browser.page(pool.get_absolute_url(), htmx=True)


def test_an_llm_is_asked_for_on_the_page_and_waits_for_a_worker(pool, as_lead, lead):
    start(as_lead, pool, model=" microsoft/phi ", limit="2", revision="main", first="rank")
    job = PrefillJob.objects.get()
    assert (job.asked_by, job.limit, job.first) == (lead.user, 2, "rank")
    assert (job.options["model"], job.options["revision"]) == ("microsoft/phi", "main")
    page = as_lead.page(pool.get_absolute_url())
    assert "microsoft/phi with the prompt pointwise is to judge this pool." in page.text
    assert re.search(
        r"microsoft/phi pointwise by lea, .* at most 2 pairs waiting for a worker python manage.py worker", page.text
    )
    assert not Judgment.objects.filter(judge__kind="llm").exists()


def test_the_form_offers_what_there_is(pool, as_lead, settings):
    settings.LLM_SERVERS = {URL: "KEY"}
    tells, does_not_tell = make_llm("gpt"), make_llm("gpt without probabilities")
    make_judgment(tells, pool.collection, "q1", "d1", 1, probabilities={"0": 0.2, "1": 0.8})
    make_judgment(does_not_tell, pool.collection, "q1", "d1", 1)
    page = as_lead.page(pool.get_absolute_url())
    offered = {option["value"] for option in page.all("option")}
    assert {"graded", "known", "pointwise", "stepwise", "bfloat16", "float32", "auto", "uncertain", URL} <= offered
    assert tells.label in offered
    assert does_not_tell.label not in offered, "nothing tells how uncertain it was"


def test_of_a_calibrated_judge_nothing_is_left_to_ask(pool, as_lead):
    made_of = {"base": {"name": "phi", "fingerprint": "abcdef12"}, "thresholds": [0.5]}
    make_judgment(make_llm("phi"), pool.collection, "q1", "d1", 1)
    make_judgment(make_llm("phi calibrated", **made_of), pool.collection, "q1", "d1", 1)
    text = as_lead.page(pool.get_absolute_url()).text
    assert re.search(r"phi · \w{8} 1 0 0 0 0 2 1 / 3", text)
    assert re.search(r"phi calibrated · \w{8} 1 0 0 0 0 – 1 / 3", text)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"model": " "}, "Name a model"),
        ({"model": "x" * 501}, "at most 500 characters in “model”"),
        ({"model": "a\0b"}, "at most 500 characters in “model”"),
        ({"prompt": "/etc/passwd"}, "There is no prompt '/etc/passwd'. There are: graded"),
        ({"limit": "0"}, "Expected as limit a whole number of at least 1, found “0”."),
        ({"limit": "many"}, "found “many”"),
        ({"dtype": "int3"}, "found 'int3'"),
        ({"first": "luck"}, "found 'luck'"),
        ({"first": "uncertain"}, "No other LLM gave probabilities"),
        ({"uncertain_judge": "gpt"}, "There is no LLM judge 'gpt'"),
        ({"server": "http://10.0.0.1/v1"}, "The server “http://10.0.0.1/v1” is not offered here"),
    ],
)
def test_what_cannot_be_asked_is_said_in_the_form_which_keeps_what_it_was_given(pool, as_lead, fields, problem):
    page = start(as_lead, pool, status=422, revision="abc", **fields)
    assert problem in page.text
    assert page.one("input", name="revision")["value"] == "abc"
    assert not PrefillJob.objects.exists()


def test_a_server_of_the_settings_is_asked_with_its_key_and_no_other(pool, as_lead, settings):
    settings.LLM_SERVERS = {URL: "THE_KEY"}
    start(as_lead, pool, server=URL)
    assert PrefillJob.objects.get().options["server"]["key_variable"] == "THE_KEY"
    start(as_lead, pool, server=URL + "/other", status=422)
    start(as_lead, pool, server=URL, key_variable="SECRET_KEY")
    assert PrefillJob.objects.get().options["server"]["key_variable"] == "THE_KEY"


def test_the_live_part_shows_how_far_a_job_is(pool, as_lead, settings):
    with serving(says("1")) as server:
        settings.LLM_SERVERS = {server.url: ""}
        start(as_lead, pool, model="phi", server=server.url, limit="2")
        worker.work_at(job=worker.take())
    assert re.search(r"phi pointwise · \w{8} by lea.* done 2 / 3 .*Go on", live(as_lead, pool).text)
    now = timezone.now()
    PrefillJob.objects.update(
        state="running", finished_at=None, limit=None, heartbeat_at=now, started_at=now - timedelta(minutes=2)
    )
    assert "a worker loads the model" in live(as_lead, pool).text
    PrefillTask.objects.filter(state="free").order_by("pk").claim(lease=timedelta(minutes=1), limit=1, worker="w")
    assert re.search(r"1 worker at work 2 / 3 .* 0 1.0 1 min Stop", live(as_lead, pool).text)


def test_a_job_is_stopped_and_goes_on(pool, as_lead):
    job = jobs.ask(pool=pool, llm=LlmOptions("phi"))
    page = change(as_lead, job, "stop")
    assert "Stopped. What is in hand at this moment is still kept." in page.text
    assert "Go on" in page.text
    assert "It is in the queue again." in change(as_lead, job, "go-on").text
    assert PrefillJob.objects.get().state == "queued"
    change(as_lead, job, "dance")
    assert PrefillJob.objects.get().state == "queued"


def test_what_failed_is_tried_again_and_says_so_where_nothing_did(pool, as_lead):
    with serving(says(None)) as server:
        job = jobs.ask(pool=pool, llm=LlmOptions("phi", server=_server(server.url)))
        worker.work_at(job=worker.take())
        assert re.search(r"done 3 / 3 .* 3 – – Try failed ones again", live(as_lead, pool).text)
        assert "3 pairs are tried again." in change(as_lead, job, "retry").text
        assert PrefillTask.objects.filter(state="free").count() == 3
        assert "No pair of this LLM is kept as failed." in change(as_lead, job, "retry").text


def _server(url):
    from judging.engines.llm import Server

    return Server(url, retries=0)


def test_why_a_job_failed_is_shown_as_text(pool, as_lead):
    jobs.ask(pool=pool, llm=LlmOptions("<b>phi</b>"))
    PrefillJob.objects.update(state="failed", finished_at=timezone.now(), error="no <script>memory</script>")
    page = live(as_lead, pool)
    assert "failed no <script>memory</script>" in page.text
    assert "<b>phi</b> pointwise" in page.text


def test_annotators_neither_start_nor_stop_nor_see_jobs(pool, as_person):
    job = jobs.ask(pool=pool, llm=LlmOptions("phi"))
    assert as_person.post(reverse("pool-llm-start", args=[pool.slug]), {"model": "x"}).status_code == 403
    for headers in ({}, HTMX):
        response = as_person.post(reverse("pool-llm-change", args=[pool.slug, job.pk]), {"do": "stop"}, headers=headers)
        assert response.status_code == 403
    assert PrefillJob.objects.get().state == "queued"


def test_a_job_of_another_pool_is_not_found(pool, as_lead):
    assert as_lead.post(reverse("pool-llm-change", args=[pool.slug, 999]), {"do": "stop"}).status_code == 404
