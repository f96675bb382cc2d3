"""Training, pairs asked again and revealed labels, as the judging page shows them."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse

from judging.models import Judgment, Pool, Probe, TrainingAnswer, TrainingPair
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.views.pages import HTMX, Page, browser_of

pytestmark = pytest.mark.django_db

URL = "/pools/cran/judge/"


def post(browser, page: Page, *, htmx=True, **fields):
    """What a button of the page's form sends."""
    form = page.one("form", class_="pair")
    key = page.one("input", name="key")["value"]
    return browser.post(form["action"], {"key": key, **fields}, headers=HTMX if htmx else {})


def answered(browser, page: Page, **fields) -> Page:
    response = post(browser, page, **fields)
    assert response.status_code == 200
    return Page(response.content.decode())


# --- Training ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def trained(pool):
    query = pool.collection.queries.get()
    known = pool.collection.documents.get(docid="known")
    return TrainingPair.objects.create(
        pool=pool, position=0, query=query, document=known, grade=1, explanation="It <answers>."
    )


def test_a_training_pair_is_marked_as_such_and_does_not_give_its_grade_away(trained, as_person):
    page = as_person.page(URL)
    assert "Training 1 of 1: these answers do not count" in page.text
    assert "It <answers>." not in page.text
    assert not page.all("summary", data_key="k")
    assert page.one("form", class_="pair")["action"] == reverse("train", args=["cran", trained.pk])
    assert not page.all("button", data_key="s")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("1", "Right: Relevant ."),
        ("0", "You said Not relevant; here Relevant is expected."),
        ("cannot_judge", "You said Can't tell; here Relevant is expected."),
    ],
)
def test_the_answer_is_followed_by_whether_it_was_right_and_why(trained, as_person, answer, told):
    page = answered(as_person, as_person.page(URL), answer=answer)
    assert told in page.text
    assert "It <answers>." in page.text
    assert not page.all("button", name="answer")
    assert page.one("a", id="go-on")["href"] == URL
    assert "text of d1" in as_person.page(URL).text
    assert not Judgment.objects.by_people().exists()


def test_a_plain_form_leads_to_the_same_feedback(trained, as_person):
    response = post(as_person, as_person.page(URL), htmx=False, answer="1")
    assert (response.status_code, response.headers["Location"]) == (303, f"{URL}?training={trained.pk}")
    assert "Right: Relevant ." in as_person.page(f"{URL}?training={trained.pk}").text


def test_the_feedback_is_for_those_who_have_answered(trained, person, as_person):
    text = as_person.page(f"{URL}?training={trained.pk}").text
    assert "It <answers>." not in text
    assert "Training 1 of 1" in text


def test_a_training_pair_answered_twice_keeps_the_first_answer(trained, as_person):
    page = as_person.page(URL)
    answered(as_person, page, answer="0")
    assert "You said Not relevant" in answered(as_person, page, answer="1").text
    assert TrainingAnswer.objects.get().grade == 0


def test_a_training_answer_that_is_none_is_refused(trained, as_person):
    response = post(as_person, as_person.page(URL), answer="7", comment="stays")
    assert response.status_code == 409
    page = Page(response.content.decode())
    assert "Expected one of the grades 0, 1" in page.text
    assert "stays" in page.text
    assert not TrainingAnswer.objects.exists()


def test_a_closed_pool_repeats_a_training_answer_too(trained, as_person):
    page = as_person.page(URL)
    Pool.objects.update(status=Pool.Status.CLOSED)
    response = post(as_person, page, answer="1", comment="so")
    assert response.status_code == 409
    assert "Your answer Relevant Your comment so" in Page(response.content.decode()).text


def test_a_training_pair_of_another_pool_is_not_found(trained, judged_pool, as_person):
    assert as_person.post(reverse("train", args=["trec", trained.pk]), {"answer": "1"}).status_code == 404


