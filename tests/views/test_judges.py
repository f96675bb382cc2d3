"""Who judged a collection, and what they are made of."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from judging.engines.llm.prompts import load_prompt
from judging.models import Judge
from judging.steps.judges import prompt_of
from tests.factories import make_collection, make_judgment, make_llm, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection("cran", qrels={("q1", "d1"): 1})


def list_url(collection):
    return reverse("judges", args=[collection.slug])


def judge_url(collection, judge):
    return reverse("judge-details", args=[collection.slug, judge.pk])


def test_everybody_who_judged_is_listed_with_what_came_of_it(collection, as_lead):
    ada, phi = make_person("ada"), make_llm("phi")
    make_judgment(ada, collection, "q1", "d1", 1, seconds=4.0)
    make_judgment(ada, collection, "q1", "d2", None, seconds=8.0)
    make_judgment(phi, collection, "q1", "d1", None, outcome="unparsed")
    make_judgment(make_person("elsewhere"), make_collection(), "q1", "d1", 1)
    page = as_lead.page(list_url(collection))
    assert re.search(r"Original qrels .* qrels/test 1 0 0 0 0 – –", page.text)
    assert re.search(r"People .* ada 1 1 0 0 0 6.0 less than a minute", page.text)
    assert re.search(r"LLMs .* phi · \w{8} 0 0 0 1 0 – –", page.text)
    assert "elsewhere" not in page.text
    assert {judge_url(collection, judge) for judge in (ada, phi)} <= {a["href"] for a in page.all("a")}


def test_a_collection_that_nobody_judged_says_so(as_lead):
    page = as_lead.page(list_url(make_collection("bare")))
    assert "Nobody has judged anything of this collection." in page.text


def test_an_llm_is_shown_with_its_fingerprint_its_configuration_and_its_prompt(collection, as_lead):
    digest = load_prompt("pointwise").digest
    phi = make_llm("phi", model="microsoft/phi", prompt_digest=digest, decoding={"method": "greedy"})
    make_judgment(phi, collection, "q1", "d1", 1)
    page = as_lead.page(judge_url(collection, phi))
    assert phi.fingerprint in page.text
    assert "model microsoft/phi" in page.text
    assert '"method": "greedy"' in page.text
    assert "Determine whether the document answers the query." in page.text


def test_a_prompt_that_was_kept_is_shown_as_it_was(collection, as_lead):
    phi = make_llm("phi", prompt_digest=load_prompt("pointwise").digest)
    Judge.objects.filter(pk=phi.pk).update(prompt="Is <this> relevant?")
    assert "Is <this> relevant?" in as_lead.page(judge_url(collection, phi)).text


def test_labels_made_elsewhere_have_no_prompt_to_show(collection, as_lead):
    phi = make_llm("phi", file="labels.txt", sha256="ab")
    page = as_lead.page(judge_url(collection, phi))
    assert "The text of the prompt is not known here" in page.text
    assert "Nothing." in page.text
    assert prompt_of(phi) == ""


def test_a_person_has_no_configuration(collection, as_lead):
    ada = make_person("ada")
    make_judgment(ada, collection, "q1", "d1", 1)
    page = as_lead.page(judge_url(collection, ada))
    assert "Graded 1" in page.text
    assert "Fingerprint" not in page.text


def test_a_judge_that_does_not_exist_is_not_found(collection, as_lead):
    assert as_lead.get(reverse("judge-details", args=[collection.slug, 0])).status_code == 404


def test_the_list_costs_the_same_however_many_judged(collection, as_lead, django_assert_num_queries):
    for _ in range(2):
        make_judgment(make_person(), collection, "q1", "d2", 1)
        with django_assert_num_queries(5):
            as_lead.get(list_url(collection))


def test_two_llms_are_compared_by_what_makes_them(collection, as_lead):
    one = make_llm("phi", model="phi", dtype="float32", decoding={"method": "greedy", "max_tokens": 1})
    other = make_llm("phi", model="phi", dtype="bfloat16", decoding={"method": "greedy", "max_tokens": 9})
    for llm in (one, other):
        make_judgment(llm, collection, "q1", "d1", 1)
    listed = as_lead.page(list_url(collection))
    assert "What makes two LLM judges different" in listed.text
    address = reverse("judges-compare", args=[collection.slug])
    page = as_lead.page(f"{address}?one={one.pk}&other={other.pk}")
    assert re.search(r"dtype float32 bfloat16 decoding.max_tokens 1 9 *$", page.text)
    assert "model phi" not in page.text
    assert "Nothing differs" in as_lead.page(f"{address}?one={one.pk}&other={one.pk}").text
    assert as_lead.get(f"{address}?one=0&other={one.pk}").status_code == 404
    assert as_lead.get(f"{address}?one=x").status_code == 200


def test_the_tokens_of_an_llm_are_shown_where_they_are_known(collection, as_lead):
    phi = make_llm("phi")
    for docid in ("d1", "d2"):
        make_judgment(phi, collection, "q1", docid, 1, prompt_tokens=600, completion_tokens=2)
    assert re.search(r"phi · \w{8} 2 0 0 0 0 – – 1,200 4", as_lead.page(list_url(collection)).text)
    assert "Tokens read 1,200 Tokens written 4" in as_lead.page(judge_url(collection, phi)).text
