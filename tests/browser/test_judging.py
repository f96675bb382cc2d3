"""The judging page in a browser: by keys, by touch, offline and back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from judging.models import Judgment, JudgmentEvent
from tests.browser.pages import open_desk
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.fixture
def pool():
    documents = {f"d{n}": f"Yeast number {n} makes dough rise.\n\nIt likes warmth." for n in range(1, 6)}
    collection = make_collection(
        "bread",
        documents=documents,
        queries={"q1": "why does dough rise", "q2": "what is yeast"},
        qrels={("q1", "d5"): 1, ("q2", "d5"): 1},
    )
    run = make_run(collection, {"q1": ["d1", "d2", "d3"], "q2": ["d2", "d4"]})
    return make_pool(collection, run, depth=3, seed=0, guidelines="## How\n\nRead *all* of it.")


@pytest.fixture
def judging(pool, new_page):
    make_person("ann")
    page = new_page("ann")
    open_desk(page, pool)
    return page


def answers() -> list[tuple[str, str, int | None]]:
    rows = Judgment.objects.by_people().order_by("pk")
    return list(rows.values_list("query__qid", "document__docid", "grade"))


def document_on(page) -> str:
    return page.locator("article.document").inner_text()


def press(page, key: str) -> None:
    """Press a key and wait until the next document stands there."""
    with page.expect_response(lambda response: "/judge/" in response.url):
        page.keyboard.press(key)
    expect(page.locator(".htmx-request")).to_have_count(0)


def test_a_whole_pool_is_judged_by_keys(judging):
    for key in "10nr1":
        press(judging, key)
    expect(judging.locator("h1")).to_have_text("All judged")
    assert [grade for _, _, grade in answers()] == [1, 0, 0, 1, 1]
    assert {(q, d) for q, d, _ in answers()} == {("q1", "d1"), ("q1", "d2"), ("q1", "d3"), ("q2", "d2"), ("q2", "d4")}


def test_what_was_saved_is_said_aloud_and_the_query_has_the_focus(judging):
    press(judging, "1")
    expect(judging.get_by_role("status")).to_have_text("Saved: Relevant")
    expect(judging.locator("#query")).to_be_focused()


def test_undo_goes_back_across_queries_and_a_correction_returns(judging):
    for _ in range(4):
        press(judging, "1")
    fifth = document_on(judging)
    for _ in range(4):
        press(judging, "u")
    expect(judging.locator("button.grade[aria-current=true]")).to_have_count(1)
    first = answers()[0]
    press(judging, "0")
    assert answers()[0] == (first[0], first[1], 0)
    assert document_on(judging) == fifth


def test_cannot_judge_and_skip(judging):
    press(judging, "x")
    assert [grade for _, _, grade in answers()] == [None]
    skipped = document_on(judging)
    press(judging, "s")
    assert document_on(judging) != skipped
    assert len(answers()) == 1


def test_keys_do_not_fire_in_the_comment_box(judging):
    judging.keyboard.press("c")
    box = judging.get_by_role("textbox", name="Your comment")
    expect(box).to_be_focused()
    judging.keyboard.type("10 r x u s?")
    expect(box).to_have_value("10 r x u s?")
    assert answers() == []
    judging.keyboard.press("Escape")
    press(judging, "1")
    assert Judgment.objects.by_people().get().comment == "10 r x u s?"


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_keys_do_not_fire_with_modifiers(judging, modifier):
    judging.keyboard.press(f"{modifier}+1")
    judging.wait_for_timeout(300)
    assert answers() == []


def test_a_key_held_down_answers_once(judging):
    with judging.expect_response(lambda response: "/judge/" in response.url):
        for _ in range(6):  # keydown again without keyup is what a held key sends
            judging.keyboard.down("1")
    judging.keyboard.up("1")
    judging.wait_for_timeout(300)
    assert len(answers()) == 1


def test_keys_work_on_a_layout_without_latin_letters(judging):
    """On a Russian layout the key of u types г; on a French one the key of 1 types &."""

    def type_key(key: str, code: str) -> None:
        with judging.expect_response(lambda response: "/judge/" in response.url):
            judging.evaluate(
                "([key, code]) =>"
                " document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code, bubbles: true}))",
                [key, code],
            )
        expect(judging.locator(".htmx-request")).to_have_count(0)

    first = document_on(judging)
    type_key("&", "Digit1")
    type_key("г", "KeyU")
    assert document_on(judging) == first
    assert [grade for _, _, grade in answers()] == [1]


def test_a_double_click_is_stored_once(judging):
    judging.locator("button.grade").first.dblclick()
    judging.wait_for_timeout(500)
    assert len(answers()) == 1
    assert JudgmentEvent.objects.count() == 1


def test_the_known_document_the_guidelines_and_the_keys_open_and_close(judging):
    known = judging.locator("details[data-remember=known]")
    expect(known).to_have_attribute("open", "")
    judging.keyboard.press("k")
    expect(known).not_to_have_attribute("open", "")
    press(judging, "1")
    expect(judging.locator("details[data-remember=known]")).not_to_have_attribute("open", "")
    judging.keyboard.press("g")
    expect(judging.get_by_role("heading", name="How")).to_be_visible()
    judging.keyboard.press("1")  # nothing is judged behind an open sheet
    judging.keyboard.press("Escape")
    judging.keyboard.press("?")
    expect(judging.get_by_role("heading", name="Help")).to_be_visible()
    judging.keyboard.press("?")
    expect(judging.get_by_role("heading", name="Help")).to_be_hidden()
    assert len(answers()) == 1


def test_guidelines_open_by_themselves_once_and_again_when_they_have_changed(pool, new_page):
    make_person("ann")
    page = new_page("ann")
    guidelines = page.get_by_role("heading", name="How")
    page.goto(f"/pools/{pool.slug}/judge/")
    expect(guidelines).to_be_visible()
    expect(page.locator("#guidelines button")).to_be_focused()
    page.keyboard.press("1")  # nothing is judged unread
    page.keyboard.press("Enter")
    expect(guidelines).to_be_hidden()
    page.reload()
    expect(page.locator("article.document")).to_be_visible()
    expect(guidelines).to_be_hidden()
    pool.guidelines += "\n\nThen read it again."
    pool.save()
    page.reload()
    expect(page.get_by_text("Then read it again.")).to_be_visible()
    assert answers() == []


def test_a_press_beside_open_guidelines_closes_them_and_judges_nothing(judging):
    judging.keyboard.press("g")
    judging.locator("button.grade").first.click()
    expect(judging.get_by_role("heading", name="How")).to_be_hidden()
    assert answers() == []
    with judging.expect_response(lambda response: "/judge/" in response.url):
        judging.locator("button.grade").first.click()
    assert len(answers()) == 1
    for shown in (1, 0):
        judging.get_by_role("button", name="Guidelines").click()
        expect(judging.get_by_role("heading", name="How")).to_be_visible(visible=bool(shown))


def test_a_key_judges_after_a_press_that_ended_elsewhere(judging):
    judging.keyboard.press("g")
    judging.locator("#query").hover()
    judging.mouse.down()
    judging.locator("article.document").hover(force=True)
    judging.mouse.up()
    judging.keyboard.press("Escape")
    press(judging, "1")
    assert len(answers()) == 1


def test_marks_can_be_put_out(judging):
    def colour() -> str:
        return judging.locator("article mark").first.evaluate("mark => getComputedStyle(mark).backgroundColor")

    assert colour() != "rgba(0, 0, 0, 0)"
    judging.keyboard.press("h")
    assert colour() == "rgba(0, 0, 0, 0)"
    expect(judging.get_by_role("button", name="Marks")).to_have_attribute("aria-pressed", "false")
    press(judging, "1")
    assert colour() == "rgba(0, 0, 0, 0)"


def test_an_answer_given_offline_waits_and_is_sent_once(judging):
    judging.context.set_offline(True)
    judging.keyboard.press("1")
    expect(judging.get_by_role("alert")).to_contain_text("waits here")
    assert answers() == []
    with judging.expect_response(lambda response: response.request.method == "POST" and response.ok, timeout=20_000):
        judging.context.set_offline(False)
    expect(judging.locator("#trouble")).to_be_hidden()
    assert len(answers()) == 1


def test_two_people_judge_at_once_and_nothing_is_judged_twice(pool, new_page):
    make_person("ann")
    make_person("bob")
    pages = [new_page("ann"), new_page("bob")]
    for page in pages:
        open_desk(page, pool)
    for _ in range(3):
        for page in pages:
            if page.locator("form.pair").count():
                press(page, "1")
    assert len(answers()) == len(set(answers())) == 5


def test_on_a_phone_by_touch(pool, new_page):
    make_person("ann")
    page = new_page("ann", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    open_desk(page, pool)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for button in page.locator("button.grade").all():
        assert button.bounding_box()["height"] >= 44
    with page.expect_response(lambda response: "/judge/" in response.url):
        page.get_by_role("button", name="Relevant", exact=False).last.tap()
    expect(page.locator(".htmx-request")).to_have_count(0)
    assert [grade for _, _, grade in answers()] == [1]


def test_the_page_works_without_scripts(pool, new_page):
    make_person("ann")
    page = new_page("ann", java_script_enabled=False)
    page.goto(f"/pools/{pool.slug}/judge/")
    for _ in range(5):
        page.locator("button.grade").first.click()
    expect(page.locator("h1")).to_have_text("All judged")
    assert len(answers()) == 5


def test_an_llm_label_leaves_no_trace_before_the_answer(pool, new_page):
    make_person("ann")
    llm = make_llm("Oracle-7B")
    for pair in pool.pairs.all():
        make_judgment(llm, pool.collection, pair.query.qid, pair.document.docid, 1, raw="UNMISTAKABLE")
    page = new_page("ann")
    bodies: list[str] = []
    page.on("response", lambda response: bodies.append(str(response.headers)) if "/judge/" in response.url else None)
    open_desk(page, pool)
    press(page, "1")
    seen = page.content() + "".join(bodies)
    assert "Oracle-7B" not in seen
    assert "UNMISTAKABLE" not in seen