def test_undo_leads_back_to_the_feedback_of_each_training_pair_and_the_first_answers_stay(pool, trained, as_person):
    second = TrainingPair.objects.create(
        pool=pool, position=1, query=trained.query, document=pool.collection.documents.get(docid="d3"), grade=0
    )
    page = as_person.page(URL)
    assert not page.all("a", data_key="u")
    for answer in ("1", "1"):
        answered(as_person, page, answer=answer)
        page = as_person.page(URL)
    assert "text of d1" in page.text
    for pair in (second, trained):
        undo = page.one("a", data_key="u")["href"]
        assert undo == f"{URL}?training={pair.pk}"
        page = as_person.page(undo)
        assert page.one("a", id="go-on")["href"] == URL
        assert not page.all("button", name="answer")
    assert "Right: Relevant ." in page.text
    assert not page.all("a", data_key="u")
    as_person.post(reverse("train", args=["cran", second.pk]), {"answer": "0"}, headers=HTMX)
    assert list(TrainingAnswer.objects.order_by("pk").values_list("grade", flat=True)) == [1, 1]


def test_undo_goes_from_the_first_pair_to_the_training(trained, as_person):
    answered(as_person, as_person.page(URL), answer="1")
    page = answered(as_person, as_person.page(URL), answer="0")
    first = page.one("a", data_key="u")["href"]
    assert first.startswith(f"{URL}?pair=")
    assert as_person.page(first).one("a", data_key="u")["href"] == f"{URL}?training={trained.pk}"


# --- Asked again ------------------------------------------------------------------------------------------------------


def without_what_differs(page: str) -> str:
    page = re.sub(r'name="key" value="[0-9a-f-]{36}"', "", page)
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"', "", page)


@pytest.fixture
def again(person, as_person):
    """The page that asks a person a pair that they judged with a comment, once more."""
    collection = make_collection("cran", documents=["d1"])
    make_pool(collection, name="cran", probe_share=1.0)
    answered(as_person, as_person.page(URL), answer="1", comment="SURE OF IT", seconds="3")
    return as_person.page(URL)


def test_a_pair_asked_again_hides_the_first_answer(again):
    assert "text of d1" in again.text
    assert "SURE OF IT" not in again.text
    assert not again.all("button", aria_current="true")


def test_a_pair_asked_again_looks_like_any_other(again, as_person):
    """The same page of a person who is asked for the first time, but for the progress."""
    other = browser_of(make_person("ben"))
    collection = make_collection("twin", documents=["d1"])
    make_pool(collection, name="twin", probe_share=1.0)
    pages = []
    for browser, slug in ((as_person, "cran"), (other, "twin")):
        html = browser.get(f"/pools/{slug}/judge/", headers=HTMX).content.decode()
        assert re.search(
            r'name="key" value="[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"', html
        )
        html = re.sub(r"\s+", " ", without_what_differs(html)).replace("twin", "cran")
        form = re.search(r"<form .*</form>", html)[0]
        undo = r'<a class="button plain" data-key="u".*?</a> |<button [^>]*disabled>.*?</button> '
        pages.append(re.sub(rf'judge/\d+/|data-hold="\d*"|{undo}', "", form))
    assert pages[0] == pages[1]


def test_the_second_answer_is_stored_apart_and_counted(again, as_person):
    assert "1 of 2" in as_person.page(URL, htmx=True).text
    page = answered(as_person, again, answer="0", comment="not now", seconds="4")
    assert "Saved: Not relevant" in page.text
    assert "2 of 2" in page.text
    judgment, probe = Judgment.objects.get(), Probe.objects.get()
    assert (judgment.grade, judgment.comment, judgment.events.count()) == (1, "SURE OF IT", 1)
    assert (probe.grade, probe.comment, probe.seconds, probe.first_grade) == (0, "not now", 4.0, 1)


def test_undo_leads_to_the_second_answer_and_corrects_it(again, as_person):
    page = answered(as_person, again, answer="0")
    back = as_person.page(page.one("a", data_key="u")["href"].replace("&amp;", "&"))
    assert back.one("button", aria_current="true")["value"] == "0"
    answered(as_person, back, answer="1")
    assert Probe.objects.get().grade == 1
    assert Judgment.objects.get().events.count() == 1
    first = as_person.page(back.one("a", data_key="u")["href"])
    assert "SURE OF IT" in first.text


def test_my_judgments_hold_the_first_answer_alone(again, as_person):
    answered(as_person, again, answer="0", comment="second")
    page = as_person.page(reverse("mine", args=["cran"]))
    assert "1 Relevant" in page.text
    assert "second" not in page.text


