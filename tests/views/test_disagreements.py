"""Where judges differ, and the lead's last word on it by one press of a key."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse

from judging.formats.scale import default_scale
from judging.models import Judgment, JudgmentEvent
from judging.steps.merge import merge
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run
from tests.views.pages import HTMX, Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    """Four pairs: three on which judges differ, by three, two and one grades, and one on which they agree."""
    documents = {"d1": "one <b>flutter</b>", "d2": "text two", "d3": "text three", "d4": "four", "known": "the best"}
    queries = {"q1": "the flutter of wings"}
    collection = make_collection(
        "cran", documents=documents, queries=queries, scale=default_scale(3), qrels={("q1", "known"): 3}
    )
    pool = make_pool(collection, make_run(collection, {"q1": list(documents)}), name="cran", depth=4, people=2)
    ada, ben, llm = make_person("ada"), make_person("ben"), make_llm("phi")
    for docid, first, second, by_llm in (("d1", 1, 1, 0), ("d2", 0, 2, 1), ("d3", 3, 3, 0), ("d4", 2, 2, 2)):
        make_judgment(ada, collection, "q1", docid, first, comment="only in passing" if docid == "d3" else "")
        make_judgment(ben, collection, "q1", docid, second, assisted=docid == "d1")
        make_judgment(llm, collection, "q1", docid, by_llm, probabilities={"0": 0.75, "2": 0.2}, raw="<i>raw</i>")
    return pool


def list_url(pool, query=""):
    return reverse("disagreements", args=[pool.slug]) + query


def page_url(pool, query=""):
    return reverse("adjudication", args=[pool.slug]) + query


def shown(page: Page) -> str:
    """The address that the page's form posts to; it names the pair."""
    return page.one("form", class_="pair adjudicate")["action"]


def docid(pool, page: Page) -> str:
    number = re.search(r"/adjudicate/(\d+)/", shown(page))[1]
    return pool.pairs.get(pk=number).document.docid


def press(browser, page: Page, answer: object, *, status: int = 200, **fields: object) -> Page:
    fields = {"answer": answer, "key": page.one("input", name="key")["value"], **fields}
    response = browser.post(shown(page), fields, headers=HTMX)
    assert response.status_code == status
    return Page(response.content.decode())


def verdicts() -> list[tuple[str, int | None, str]]:
    rows = Judgment.objects.filter(judge__kind="adjudication").order_by("pk")
    return list(rows.values_list("document__docid", "grade", "comment"))


# --- The list ---------------------------------------------------------------------------------------------------------


def test_the_list_has_the_most_surprising_first_with_who_said_what(pool, as_lead):
    page = as_lead.page(list_url(pool))
    assert "3 pairs on which judges differ are open; 0 are adjudicated." in page.text
    assert page.text.index("text three") < page.text.index("text two") < page.text.index("one <b>flutter</b>")
    assert "ada 3 with a comment ben 3 phi 0 3 grades apart · LLM sure to 75 %" in page.text
    assert "The most surprising first: by the largest distance" in page.text


def test_the_list_is_narrowed_by_who_differs(pool, as_lead):
    ben = Judgment.objects.filter(judge__name="ben").first().judge_id
    for query, number in (
        ("?between=people", 1), ("?between=llm", 3), (f"?judge={ben}", 3), (f"?between=people&judge={ben}", 1),
        ("?state=settled", 0), ("?judge=0", 0), ("?judge=x", 3), ("?between=cats", 3), ("?judge=" + "9" * 30, 3),
    ):  # fmt: skip
        page = as_lead.page(list_url(pool, query))
        assert len(page.all("span", class_="asked")) == number, query


def test_a_pool_on_which_nobody_differs_says_so(as_lead):
    pool = make_pool(make_collection(), name="calm")
    assert "Judges differ on no open pair here." in as_lead.page(list_url(pool)).text
    assert "None of these is adjudicated yet." in as_lead.page(list_url(pool, "?state=settled")).text


def test_the_list_costs_the_same_however_long_it_is(as_lead, django_assert_num_queries):
    for size in (1, 24):
        docids = [f"d{n}" for n in range(size)]
        pool = make_pool(make_collection(documents=docids), name=f"size {size}", depth=size, people=2)
        ada, llm = make_person(), make_llm()
        for docid in docids:
            make_judgment(ada, pool.collection, "q1", docid, 0)
            make_judgment(llm, pool.collection, "q1", docid, 1)
        with django_assert_num_queries(10):
            as_lead.get(list_url(pool))


# --- One of them ------------------------------------------------------------------------------------------------------


def test_the_page_shows_all_that_was_said_and_what_is_to_be_read(pool, as_lead):
    page = as_lead.page(page_url(pool))
    assert docid(pool, page) == "d3"
    assert "3 are open" in page.text
    assert re.search(r"ada 3 \w+", page.text)
    assert "only in passing" in page.text
    assert re.search(r"phi 0 .* 0 .75 .75 2 .20 .20 Its raw answer <i>raw</i>", page.text)
    assert "the best" in page.text
    assert [button["value"] for button in page.all("button", class_="grade")] == ["0", "1", "2", "3"]


