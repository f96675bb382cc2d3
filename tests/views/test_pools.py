"""A pool as its lead sees it: its figures, what may be changed while people work, and who may judge."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from judging.models import Assignment, Invitation, Judgment, LeaseState, Pool
from judging.steps import people, serve
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool
from tests.views.conftest import judge_all
from tests.views.pages import HTMX, Browser, Page, browser_of

pytestmark = pytest.mark.django_db


def url(name: str, pool: Pool) -> str:
    return reverse(name, args=[pool.slug])


def post(browser: Browser, address: str, pool: Pool, /, **fields: object) -> Page:
    """What the page says after the form was sent."""
    response = browser.post(url(address, pool), fields, follow=True)
    assert response.redirect_chain[0][1] == 303
    assert response.status_code == 200
    return Page(response.content.decode())


def names(pool: Pool) -> list[str]:
    return list(pool.annotators.order_by("name").values_list("name", flat=True))


# --- Figures ----------------------------------------------------------------------------------------------------------


def test_a_pool_that_nobody_began_says_so(pool, as_lead):
    page = as_lead.page(url("pool", pool))
    assert "0 of 3 pairs have all the answers that are wanted; 0 of 3 answers are given." in page.text
    assert "Relevant so far – no pair is judged yet" in page.text
    assert "In the last hour 0 answers by 0 people" in page.text
    assert "Work left – 3 answers; none was timed yet" in page.text
    assert "Time left – nobody answered in the last hour" in page.text
    assert "Nobody has begun." in page.text
    assert "No LLM has judged yet: python manage.py prefill_llm cran" in page.text
    assert "All 1 Complete 0 Begun 0 Untouched 1" in page.text
    assert "1 of 1, seed 0" in page.text


def test_a_pool_shows_who_did_how_much(judged_pool, as_lead):
    page = as_lead.page(url("pool", judged_pool))
    assert "12 of 20 pairs have all the answers that are wanted; 27 of 40 answers are given." in page.text
    assert re.search(r"ben 12 12 4.0 \S+ seconds? ago|ben 12 12 4.0 now", page.text)
    assert "ada 15 15 4.0" in page.text
    assert re.search(r"first · \w{8} 8 0 4 4 4 0 20 / 20", page.text)
    assert "Look twice" in page.text


def test_a_pool_shows_what_was_found_and_what_is_left_with_what_that_assumes(judged_pool, as_lead):
    page = as_lead.page(url("pool", judged_pool))
    assert re.search(r"Relevant so far \d+ % of \d+ judged pairs; 95 % interval \d+ to \d+", page.text)
    assert "In the last hour 27 answers by 2 people" in page.text
    assert "Work left less than a minute of one person: 13 answers, each as long as the 27 timed so far" in page.text
    assert "Time left 29 min if all go on without a break as in the last hour" in page.text


def test_a_pool_that_is_judged_whole_has_nothing_left(pool, person, as_lead):
    judge_all(pool, person, [1, 0, 1])
    page = as_lead.page(url("pool", pool))
    assert "Work left none Time left none" in page.text
    assert "All 1 Complete 1 Begun 0 Untouched 0" in page.text


def test_a_pool_shows_what_is_in_hand_until_when_and_what_was_not_timed(pool, person, as_lead):
    serve.next_pair(pool=pool, annotator=person)
    page = as_lead.page(url("pool", pool))
    # On the hour there are no minutes, and two hours have a name.
    assert re.search(r"ann 0 0 – – 3 until (\d+(:\d\d)? [ap]\.m\.|noon|midnight)", page.text)
    assert "3 pairs are in somebody's hands now" in page.text


def test_pairs_whose_text_left_the_collection_are_told_and_not_counted(pool, as_lead):
    pool.collection.documents.filter(docid="d1").update(in_corpus=False)
    page = as_lead.page(url("pool", pool))
    assert "0 of 2 pairs have all" in page.text
    assert "1 pair is served no more, for its text left the collection" in page.text


def test_the_queries_are_listed_in_pages_and_by_state(as_lead):
    collection = make_collection("many", queries=[f"q{n}" for n in range(12)])
    pool = make_pool(collection, name="many", depth=2)
    judge_all(pool, make_person(), [1, 1, 0])
    page = as_lead.page(url("pool", pool))
    assert "All 12 Complete 1 Begun 1 Untouched 10" in page.text
    assert "Page 1 of 2" in page.text
    done = as_lead.page(url("pool", pool) + "?state=complete")
    assert len(re.findall(r"query q\d+ 2 2 of 2 0", done.text)) == 1
    begun = as_lead.page(url("pool", pool) + "?state=begun")
    assert len(re.findall(r"query q\d+ 2 1 of 2 1", begun.text)) == 1
    second = as_lead.page(url("pool", pool) + "?page=2")
    assert len(re.findall(r"query q\d+ 2", second.text)) == 2


@pytest.mark.parametrize("wrong", ["?state=ajar", "?page=0", "?page=x", "?page=99&state=begun"])
def test_a_page_or_state_that_does_not_exist_is_no_server_error(pool, as_lead, wrong):
    assert as_lead.get(url("pool", pool) + wrong).status_code == 200


def test_the_part_of_the_pool_that_changes_comes_alone_to_htmx_and_stays_where_the_lead_was(judged_pool, as_lead):
    address = url("pool", judged_pool) + "?state=begun"
    part = as_lead.page(address, htmx=True)
    assert not part.all("html")
    assert part.one("div", id="pool-progress")["hx-get"] == url("pool", judged_pool) + "?state=begun&page=1"
    assert _timeless(part.text) in _timeless(as_lead.page(address).text)


def _timeless(text: str) -> str:
    """A second may pass between two looks."""
    return re.sub(r"\bnow\b|\b(a|\d+)\s(second|minute)s? ago\b", "just now", text)


def test_the_live_part_costs_the_same_whatever_the_size_of_the_pool(as_lead, django_assert_num_queries):
    judges = [make_person(), make_person()]
    for size in (2, 40):
        docids = [f"d{n}" for n in range(size)]
        collection = make_collection(documents=docids, queries=["q1", "q2"])
        pool = make_pool(collection, name=f"size {size}", depth=size, people=2)
        llm = make_llm()
        for docid in docids:
            make_judgment(llm, collection, "q1", docid, 1)
        for annotator in judges:
            judge_all(pool, annotator, [1, 0] * size)
        as_lead.get(url("pool", pool))
        with django_assert_num_queries(21):
            as_lead.get(url("pool", pool), headers=HTMX)


# --- What may be changed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("htmx", "status"), [(False, 303), (True, 204)])
def test_a_pool_is_paused_closed_and_opened_again(pool, as_lead, htmx, status):
    for wanted in ("paused", "closed", "open"):
        page = as_lead.page(url("pool", pool))
        offered = [button["value"] for button in page.all("button", name="status")]
        assert wanted in offered
        response = as_lead.post(url("pool-status", pool), {"status": wanted}, headers=HTMX if htmx else {})
        assert response.status_code == status
        assert response.headers["HX-Redirect" if htmx else "Location"] == url("pool", pool)
        assert Pool.objects.get().status == wanted
        assert f"The pool is {wanted} now." in as_lead.page(url("pool", pool)).text


@pytest.mark.parametrize("status", ["", "ajar", "OPEN"])
def test_a_status_that_does_not_exist_is_said_and_changes_nothing(pool, as_lead, status):
    page = post(as_lead, "pool-status", pool, status=status)
    assert f"A pool is open, paused, closed; found '{status}'." in page.text
    assert Pool.objects.get().status == "open"


def test_what_went_wrong_looks_and_sounds_unlike_what_went_well(pool, as_lead):
    wrong = post(as_lead, "pool-status", pool, status="ajar")
    assert wrong.one("li", class_="error")
    assert wrong.one("span", role="alert")
    well = post(as_lead, "pool-status", pool, status="paused")
    assert well.one("li", class_="success")
    assert not well.all("span", role="alert")


def test_more_people_per_pair_make_room_for_more_answers(pool, person, as_lead):
    judge_all(pool, person, [1, 0, 1])
    assert "3 places for answers were added" in post(as_lead, "pool-overlap", pool, people=2).text
    assert "3 of 6 answers are given" in as_lead.page(url("pool", pool)).text


@pytest.mark.parametrize("wrong", ["0", "51", "two", "", "-1"])
def test_a_number_of_people_that_cannot_be_is_said_and_changes_nothing(pool, as_lead, wrong):
    page = post(as_lead, "pool-overlap", pool, people=wrong)
    assert re.search(r"expected 1 to 50|Expected a whole number", page.text)
    assert Assignment.objects.count() == 3


def test_what_one_person_holds_is_freed_by_a_button(pool, person, as_lead):
    serve.next_pair(pool=pool, annotator=person)
    button = as_lead.page(url("pool", pool)).one("button", name="judge")
    assert button["aria-label"] == "Free what ann holds"
    assert "3 pairs of ann are free." in post(as_lead, "pool-release", pool, judge=button["value"]).text
    assert not Assignment.objects.exclude(state=LeaseState.FREE).exists()


# --- Who may judge ----------------------------------------------------------------------------------------------------


def test_a_pool_without_a_list_says_that_it_is_everybodys(pool, as_lead):
    assert "Everybody with an account may judge." in as_lead.page(url("pool", pool)).text


def test_an_account_is_added_and_then_only_those_listed_may_judge(pool, person, as_person, as_lead):
    other = browser_of(make_person("bob"))
    assert "ann may judge now." in post(as_lead, "pool-add", pool, name="ann", do="add").text
    assert names(pool) == ["ann"]
    assert "Only those listed may judge." in as_lead.page(url("pool", pool)).text
    assert as_person.get(url("judge", pool)).status_code == 200
    refused = other.page(url("judge", pool), status=403)
    assert "“cran” is judged by people whom its lead has listed, and you are not one of them." in refused.text
    assert "cran" not in other.page(reverse("home")).text


def test_whoever_has_begun_is_listed_with_the_first_one_added(pool, person, as_person, as_lead):
    serve.next_pair(pool=pool, annotator=person)
    make_person("bob")
    post(as_lead, "pool-add", pool, name="bob", do="add")
    assert names(pool) == ["ann", "bob"]
    assert as_person.get(url("judge", pool)).status_code == 200


def test_every_page_of_the_pool_refuses_who_is_not_listed(pool, person, as_person):
    judge_all(pool, person, [1])
    people.add(pool=pool, name=make_person("bob").name)
    people.remove(pool=pool, annotator=person)
    pair = pool.pairs.first()
    for name in ("judge", "mine"):
        assert as_person.get(url(name, pool)).status_code == 403, name
    for name in ("answer", "skip"):
        address = reverse(name, args=[pool.slug, pair.pk])
        assert as_person.post(address, {"answer": "1"}).status_code == 403, name
        fragment = as_person.post(address, {"answer": "1"}, headers=HTMX)
        assert (fragment.status_code, fragment.headers["HX-Refresh"]) == (403, "true"), name
    assert Judgment.objects.get(judge=person).grade == 1


def test_who_is_removed_keeps_their_answers_and_holds_nothing(pool, person, as_lead):
    people.add(pool=pool, name=make_person("bob").name)
    people.add(pool=pool, name="ann")
    judge_all(pool, person, [1])
    page = post(as_lead, "pool-remove", pool, judge=person.pk)
    assert "ann may not judge here any more. Answers given stay; 2 pairs came free." in page.text
    assert names(pool) == ["bob"]
    assert "1 of 3 answers are given" in page.text
    assert not Assignment.objects.filter(state=LeaseState.LEASED).exists()


def test_the_last_one_is_not_removed_for_that_would_let_everybody_in(pool, person, as_lead):
    people.add(pool=pool, name="ann")
    page = post(as_lead, "pool-remove", pool, judge=person.pk)
    assert "ann is the last one on the list" in page.text
    assert names(pool) == ["ann"]


def test_a_pool_is_opened_to_everybody_again(pool, person, as_lead):
    people.add(pool=pool, name=make_person("bob").name)
    assert "Everybody with an account may judge now." in post(as_lead, "pool-everybody", pool).text
    assert names(pool) == []


def test_an_account_is_created_and_its_password_shown_once(pool, as_lead):
    page = post(as_lead, "pool-add", pool, name="cleo", do="create")
    password = page.one("input", id="once")["value"]
    assert Browser().login(username="cleo", password=password)
    assert not User.objects.get(username="cleo").is_staff
    assert names(pool) == ["cleo"]
    assert password not in as_lead.get(url("pool", pool)).content.decode()


@pytest.mark.parametrize(
    ("name", "do", "problem"),
    [
        ("nobody", "add", "There is no account “nobody”."),
        ("", "add", "Give the name of an account."),
        ("ann", "create", "already exists"),
        ("", "create", "cannot be blank"),
        ("a b!", "create", "Enter a valid username"),
        ("x" * 151, "create", "at most 150 characters"),
    ],
)
def test_a_name_that_cannot_be_added_is_said(pool, person, as_lead, name, do, problem):
    assert problem in post(as_lead, "pool-add", pool, name=name, do=do).text
    assert names(pool) == []


def test_a_judge_that_is_no_person_is_not_found(pool, as_lead):
    for wrong in (make_llm().pk, "x", "", 10**30):
        for name in ("pool-release", "pool-remove"):
            assert as_lead.post(url(name, pool), {"judge": wrong}).status_code == 404


def test_a_sign_up_link_is_made_shown_once_and_withdrawn(pool, as_lead):
    page = post(as_lead, "pool-invite", pool, days=3, seats=2)
    link = page.one("input", id="once")["value"]
    assert link.startswith("http://testserver/join/")
    token = link.rstrip("/").rpartition("/")[2]
    invitation = Invitation.objects.get()
    assert (invitation.seats, invitation.uses, invitation.created_by.username) == (2, 0, "lea")
    assert timedelta(days=2.9) < invitation.expires_at - timezone.now() < timedelta(days=3)
    later = as_lead.page(url("pool", pool))
    assert token not in str(later.elements)
    assert re.search(r"lea 0 of 2 good until", later.text)
    assert Browser().get(link).status_code == 200
    assert "lets nobody in any more" in post(as_lead, "pool-revoke", pool, invitation=invitation.pk).text
    assert "withdrawn" in as_lead.page(url("pool", pool)).text
    assert Browser().get(link).status_code == 404


def test_what_is_shown_once_waits_for_its_own_pools_page_and_is_not_lost_to_a_poll(pool, as_lead):
    other = make_pool(make_collection(), name="other")
    as_lead.post(url("pool-invite", pool), {"days": 3, "seats": 2})
    assert not as_lead.page(url("pool", other)).all("input", id="once")
    assert not as_lead.page(url("pool", pool), htmx=True).all("input", id="once")
    assert as_lead.page(url("pool", pool)).all("input", id="once")


@pytest.mark.parametrize(("days", "seats"), [(0, 1), (91, 1), (1, 0), (1, 501), ("", 1), ("x", 1)])
def test_a_link_for_too_long_or_too_many_is_refused(pool, as_lead, days, seats):
    page = post(as_lead, "pool-invite", pool, days=days, seats=seats)
    assert page.one("li", class_="error")
    assert not Invitation.objects.exists()


def test_a_link_of_another_pool_cannot_be_withdrawn_here(pool, as_lead):
    invitation = people.invite(pool=make_pool(make_collection(), name="other"), days=1, seats=1).invitation
    assert as_lead.post(url("pool-revoke", pool), {"invitation": invitation.pk}).status_code == 404
    assert Invitation.objects.usable().exists()
