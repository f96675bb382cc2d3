"""The judging page shows a person only their own, tells nothing of an LLM, and asks the database little."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from judging.models import Assignment, Hit, Judge, Judgment, LeaseState, Pair, Pool
from judging.steps import serve
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.views.conftest import judge_all
from tests.views.judging import answered, judge_url, send, shown
from tests.views.pages import HTMX, Browser, Page, browser_of

pytestmark = pytest.mark.django_db


# --- Only one's own ---------------------------------------------------------------------------------------------------


def test_a_pair_by_its_number_is_shown_only_to_who_has_it(pool, person, as_person):
    judge_all(pool, person, [1])
    mine = Pair.objects.get(assignments__annotator=person, assignments__state=LeaseState.DONE)
    assert shown(as_person.page(judge_url(pool, mine))) == mine.pk
    assert browser_of(make_person("ben")).get(judge_url(pool, mine)).status_code == 404


def test_the_page_of_a_person_shows_nothing_of_what_others_said(person):
    pool = make_pool(make_collection(documents=["d1"]), people=2)
    judge_all(pool, make_person("ben"), [1], comment="BEN'S COMMENT")
    page = browser_of(person).page(judge_url(pool))
    assert "BEN" not in page.text
    assert not page.all("button", aria_current="true")


def test_a_judgment_of_another_person_cannot_be_changed(pool, person, as_person):
    other = make_person("ben")
    judge_all(pool, other, [1, 1, 1], comment="theirs")
    for pair in pool.pairs.all():
        answered(as_person, pool, pair.pk, status=409, answer="0", comment="mine")
        as_person.post(reverse("skip", args=[pool.slug, pair.pk]))
    as_person.post(reverse("leave", args=[pool.slug]))
    assert set(Judgment.objects.by_people().values_list("judge__name", "grade", "comment")) == {("ben", 1, "theirs")}
    assert Judgment.objects.by_people().count() == Assignment.objects.filter(annotator=other).count() == 3


def test_an_account_that_takes_a_name_given_up_does_not_take_the_judgments(pool):
    first = make_person("ann")
    judge_all(pool, first, [1])
    first.user.username = "anna"
    first.user.save()
    browser = Browser()
    browser.force_login(User.objects.create_user("ann", password="secret"))
    browser.page(judge_url(pool))
    assert "No judgment of yours" in browser.page(reverse("mine", args=[pool.slug])).text
    assert Judge.objects.get(pk=first.pk).user == first.user


def test_what_was_judged_elsewhere_can_be_corrected_though_it_needed_no_slot(pool, person, as_person):
    judge_all(pool, make_person("ben"), [1, 1, 1])
    make_judgment(person, pool.collection, "q1", "d1", 0)
    pair = pool.pairs.get(document__docid="d1")
    assert as_person.page(judge_url(pool, pair)).one("button", value="0")["aria-current"] == "true"
    answered(as_person, pool, pair.pk, answer="1")
    assert Judgment.objects.get(judge=person).grade == 1
    assert Assignment.objects.filter(pair=pair).count() == 1


# --- No trace of an LLM -----------------------------------------------------------------------------------------------


def everything(response) -> bytes:
    """Headers, cookies and body, without what differs at each load: the time, the token and the key of the form."""
    headers = sorted((name, value) for name, value in response.headers.items() if name != "Expires")
    head = repr(headers) + repr(sorted(response.cookies))
    body = re.sub(rb'name="key" value="[0-9a-f-]{36}"', b"", response.content)
    body = re.sub(rb'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"', b"", body)
    return head.encode() + body


def test_no_byte_tells_of_an_llm_label_before_the_person_has_answered(pool, person, as_person):
    pair = serve.next_pair(pool=pool, annotator=person)

    def loads():
        urls = [judge_url(pool), judge_url(pool, pair), reverse("home")]
        return [everything(as_person.get(url, headers=head)) for url in urls for head in ({}, HTMX)]

    without = loads()
    llm = make_llm("LEAKYJUDGE", model="LEAKYMODEL")
    judgments = [
        make_judgment(
            llm,
            pool.collection,
            "q1",
            docid,
            1,
            raw="LEAKYRAW",
            comment="LEAKYWHY",
            probabilities={"0": 0.123, "1": 0.876},
        )
        for docid in ("d1", "d2", "d3")
    ]
    relevant = loads()
    for judgment in judgments:
        judgment.grade = 0
        judgment.save()
    not_relevant = loads()
    assert without == relevant == not_relevant
    assert not [load for load in relevant if b"LEAKY" in load or b"0.876" in load]


def test_no_answer_carries_an_llm_label_of_the_next_pair(pool, as_person):
    llm = make_llm("LEAKYJUDGE", model="LEAKYMODEL")
    for docid in ("d1", "d2", "d3"):
        make_judgment(llm, pool.collection, "q1", docid, 1, raw="LEAKYRAW", probabilities={"0": 0.123, "1": 0.876})
    page = as_person.get(judge_url(pool))
    for answer in ("1", "2", "cannot_judge", "0"):
        pair = shown(Page(page.content.decode()))
        response = send(as_person, pool, pair, answer=answer)
        assert b"LEAKY" not in everything(response)
        assert b"0.876" not in everything(response)
        page = as_person.get(judge_url(pool))
    assert b"LEAKY" not in everything(as_person.get(reverse("mine", args=[pool.slug])))


# --- The database -----------------------------------------------------------------------------------------------------

WRITE = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b[^\"]*\"(\w+)\"", re.IGNORECASE)


def writes(browser: Browser, url: str) -> set[tuple[str, str]]:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(url).status_code == 200
    # PostgreSQL tells no text of what is read through a cursor of its own, which cannot write.
    found = [WRITE.match(query["sql"] or "") for query in queries]
    return {(match[1].upper(), match[2]) for match in found if match}


def test_a_get_writes_nothing_but_the_leases_of_the_pairs_it_shows(pool, person, as_person):
    assert writes(as_person, judge_url(pool)) == {("UPDATE", "judging_assignment")}
    held = Assignment.objects.filter(annotator=person, state=LeaseState.LEASED)
    assert held.count() == 3
    judge_all(pool, person, [1])
    for url in (reverse("home"), reverse("mine", args=[pool.slug])):
        assert writes(as_person, url) == set(), url


def test_the_first_page_that_an_account_opens_makes_it_a_judge(pool, django_user_model):
    browser = Browser()
    browser.force_login(django_user_model.objects.create_user("new"))
    assert writes(browser, reverse("home")) == {("INSERT", "judging_judge")}
    assert writes(browser, reverse("home")) == set()


def pool_of(documents: int, queries: int = 1) -> Pool:
    docids = [f"d{n}" for n in range(documents)]
    qids = [f"q{n}" for n in range(queries)]
    collection = make_collection(documents=[*docids, "known"], queries=qids, qrels={(qid, "known"): 1 for qid in qids})
    run = make_run(collection, {})
    ranked = list(collection.documents.exclude(docid="known").order_by("pk"))
    Hit.objects.bulk_create(
        Hit(run=run, query=query, document=document, rank=rank, score=-rank)
        for query in collection.queries.all()
        for rank, document in enumerate(ranked, 1)
    )
    return make_pool(collection, run, depth=documents)


def queries_of(browser: Browser, pool: Pool) -> int:
    """How many statements one save costs, once the pairs of the query are in hand and one answer is given."""
    page = answered(browser, pool, shown(browser.page(judge_url(pool))), answer="0")
    beyond = page.one("input", name="beyond")["value"]
    with CaptureQueriesContext(connection) as queries:
        answered(browser, pool, shown(page), answer="1", key=str(uuid4()), seconds="3", beyond=beyond)
    return len(queries)


@pytest.mark.parametrize(("documents", "queries"), [(3, 1), (300, 1), (100, 30)])
def test_a_save_costs_the_same_in_a_pool_of_three_pairs_and_of_three_thousand(as_person, documents, queries):
    pool = pool_of(documents, queries)
    assert pool.pairs.count() == documents * queries
    assert queries_of(as_person, pool) == 15
