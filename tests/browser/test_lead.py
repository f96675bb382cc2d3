"""The lead's pages in a real browser: adjudication by keys, a link that is copied, a page that rests while hidden."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from judging.models import Judgment
from judging.steps import serve
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pool():
    documents = {f"d{n}": f"text {n}\n\n" + "wing flutter " * 40 for n in range(4)} | {"known": "a good answer"}
    collection = make_collection(
        "cran", documents=documents, queries={"q1": "wing flutter"}, qrels={("q1", "known"): 1}
    )
    pool = make_pool(collection, make_run(collection, {"q1": list(documents)}), name="cran", depth=4, people=2)
    ada, llm = make_person("ada"), make_llm()
    for number in range(4):
        make_judgment(ada, collection, "q1", f"d{number}", 1)
        make_judgment(llm, collection, "q1", f"d{number}", 0, probabilities={"0": 0.9 - number / 10}, raw="0")
    make_person("lea", is_staff=True)
    return pool


@pytest.fixture
def adjudicating(pool, new_page):
    page = new_page("lea")
    page.goto("/pools/cran/adjudicate/")
    return page


def press(page: Page, key: str) -> None:
    with page.expect_response(lambda response: "/adjudicate/" in response.url):
        page.keyboard.press(key)
    expect(page.locator(".htmx-request")).to_have_count(0)


def verdicts() -> list[tuple[str, int | None]]:
    rows = Judgment.objects.filter(judge__kind="adjudication").order_by("pk")
    return list(rows.values_list("document__docid", "grade"))


def test_pairs_are_adjudicated_by_one_key_each(adjudicating):
    expect(adjudicating.locator("article")).to_contain_text("text 0")
    press(adjudicating, "1")
    expect(adjudicating.get_by_role("status")).to_have_text("Saved: Relevant")
    expect(adjudicating.locator("#query")).to_be_focused()
    expect(adjudicating.locator("article")).to_contain_text("text 1")
    press(adjudicating, "n")
    press(adjudicating, "x")
    press(adjudicating, "r")
    expect(adjudicating.get_by_role("heading", name="Nothing is left")).to_be_visible()
    assert verdicts() == [("d0", 1), ("d1", 0), ("d2", None), ("d3", 1)]


def test_undo_and_pass_over_by_key(adjudicating):
    press(adjudicating, "1")
    press(adjudicating, "s")
    expect(adjudicating.locator("article")).to_contain_text("text 2")
    press(adjudicating, "u")
    expect(adjudicating.locator("button.grade[aria-current=true]")).to_contain_text("Relevant")
    press(adjudicating, "0")
    expect(adjudicating.locator("article")).to_contain_text("text 1")
    assert verdicts() == [("d0", 0)]


def test_keys_do_not_fire_in_the_reason(adjudicating):
    adjudicating.keyboard.press("c")
    box = adjudicating.get_by_role("textbox", name="Your reason")
    expect(box).to_be_focused()
    adjudicating.keyboard.type("10 x u s")
    expect(box).to_have_value("10 x u s")
    assert verdicts() == []
    adjudicating.keyboard.press("Escape")
    press(adjudicating, "1")
    assert Judgment.objects.get(judge__kind="adjudication").comment == "10 x u s"


def test_a_verdict_that_could_not_be_stored_is_said_and_can_be_given_again(adjudicating):
    adjudicating.context.set_offline(True)
    adjudicating.keyboard.press("1")
    expect(adjudicating.get_by_role("alert")).to_contain_text("Not saved")
    adjudicating.context.set_offline(False)
    press(adjudicating, "1")
    expect(adjudicating.locator("#trouble")).to_be_hidden()
    assert verdicts() == [("d0", 1)]


def test_without_scripts_the_buttons_do_the_same(pool, new_page):
    page = new_page("lea", java_script_enabled=False)
    page.goto("/pools/cran/adjudicate/")
    page.get_by_role("button", name="Not relevant").click()
    expect(page.locator("article")).to_contain_text("text 1")
    page.get_by_role("link", name="Undo").click()
    expect(page.locator("article")).to_contain_text("text 0")
    assert verdicts() == [("d0", 0)]


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_no_page_of_the_lead_is_wider_than_the_window(pool, new_page, width):
    serve.next_pair(pool=pool, annotator=make_person("bob"))
    page = new_page("lea", viewport={"width": width, "height": 740})
    llm = Judgment.objects.filter(judge__kind="llm").first().judge_id
    for address in (
        "/collections/", "/pools/cran/", "/pools/cran/disagreements/", "/pools/cran/adjudicate/",
        "/collections/cran/judges/", f"/collections/cran/judges/{llm}/", "/password/",
    ):  # fmt: skip
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == width, address


def test_a_sign_up_link_is_copied_and_lets_somebody_in(pool, new_page, browser, live_server):
    page = new_page("lea", permissions=["clipboard-read", "clipboard-write"])
    page.goto("/pools/cran/")
    page.get_by_role("button", name="Make a sign-up link").click()
    expect(page.locator("#once-title")).to_be_in_viewport()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.locator("#once").input_value()
    stranger = browser.new_context().new_page()
    stranger.goto(link)
    stranger.get_by_label("Username").fill("cleo")
    for label in ("Password:", "Password confirmation:"):
        stranger.get_by_label(label, exact=True).fill("a long and odd one")
    stranger.get_by_role("button", name="Make the account").click()
    expect(stranger.get_by_text("Welcome. You may judge in “cran” now.")).to_be_visible()
    stranger.get_by_role("link", name="Start").click()
    expect(stranger.locator("form.pair")).to_be_visible()
    stranger.context.close()


def test_what_was_done_about_people_is_said_where_the_lead_looks(pool, new_page):
    make_person("bob")
    page = new_page("lea", viewport={"width": 360, "height": 740})
    page.goto("/pools/cran/")
    page.get_by_label("Name of the account").fill("bob")
    page.get_by_role("button", name="Add the account").click()
    expect(page.get_by_text("bob may judge now.")).to_be_in_viewport()
    page.get_by_label("Name of the account").fill("cleo")
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_label("The initial password")).to_be_in_viewport()


def test_the_pool_page_lives_while_it_is_seen_and_rests_while_it_is_not(pool, new_page):
    page = new_page("lea")
    page.clock.install()
    page.goto("/pools/cran/")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "hx-request" in request.headers else None)
    serve.next_pair(pool=pool, annotator=make_person("bob"))
    page.clock.run_for(5_500)
    expect(page.locator("#pool-progress")).to_contain_text("4 pairs are in somebody's hands now")
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    before = len(asked)
    assert before
    page.clock.run_for(30_000)
    assert len(asked) == before
    page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
    with page.expect_response(lambda response: "/pools/cran/" in response.url):
        page.clock.run_for(5_500)
