"""The judging page: one pair at a time; what a person presses is stored once and answered with the next pair."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from judging.formats.scale import Grade, Scale
from judging.models import Assignment, Judgment, JudgmentEvent, LeaseState, Pair, Pool, Skip
from judging.steps import serve
from tests.factories import make_collection, make_person, make_pool, make_run
from tests.views.conftest import judge_all
from tests.views.judging import answered, by_people, expire_leases, judge_url, send, shown
from tests.views.pages import HTMX, Page, browser_of

pytestmark = pytest.mark.django_db


# --- What is shown ----------------------------------------------------------------------------------------------------


def test_the_page_shows_query_document_and_a_button_for_each_grade(pool, as_person):
    page = as_person.page(judge_url(pool))
    assert "query q1" in page.text
    assert "text of d1" in page.text
    assert "Document 1 of 3" in page.text
    assert "0 of 3" in page.text
    assert [button["value"] for button in page.all("button", name="answer")] == ["0", "1", "cannot_judge"]
    assert [button["data-key"] for button in page.all("button", name="answer")] == ["0 n", "1 r", "x"]


def test_a_graded_scale_has_its_words_and_no_keys_for_relevant_and_not(as_person):
    scale = Scale((Grade(0, "Off"), Grade(2, "Near", "on the topic"), Grade(5, "Spot on")), relevant_from=2)
    pool = make_pool(make_collection(qrels={("q1", "d3"): 5}, scale=scale))
    page = as_person.page(judge_url(pool))
    assert [button["data-key"] for button in page.all("button", name="answer")] == ["0", "2", "5", "x"]
    assert "Near on the topic" in page.text


def test_the_narrative_of_the_query_is_shown(pool, as_person):
    pool.collection.queries.update(narrative="Only what happened before 1960.")
    assert "Only what happened before 1960." in as_person.page(judge_url(pool)).text


def test_mojibake_is_repaired_in_all_that_is_read_and_stays_in_what_is_stored(pool, as_person):
    broken = "itâ€™s a wing"
    pool.collection.queries.update(text=broken, narrative=broken)
    pool.collection.documents.update(text=broken)
    page = as_person.page(judge_url(pool))
    assert "itâ€™s" not in page.text
    assert page.text.count("it’s") == 4  # query, narrative, document and the known one
    as_person.post(page.one("form", class_="pair")["action"], {"answer": "1"})
    mine = as_person.page(reverse("mine", args=[pool.slug]))
    assert mine.text.count("it’s a wing") == 2
    assert set(pool.collection.queries.values_list("text", flat=True)) == {broken}


def test_the_known_relevant_document_can_be_opened_beside(pool, as_person):
    assert "text of known" in as_person.page(judge_url(pool)).text
    Pool.objects.update(show_known=False)
    assert "text of known" not in as_person.page(judge_url(pool)).text


def test_words_of_the_query_are_marked_in_the_document(pool, as_person):
    pool.collection.queries.update(text="flowing wings")
    pool.collection.documents.filter(docid="d1").update(text="The flow over a wing.")
    assert re.findall("<mark>(.*?)</mark>", as_person.get(judge_url(pool)).content.decode()) == ["flow", "wing"]


def test_guidelines_are_shown_as_text_that_cannot_run(pool, as_person):
    Pool.objects.update(
        guidelines="# Look *twice*\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![y](https://evil.example/y.png)"
    )
    page = as_person.page(judge_url(pool))
    assert "Look twice" in page.text
    assert "<script>alert(1)</script>" in page.text
    assert "[x](javascript:alert(1))" in page.text
    assert not page.all("img")


def test_htmx_gets_the_changing_part_alone(pool, as_person):
    page = as_person.page(judge_url(pool), htmx=True)
    assert not page.all("html")
    assert page.one("div", id="judging")
    assert page.one("div", id="progress")["hx-swap-oob"] == "true"
    assert page.one("p", id="said")["hx-swap-oob"] == "innerHTML"


def test_a_long_document_is_folded_and_whole(pool, as_person):
    pool.collection.documents.filter(docid="d1").update(
        text="\n\n".join(f"Paragraph {n}. " + "word " * 50 for n in range(40))
    )
    page = as_person.page(judge_url(pool))
    assert page.one("details", class_="rest")
    assert all(f"Paragraph {n}." in page.text for n in range(40))


HOSTILE = """</textarea></script><script>alert(1)</script><img src=x onerror=alert(1)> [a](javascript:alert(1))
{{ 7|add:7 }} {% url 'home' %}
\u202etxet lanrever\u202c \u200bzero\u200bwidth 👩‍👩‍👧 &lt; & "quoted" 'single' \x0c\u2028 end"""


def test_hostile_text_is_shown_as_text(person):
    collection = make_collection(
        documents={"d1": HOSTILE, "</script>'\"": HOSTILE + "known"},
        queries={"q1": HOSTILE},
        qrels={("q1", "</script>'\""): 1},
    )
    collection.name = collection.language = HOSTILE[:16]
    collection.save()
    collection.documents.update(title=HOSTILE)
    collection.queries.update(narrative=HOSTILE)
    scale = collection.scale_json
    scale["grades"][1] |= {"word": HOSTILE, "description": HOSTILE}
    collection.save()
    pool = make_pool(collection, make_run(collection, {"q1": ["d1"]}), guidelines=HOSTILE)
    pool.name = HOSTILE[:199]
    pool.save()
    browser = browser_of(person)
    html = browser.get(judge_url(pool)).content.decode()
    page = Page(re.sub("</?mark>", "", html))
    assert not page.all("img")
    # The pool's name as title and heading, query, narrative, title and text of two documents, word and description of
    # the grade at its button and in the help, guidelines.
    assert page.text.count("<img src=x onerror=alert(1)>") == 13
    assert "{{ 7|add:7 }} {% url 'home' %}" in page.text
    page = answered(browser, pool, shown(page), answer="1", comment=HOSTILE)
    assert not page.all("img")
    assert Judgment.objects.by_people().get().comment == HOSTILE
    page = browser.page(judge_url(pool, pool.pairs.get()))
    assert HOSTILE.split("\n")[0] in page.text
    for url in (reverse("home"), reverse("mine", args=[pool.slug])):
        assert not browser.page(url).all("img")


# --- What is stored ---------------------------------------------------------------------------------------------------


def test_an_answer_is_stored_and_its_answer_holds_the_next_pair(pool, person, as_person):
    first = shown(as_person.page(judge_url(pool)))
    page = answered(as_person, pool, first, answer="1", comment=" good\r\nenough ", seconds="12.5", key=str(uuid4()))
    judgment = Judgment.objects.by_people().get()
    assert (judgment.judge, judgment.document.docid, judgment.outcome, judgment.grade) == (person, "d1", "graded", 1)
    assert (judgment.comment, judgment.seconds, judgment.assisted) == ("good\nenough", 12.5, False)
    assert "Saved: Relevant" in page.text
    assert "text of d2" in page.text
    assert "Document 2 of 3" in page.text
    assert "1 of 3" in page.text
    assert shown(page) != first


def test_the_answer_to_an_answer_is_what_a_fresh_load_shows(pool, as_person):
    page = answered(as_person, pool, shown(as_person.page(judge_url(pool))), answer="1")
    fresh = as_person.page(judge_url(pool))
    assert shown(page) == shown(fresh)
    changing, _progress, said = page.text.rpartition("1 of 3")
    assert changing.strip() in fresh.text
    assert said.strip().endswith("Saved: Relevant")


def test_a_plain_form_is_answered_with_a_redirect_to_the_next_pair(pool, as_person):
    first = shown(as_person.page(judge_url(pool)))
    response = send(as_person, pool, first, htmx=False, answer="0")
    assert (response.status_code, response.headers["Location"]) == (303, judge_url(pool))
    assert by_people() == [("d1", 0, "graded")]


def test_a_person_who_cannot_judge_says_so_without_a_grade(pool, as_person):
    page = answered(as_person, pool, shown(as_person.page(judge_url(pool))), answer="cannot_judge")
    assert by_people() == [("d1", None, "cannot_judge")]
    assert "Saved: Can't tell" in page.text


def test_the_same_key_twice_stores_once(pool, as_person):
    first, key = shown(as_person.page(judge_url(pool))), str(uuid4())
    pages = [answered(as_person, pool, first, answer="1", key=key) for _ in range(2)]
    assert shown(pages[0]) == shown(pages[1])
    assert [page.text.count("Saved: Relevant") for page in pages] == [1, 1]
    assert JudgmentEvent.objects.count() == 1


def test_each_form_has_a_key_of_its_own(pool, as_person):
    keys = [as_person.page(judge_url(pool)).one("input", name="key")["value"] for _ in range(2)]
    assert keys[0] != keys[1]


def test_the_key_of_another_pair_does_not_swallow_an_answer(pool, as_person):
    key = str(uuid4())
    second = shown(answered(as_person, pool, shown(as_person.page(judge_url(pool))), answer="1", key=key))
    answered(as_person, pool, second, answer="0", key=key)
    assert by_people() == [("d1", 1, "graded"), ("d2", 0, "graded")]


def test_the_key_of_another_person_does_not_swallow_an_answer_or_show_theirs(person):
    pool = make_pool(make_collection(documents=["d1"]), people=2)
    key = str(uuid4())
    pair = pool.pairs.get().pk
    answered(browser_of(person), pool, pair, answer="1", key=key)
    page = answered(browser_of(make_person("ben")), pool, pair, answer="0", key=key)
    assert "Saved: Not relevant" in page.text
    assert [grade for _, grade, _ in by_people()] == [1, 0]


@pytest.mark.parametrize("key", ["", "not a key", "0" * 5000])
def test_an_answer_with_a_bad_key_is_stored_all_the_same(pool, as_person, key):
    answered(as_person, pool, shown(as_person.page(judge_url(pool))), answer="1", key=key)
    assert by_people() == [("d1", 1, "graded")]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("-3", None),
        ("0", None),
        ("1e99", 3600.0),
        ("7.25", 7.25),
    ],
)
def test_seconds_that_a_clock_cannot_have_measured_are_not_kept(pool, as_person, said, kept):
    answered(as_person, pool, shown(as_person.page(judge_url(pool))), answer="1", seconds=said)
    assert Judgment.objects.by_people().get().seconds == kept


@pytest.mark.parametrize(
    "grade", ["", "2", "-1", "1.0", "one", "graded", "unparsed", "١", "9" * 18, "9" * 6000, "1; DROP"]
)
def test_a_grade_that_does_not_exist_is_refused_with_the_reason_and_the_pair_stays(pool, as_person, grade):
    first = shown(as_person.page(judge_url(pool)))
    page = answered(as_person, pool, first, status=409, answer=grade)
    assert page.one("p", class_="problem")["role"] == "alert"
    assert "nothing was saved" in page.text or "Expected one of the grades 0, 1" in page.text
    assert shown(page) == first
    assert by_people() == []


def test_an_answer_without_any_field_is_refused(pool, as_person):
    page = answered(as_person, pool, shown(as_person.page(judge_url(pool))), status=409)
    assert "No grade was chosen; nothing was saved." in page.text


def test_a_comment_that_is_too_long_is_refused_and_not_cut(pool, as_person):
    first = shown(as_person.page(judge_url(pool)))
    page = answered(as_person, pool, first, status=409, answer="1", comment="x" * 4001)
    assert "The comment has 4001 characters, and at most 4000 are kept; nothing was saved." in page.text
    answered(as_person, pool, first, answer="1", comment="\r\n".join(["x" * 99] * 40))
    assert len(Judgment.objects.by_people().get().comment) == 40 * 100 - 1


def test_a_comment_with_nul_is_kept_without_it(pool, as_person):
    answered(as_person, pool, shown(as_person.page(judge_url(pool))), answer="1", comment="a\0b")
    assert Judgment.objects.by_people().get().comment == "ab"


# --- When the pair or the pool is gone --------------------------------------------------------------------------------


def test_a_pair_that_others_judged_meanwhile_comes_as_a_conflict_with_the_next_one(as_person):
    collection = make_collection(documents=["d1", "d2"], queries=["q1", "q2"])
    pool = make_pool(collection, make_run(collection, {"q1": ["d1"], "q2": ["d2"]}))
    first = shown(as_person.page(judge_url(pool)))
    expire_leases()
    other = make_person("quick")
    serve.answer(pair=Pair.objects.get(pk=first), annotator=other, said=_relevant())
    page = answered(as_person, pool, first, status=409, answer="0")
    assert "Others have judged this document meanwhile" in page.text
    assert shown(page) != first
    assert [(j.judge, j.grade) for j in Judgment.objects.by_people()] == [(other, 1)]


def _relevant():
    return serve.Said(outcome="graded", grade=1)


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("status", [Pool.Status.PAUSED, Pool.Status.CLOSED])
def test_a_pool_that_is_not_open_refuses_with_the_reason_and_shows_no_pair(pool, as_person, status, htmx):
    first = shown(as_person.page(judge_url(pool)))
    Pool.objects.update(status=status)
    response = send(as_person, pool, first, htmx=htmx, answer="1")
    page = Page(response.content.decode())
    assert response.status_code == 409
    assert f"The pool “cran” is {status}: answers are not taken now." in page.text
    assert not page.all("form", class_="pair")
    assert bool(page.all("html")) is not htmx
    assert by_people() == []


def test_a_pool_that_is_not_open_says_so(pool, as_person):
    Pool.objects.update(status=Pool.Status.PAUSED)
    assert "This pool is paused" in as_person.page(judge_url(pool)).text


def test_when_all_is_judged_the_page_says_so(pool, person, as_person):
    judge_all(pool, person, [1, 0, None])
    page = as_person.page(judge_url(pool))
    assert "You have judged 3 documents, and nothing is left for you in this pool." in page.text
    assert not page.all("form", class_="pair")


def test_when_others_hold_the_rest_the_page_says_until_when(pool, as_person):
    serve.next_pair(pool=pool, annotator=make_person("holder"))
    page = as_person.page(judge_url(pool))
    assert "3 documents are in the hands of others. The first may come free at" in page.text


def test_a_pair_of_another_pool_is_not_found(pool, judged_pool, as_person):
    stranger = judged_pool.pairs.first()
    for name in ("answer", "skip"):
        assert as_person.post(reverse(name, args=[pool.slug, stranger.pk]), {"answer": "1"}).status_code == 404


@pytest.mark.parametrize("number", [0, 10**12, 10**30])
def test_a_pair_that_does_not_exist_is_not_found(pool, as_person, number):
    assert as_person.post(f"/pools/cran/judge/{number}/", {"answer": "1"}).status_code == 404
    assert as_person.get(f"/pools/cran/judge/?pair={number}").status_code in {200, 404}


# --- Back, put off, leave ---------------------------------------------------------------------------------------------


def test_undo_leads_to_the_previous_answer_and_a_correction_replaces_it(pool, as_person):
    first = shown(as_person.page(judge_url(pool)))
    page = answered(as_person, pool, first, answer="1", comment="sure")
    undo = page.one("a", data_key="u")
    assert undo["href"] == undo["hx-get"] == judge_url(pool, Pair.objects.get(pk=first))
    back = as_person.page(undo["href"])
    assert shown(back) == first
    assert back.one("button", value="1")["aria-current"] == "true"
    assert "sure" in back.text
    answered(as_person, pool, first, answer="0")
    assert by_people() == [("d1", 0, "graded")]
    assert list(JudgmentEvent.objects.values_list("grade", flat=True)) == [1, 0]


def test_undo_goes_back_answer_by_answer(pool, as_person):
    pairs, page = [], as_person.page(judge_url(pool))
    assert not page.all("a", data_key="u")
    for _ in range(3):
        pairs.append(shown(page))
        response = send(as_person, pool, pairs[-1], answer="1")
        page = Page(response.content.decode())
    for pair in reversed(pairs):
        page = as_person.page(page.one("a", data_key="u")["href"])
        assert shown(page) == pair
    assert not page.all("a", data_key="u")


def test_what_is_put_off_comes_last(pool, as_person):
    page = as_person.page(judge_url(pool))
    put_off, order = shown(page), []
    response = as_person.post(page.one("button", data_key="s")["formaction"], headers=HTMX)
    page = Page(response.content.decode())
    assert "Put off; it comes again at the end." in page.text
    while page.all("form", class_="pair"):
        order.append(shown(page))
        page = answered(as_person, pool, order[-1], answer="1")
    assert len(order) == 3
    assert order[-1] == put_off


def test_a_plain_skip_is_answered_with_a_redirect(pool, as_person):
    first = shown(as_person.page(judge_url(pool)))
    response = as_person.post(reverse("skip", args=[pool.slug, first]))
    assert (response.status_code, response.headers["Location"]) == (303, judge_url(pool))
    assert Skip.objects.count() == 1


def test_nothing_can_be_put_off_in_a_closed_pool(pool, as_person):
    first = shown(as_person.page(judge_url(pool)))
    Pool.objects.update(status=Pool.Status.CLOSED)
    assert as_person.post(reverse("skip", args=[pool.slug, first]), headers=HTMX).status_code == 409
    assert not Skip.objects.exists()


def test_leaving_frees_what_was_held_and_goes_home(pool, as_person):
    as_person.get(judge_url(pool))
    response = as_person.post(reverse("leave", args=[pool.slug]))
    assert (response.status_code, response.headers["Location"]) == (303, reverse("home"))
    assert not Assignment.objects.exclude(state=LeaseState.FREE).exists()


def test_the_heartbeat_renews_what_is_held(pool, as_person):
    as_person.get(judge_url(pool))
    expire_leases()
    assert as_person.post(reverse("heartbeat", args=[pool.slug])).status_code == 204
    assert not Assignment.objects.filter(leased_until__lt=timezone.now()).exists()
