"""Prompts on pages: the list, one's own, and the very messages of a pair, for staff alone."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from judging.models import StoredPrompt
from judging.steps import prompts
from tests.views.pages import Page

pytestmark = pytest.mark.django_db

TEXT = "name: mine\nmode: score\nfields: query, document\nscale: any\n---\nQ {query}\nD {document}\n{scale}\n"
LIST = "/prompts/"


def send(browser, *, status, **fields):
    response = browser.post(LIST, fields)
    assert response.status_code == status
    return response


def test_the_prompts_are_listed_and_each_can_be_read(as_lead):
    page = as_lead.page(LIST)
    assert "stepwise generate query, document any invented for this prompt the program" in page.text
    one = as_lead.page("/prompts/stepwise/")
    assert "Tokens it may write 200" in one.text
    assert "Grade: {lowest}" in one.text
    assert prompts.named("stepwise").prompt.digest in one.text
    assert as_lead.get("/prompts/poetic/").status_code == 404


@pytest.mark.parametrize("how", ["text", "file"])
def test_a_prompt_of_ones_own_is_pasted_or_uploaded(as_lead, lead, pool, how):
    given = TEXT.replace("\n", "\r\n") if how == "text" else SimpleUploadedFile("mine.txt", TEXT.encode())
    response = send(as_lead, status=303, **{how: given})
    assert response.headers["Location"] == "/prompts/mine/"
    stored = StoredPrompt.objects.get()
    assert (stored.text, stored.added_by) == (TEXT, lead.user)
    page = as_lead.page("/prompts/mine/")
    assert "The prompt mine is kept." in page.text
    assert "Q {query}" in page.text
    assert "mine" in {option["value"] for option in as_lead.page(pool.get_absolute_url()).all("option")}


def test_what_is_no_prompt_stays_in_the_form_with_the_line_that_is_wrong(as_lead):
    page = Page(send(as_lead, status=422, text=TEXT.replace("score", "<guess>")).content.decode())
    assert "prompt:2: expected mode: score or generate, found '<guess>'" in page.text
    assert "Q {query}" in page.text
    assert not StoredPrompt.objects.exists()


@pytest.mark.parametrize(
    ("file", "problem"),
    [(b"name: mine\n\xff", "prompt:2: expected a text in UTF-8"), (b"x" * 400_001, "this file is longer")],
)
def test_a_file_that_is_no_text_or_far_too_long_is_refused(as_lead, file, problem):
    response = send(as_lead, status=422, file=SimpleUploadedFile("mine.txt", file))
    assert problem in Page(response.content.decode()).text


def test_the_very_messages_of_a_pair_are_shown(pool, as_lead):
    prompts.add(text=TEXT, by=None)
    address = reverse("prompt-preview", args=[pool.slug])
    page = as_lead.page(address + "?prompt=mine&pair=2")
    assert "Pair 2 of 3" in page.text
    assert "user Q query q1 D text of d2 0 = Not relevant" in page.text
    assert {"?prompt=mine&pair=1", "?prompt=mine&pair=3"} <= {link["href"] for link in page.all("a")}
    known = as_lead.page(address + "?prompt=known")
    assert "This document is known to answer the question: text of known" in known.text


@pytest.mark.parametrize("query", ["?pair=99", "?pair=-3", "?pair=x", "?prompt=poetic", ""])
def test_a_pair_or_prompt_that_is_not_there_is_no_server_error(pool, as_lead, query):
    page = as_lead.page(reverse("prompt-preview", args=[pool.slug]) + query)
    assert ("There is no prompt 'poetic'" in page.text) == ("poetic" in query)


def test_a_pair_that_cannot_be_asked_says_why(pool, as_lead):
    pool.collection.qrels.get().judgments.all().delete()
    page = as_lead.page(reverse("prompt-preview", args=[pool.slug]) + "?prompt=known")
    assert (
        "This pair cannot be asked, and would be kept as failed: the prompt shows a known relevant document"
        in page.text
    )


def test_a_document_is_shown_as_text(pool, as_lead):
    pool.collection.documents.update(text="<script>alert(1)</script> {query}")
    page = as_lead.page(reverse("prompt-preview", args=[pool.slug]) + "?prompt=pointwise")
    assert "Document: <script>alert(1)</script> {query}" in page.text


def test_annotators_see_none_of_it(pool, as_person):
    for address in (LIST, "/prompts/pointwise/", reverse("prompt-preview", args=[pool.slug])):
        assert as_person.get(address).status_code == 403
    assert as_person.post(LIST, {"text": TEXT}).status_code == 403
    assert not StoredPrompt.objects.exists()