def test_a_save_in_a_pool_that_asks_again_costs_the_same_whatever_its_size(as_person, django_assert_num_queries):
    for slug, documents in (("small", 4), ("large", 200)):
        docids = [f"d{n}" for n in range(documents)]
        collection = make_collection(slug, documents=docids)
        make_pool(collection, make_run(collection, {"q1": docids}), name=slug, depth=documents, probe_share=0.05)
        page = answered(as_person, as_person.page(f"/pools/{slug}/judge/"), answer="1")
        with django_assert_num_queries(20):
            answered(as_person, page, answer="1")


# --- Revealed ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def labelled(pool):
    """Two LLMs have said something of every pair; the pool reveals it afterwards."""
    Pool.objects.update(reveal=True)
    collection = pool.collection
    for name, grades in (("ORACLE-7B", (0, 1, 0)), ("SIBYL-3B", (1, 0, 1))):
        llm = make_llm(name)
        for docid, grade in zip(("d1", "d2", "d3"), grades, strict=True):
            make_judgment(llm, collection, "q1", docid, grade, raw="RAWTEXT", comment="BECAUSE")
    return pool


def test_before_the_answer_there_is_no_trace_and_after_it_the_labels_of_that_pair_alone(labelled, as_person):
    page = as_person.page(URL)
    assert "ORACLE" not in as_person.get(URL).content.decode()
    html = post(as_person, page, answer="1").content.decode()
    text = Page(html).text
    assert "The document before: you Relevant ORACLE-7B Not relevant SIBYL-3B Relevant" in text
    assert "RAWTEXT" not in html
    assert "BECAUSE" not in html
    assert html.count("ORACLE-7B") == html.count("SIBYL-3B") == 1
    assert "ORACLE" not in as_person.get(URL).content.decode()


def test_a_plain_form_shows_them_too(labelled, as_person):
    response = post(as_person, as_person.page(URL), htmx=False, answer="1")
    assert "ORACLE-7B Not relevant" in as_person.page(response.headers["Location"]).text


def test_the_address_of_what_was_saved_reveals_nothing_that_was_not_shown(labelled, as_person):
    as_person.get(URL)
    for pair in labelled.pairs.all():
        assert b"ORACLE" not in as_person.get(f"{URL}?saved={pair.pk}").content


def test_the_way_back_leads_to_the_pair_with_its_labels_and_a_change_is_assisted(labelled, as_person):
    page = answered(as_person, as_person.page(URL), answer="1")
    (back,) = [link["href"] for link in page.all("a") if link.get("hx-get") and link.get("data-key") is None]
    page = as_person.page(back)
    assert "you Relevant ORACLE-7B Not relevant" in page.text
    assert "If you change it now, it is kept as assisted." in page.text
    answered(as_person, page, answer="0")
    judgment = Judgment.objects.by_people().get()
    assert (judgment.grade, judgment.assisted) == (0, True)
    assert list(judgment.events.values_list("grade", "assisted")) == [(1, False), (0, True)]


def test_labels_of_a_pair_not_judged_yet_are_never_shown(labelled, person, as_person):
    page = as_person.page(URL)
    for answer in ("1", "cannot_judge", "0"):
        held = page.one("form", class_="pair")["action"]
        assert b"ORACLE" not in as_person.get(f"{URL}?pair={held.rstrip('/').rpartition('/')[2]}").content
        page = answered(as_person, page, answer=answer)


def test_an_answer_sent_twice_reveals_the_same_twice(labelled, as_person):
    page, key = as_person.page(URL), str(uuid4())
    texts = [answered(as_person, page, answer="1", key=key).text for _ in range(2)]
    assert texts[0].count("ORACLE-7B Not relevant") == texts[1].count("ORACLE-7B Not relevant") == 1
    assert Judgment.objects.by_people().get().events.count() == 1


def test_a_pool_that_stops_revealing_shows_nothing_any_more(labelled, as_person):
    answered(as_person, as_person.page(URL), answer="1")
    Pool.objects.update(reveal=False)
    pair = labelled.pairs.get(document__docid="d1").pk
    for url in (f"{URL}?pair={pair}", f"{URL}?saved={pair}", reverse("mine", args=["cran"])):
        assert b"ORACLE" not in as_person.get(url).content