def test_words_of_the_query_are_marked_and_markup_is_shown_as_text(pool, as_lead):
    number = pool.pairs.get(document__docid="d1").pk
    page = as_lead.page(page_url(pool, f"?pair={number}"))
    assert page.all("mark")
    assert not page.all("b")
    assert "after seeing an LLM's label" in page.text


def test_one_press_stores_the_verdict_and_brings_the_next(pool, as_lead):
    page = as_lead.page(page_url(pool))
    after = press(as_lead, page, 2, comment="ada missed the table")
    assert verdicts() == [("d3", 2, "ada missed the table")]
    assert not after.all("html")
    assert "Saved: " in after.text
    assert docid(pool, after) == "d2"
    assert "2 are open" in after.text
    last = press(as_lead, press(as_lead, after, 1), 1)
    assert "Nothing is left to adjudicate" in last.text
    assert [row[0] for row in verdicts()] == ["d3", "d2", "d1"]


def test_without_scripts_the_form_leads_to_the_next(pool, as_lead):
    page = as_lead.page(page_url(pool, "?between=llm"))
    response = as_lead.post(shown(page), {"answer": "2", "key": str(uuid4())})
    assert response.status_code == 303
    following = as_lead.page(response.headers["Location"])
    assert docid(pool, following) == "d1"
    assert "between=llm" in shown(following)


def test_the_merge_takes_the_verdict(pool, as_lead):
    press(as_lead, press(as_lead, as_lead.page(page_url(pool)), 1), 3)
    merged = {row.document: (row.grade, row.source) for row in merge(collection=pool.collection).grades}
    assert (merged["d3"], merged["d2"]) == ((1, "adjudicated"), (3, "adjudicated"))


def test_undo_shows_the_verdict_and_lets_it_be_changed_with_its_history(pool, as_lead):
    second = press(as_lead, as_lead.page(page_url(pool)), 2, comment="why")
    back = as_lead.page(second.one("a", data_key="u")["hx-get"], htmx=True)
    assert docid(pool, back) == "d3"
    assert back.one("button", class_="grade", aria_current="true")["value"] == "2"
    assert "why" in back.text
    assert "adjudication/lea 2" in back.text
    assert docid(pool, press(as_lead, back, 0)) == "d2"
    assert verdicts()[0] == ("d3", 0, "")
    assert list(JudgmentEvent.objects.filter(judgment__judge__kind="adjudication").values_list("grade", flat=True)) == [
        2,
        0,
    ]


def test_what_is_passed_over_stays_and_is_offered_again_at_the_end(pool, as_lead):
    page = as_lead.page(page_url(pool))
    for _ in range(3):
        page = as_lead.page(page.one("a", data_key="s")["href"])
    assert "That was the last one" in page.text
    assert "3 pairs that you passed over are still there." in page.text
    assert verdicts() == []


def test_left_undecided_counts_as_settled_and_changes_nothing(pool, as_lead):
    after = press(as_lead, as_lead.page(page_url(pool)), "cannot_judge")
    assert "Saved: left undecided" in after.text
    assert "2 are open" in after.text
    assert verdicts() == [("d3", None, "")]
    assert "adjudicated already" in as_lead.page(page_url(pool, "?state=settled")).text


def test_the_same_press_twice_is_stored_once(pool, as_lead):
    page = as_lead.page(page_url(pool))
    press(as_lead, page, 1)
    press(as_lead, page, 1)
    assert JudgmentEvent.objects.filter(judgment__judge__kind="adjudication").count() == 1


@pytest.mark.parametrize("wrong", ["4", "-1", "x", "", "9" * 40])
def test_a_grade_that_cannot_be_is_said_and_nothing_stored(pool, as_lead, wrong):
    page = press(as_lead, as_lead.page(page_url(pool)), wrong, status=409)
    assert page.one("p", class_="problem")
    assert docid(pool, page) == "d3"
    assert verdicts() == []


def test_a_pair_on_which_judges_agree_may_be_adjudicated_too(pool, as_lead):
    number = pool.pairs.get(document__docid="d4").pk
    page = as_lead.page(page_url(pool, f"?pair={number}"))
    assert "judges do not differ on this one" in page.text
    press(as_lead, page, 3)
    assert verdicts() == [("d4", 3, "")]


def test_pairs_of_other_pools_and_numbers_without_pair_are_not_found(pool, as_lead):
    other = make_pool(make_collection(), name="other").pairs.first().pk
    for number in (other, 0, 10**15):
        assert as_lead.get(page_url(pool, f"?pair={number}")).status_code == 404
        address = reverse("verdict", args=[pool.slug, number])
        assert as_lead.post(address, {"answer": "1"}).status_code == 404
    for wrong in ("?pair=x", f"?after={other}", "?after=x"):
        assert as_lead.get(page_url(pool, wrong)).status_code == 200
