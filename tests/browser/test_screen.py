"""The judging screen at every size: nothing sticks out, the query stays in view, help is a press away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from judging.formats.scale import Grade, Scale, default_scale
from judging.models import TrainingAnswer, TrainingPair
from tests.browser.pages import open_desk
from tests.factories import make_collection, make_person, make_pool, make_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LONG = "\n\n".join(f"Paragraph {n}. " + "Yeast makes dough rise. " * 12 for n in range(1, 30))
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
SIZES = [(320, 640), (360, 740), (640, 400), (768, 1024), (1280, 840), (2560, 1200)]


@pytest.fixture
def pool():
    collection = make_collection(
        "bread", documents={"d1": LONG, "d2": "Short.", "known": "Yeast does it."},
        queries={"q1": "why does dough rise"}, qrels={("q1", "known"): 1}, scale=default_scale(3),
    )  # fmt: skip
    collection.queries.update(narrative="A relevant passage names what makes dough rise. " * 3)
    return make_pool(collection, make_run(collection, {"q1": ["d1", "d2"]}), guidelines="# How\n\nRead all.")


def open_judging(new_page, pool, **options):
    make_person("ann")
    page = new_page("ann", **options)
    open_desk(page, pool)
    return page


def test_at_every_size_nothing_sticks_out_and_query_and_answers_stay_in_view(pool, new_page):
    page = open_judging(new_page, pool)
    page.locator("details.rest summary").click()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        box = page.locator("#query").bounding_box()
        assert -1 <= box["y"] < height / 4, (width, height, box)
        for button in page.locator("button.grade").all():
            box = button.bounding_box()
            assert box["y"] + box["height"] <= height, (width, height, box)
        free = page.evaluate(
            "document.querySelector('.answers').getBoundingClientRect().top"
            " - document.querySelector('.query').getBoundingClientRect().bottom"
        )
        assert free >= height / 3, (width, height, free)


def test_a_long_document_is_folded_and_shown_whole_on_request(pool, new_page):
    page = open_judging(new_page, pool)
    last = page.get_by_text("Paragraph 29.")
    expect(last).to_be_hidden()
    page.get_by_text("Show all").click()
    expect(last).to_be_visible()


def test_on_a_phone_a_description_comes_with_the_focus_and_stands_in_the_help(pool, new_page):
    page = open_judging(new_page, pool, **PHONE)
    button = page.locator("button.grade").nth(1)
    description = button.locator(".description")
    assert description.evaluate("element => getComputedStyle(element).opacity") == "0"
    page.keyboard.press("Tab")
    button.focus()
    assert description.evaluate("element => getComputedStyle(element).opacity") == "1"
    page.get_by_role("button", name="Help", exact=True).tap()
    expect(page.locator("#keys").get_by_text("On the topic, no answer")).to_be_visible()
    expect(page.locator("#keys").get_by_role("link", name="My judgments")).to_be_visible()


def test_fingers_are_shown_no_keys(pool, new_page):
    page = open_judging(new_page, pool, **PHONE)
    page.get_by_role("button", name="Help", exact=True).tap()
    expect(page.locator("#keys").get_by_text("Skip")).to_be_visible()
    assert page.locator("kbd").count() > 10
    assert not [key for key in page.locator("kbd").all() if key.is_visible()]


def test_a_scale_of_two_has_its_descriptions_in_sight_on_a_phone(new_page):
    scale = Scale((Grade(0, "No", "does not help"), Grade(1, "Yes", "helps to answer")))
    pool = make_pool(make_collection("two", documents=["d1"], scale=scale))
    page = open_judging(new_page, pool, **PHONE)
    description = page.locator("button.grade .description").last
    assert description.evaluate("element => getComputedStyle(element).opacity") == "1"
    expect(description).to_have_text("helps to answer")


def test_c_opens_the_comment_and_never_closes_it(pool, new_page):
    page = open_judging(new_page, pool)
    for _ in range(2):
        page.keyboard.press("c")
        expect(page.get_by_role("textbox", name="Your comment")).to_be_focused()
        page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Your comment")).to_be_visible()


def test_training_is_done_by_keys(pool, new_page):
    query = pool.collection.queries.get()
    for position, docid in enumerate(("known", "d2")):
        document = pool.collection.documents.get(docid=docid)
        TrainingPair.objects.create(
            pool=pool,
            position=position,
            query=query,
            document=document,
            grade=position,
            explanation=f"Because {docid}.",
        )
    page = open_judging(new_page, pool)
    for number, grade in enumerate("01", 1):
        expect(page.get_by_text(f"{number} of 2: these answers do not count")).to_be_visible()
        page.keyboard.press(grade)
        expect(page.locator(".verdict")).to_contain_text("Right: ")
        expect(page.get_by_role("link", name="Go on")).to_be_focused()
        page.keyboard.press("3")  # a second press judges nothing
        page.keyboard.press("Enter")
    expect(page.locator(".where")).to_contain_text("Document 1 of 2")
    assert list(TrainingAnswer.objects.order_by("pk").values_list("grade", flat=True)) == [0, 1]


def test_the_bar_of_the_progress_can_be_seen_in_light_and_dark(pool, new_page):
    make_person("ann")
    for scheme in ("light", "dark"):
        page = new_page("ann", color_scheme=scheme)
        page.goto(f"/pools/{pool.slug}/judge/")
        colours = page.evaluate(
            "(() => {const root = getComputedStyle(document.documentElement);"
            "const bar = getComputedStyle(document.querySelector('progress'));"
            "return [root.getPropertyValue('--accent'), bar.backgroundColor]})()"
        )
        assert (
            colours
            == {
                "light": ["#2c5c4b", "rgb(223, 221, 212)"],
                "dark": ["#86c2a9", "rgb(55, 57, 59)"],
            }[scheme]
        )


def test_the_language_is_switched_in_the_help_and_the_same_document_comes_back_in_it(pool, new_page):
    page = open_judging(new_page, pool)
    page.keyboard.press("1")
    expect(page.locator("article.document")).to_contain_text("Short.")
    page.keyboard.press("u")
    expect(page.locator("article.document")).to_contain_text("Paragraph 1.")
    page.keyboard.press("?")
    page.locator("#keys").get_by_role("button", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("article.document")).to_contain_text("Paragraph 1.")
    expect(page.locator("button.grade[aria-current=true]")).to_have_attribute("value", "1")
    page.keyboard.press("?")
    page.locator("#keys").get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_grade_stands_at_one_place_before_and_after_an_answer_and_while_it_is_changed(pool, new_page):
    page = open_judging(new_page, pool)

    def places() -> list[float]:
        return [button.bounding_box()["x"] for button in page.locator("button.grade").all()]

    first = places()
    assert page.locator("button:disabled", has_text="Undo").count() == 1
    page.keyboard.press("1")
    expect(page.get_by_role("link", name="Undo")).to_be_visible()
    assert places() == first
    page.keyboard.press("u")
    expect(page.get_by_role("link", name="Leave as it is")).to_be_visible()
    assert places() == first


def test_the_grade_under_a_resting_mouse_does_not_look_chosen(pool, new_page):
    page = open_judging(new_page, pool, reduced_motion="reduce")
    look = "button => [getComputedStyle(button).borderColor, getComputedStyle(button).backgroundColor]"
    button = page.locator("button.grade").nth(1)
    button.click()
    expect(page.locator("article.document")).to_contain_text("Short.")
    resting = button.evaluate(look)
    page.keyboard.press("u")
    expect(button).to_have_attribute("aria-current", "true")
    chosen = button.evaluate(look)
    assert resting[0] != chosen[0]
    assert resting[1] != chosen[1]


def test_the_progress_is_seen_on_the_smallest_phone_in_french_too(pool, new_page):
    page = open_judging(new_page, pool, locale="fr-FR", **PHONE)
    assert page.locator("#progress progress").bounding_box()["width"] == 320


def test_light_and_dark_are_switched_on_a_phone_in_the_help(pool, new_page):
    page = open_judging(new_page, pool, color_scheme="light", **PHONE)
    page.get_by_role("button", name="Help", exact=True).tap()
    page.locator("#keys").get_by_role("button", name="Light or dark").tap()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_on_a_wide_screen_the_reference_stands_beside_the_text_and_the_answers_below_it(pool, new_page):
    page = open_judging(new_page, pool, viewport={"width": 2560, "height": 1200})
    text = page.locator("article .reading").bounding_box()
    assert page.locator("aside.beside").bounding_box()["x"] - (text["x"] + text["width"]) < 100
    assert page.locator("button.grade").first.bounding_box()["x"] == text["x"]


def test_the_bar_on_top_stays_in_one_row_at_every_width_in_french_too(pool, new_page):
    pool.name = "A pool with a name that goes on for quite a while"
    pool.save()
    page = open_judging(new_page, pool, locale="fr-FR")
    for width in (320, 640, 660, 800, 1000, 1080, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator("header.bar").bounding_box()["height"] < 60, width
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_dots_of_a_hundred_documents_leave_room_on_a_phone(new_page):
    documents = [f"d{number}" for number in range(100)]
    collection = make_collection("deep", documents=documents, queries={"q1": "why does dough rise"})
    pool = make_pool(collection, make_run(collection, {"q1": documents}), depth=100)
    page = open_judging(new_page, pool, **PHONE)
    assert page.locator(".dot").count() == 100
    query = page.locator(".query")
    assert query.evaluate("query => query.scrollWidth <= query.clientWidth")
    assert query.bounding_box()["height"] < 640 / 4
