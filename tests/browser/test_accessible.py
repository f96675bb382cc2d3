"""WCAG 2.2 AA: axe finds nothing on any page, and the judging page reads well aloud, by keys, zoomed and narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from judging.models import Judge, Pool
from judging.steps import jobs, serve
from judging.steps.judgments import Said
from judging.steps.prefill_options import LlmOptions
from tests.browser.pages import PHONE, WIDE, Window, addresses, open_desk
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

# Run by the browser outside of the page's policy, which would stop a script element.
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture
def lead() -> Judge:
    return make_person("lea", is_staff=True)


@pytest.fixture
def pool(lead) -> Pool:
    """Something to show on every page: titles, a long text, comments, ties, two LLMs, a lead who has begun to judge."""
    documents = {f"d{n}": f"Yeast number {n} makes dough rise.\n\nIt likes warmth." for n in range(1, 6)}
    documents["d4"] = "Yeast makes dough rise. " * 200
    collection = make_collection(
        "bread",
        documents=documents,
        queries={"q1": "why does dough rise", "q2": "what is yeast"},
        qrels={("q1", "d5"): 1, ("q2", "d5"): 1},
    )
    collection.documents.update(title="On yeast")
    collection.queries.update(narrative="A good answer names the gas.")
    run = make_run(collection, {"q1": ["d1", "d2", "d3", "d5"], "q2": ["d2", "d4"]})
    make_run(collection, {"q1": ["d3", "d4"], "q2": ["d5"]}, name="other")
    guidelines = "## How\n\nRead *all* of it.\n\n- then [grade](https://example.org)"
    pool = make_pool(collection, run, name="bread", depth=3, people=3, seed=0, guidelines=guidelines)
    for name, grades in (("ann", [1, 0, 1, 1, 0]), ("bob", [0, 0, 1, 0, None])):
        _judge(pool, make_person(name), grades)
    _judge(pool, lead, [1])
    jobs.ask(pool=pool, llm=LlmOptions("first"), by=lead.user)
    for number, llm in enumerate([make_llm("first"), make_llm("second")]):
        for pair in pool.pairs.all():
            make_judgment(llm, collection, pair.query.qid, pair.document.docid, number)
    return pool


def _judge(pool: Pool, annotator: Judge, grades: list[int | None]) -> None:
    for grade in grades:
        pair = serve.next_pair(pool=pool, annotator=annotator)
        outcome = "cannot_judge" if grade is None else "graded"
        said = Said(outcome=outcome, grade=grade, comment="not sure", seconds=4.0)
        serve.answer(pair=pair, annotator=annotator, said=said)


@pytest.fixture
def window(browser, live_server, lead) -> Iterator[Window]:
    # Colours that are still changing have no contrast yet.
    opened = Window(browser, live_server.url, lead, reduced_motion="reduce")
    opened.page.add_init_script(AXE)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.fixture
def judging(window, pool) -> Page:
    open_desk(window.page, pool)
    return window.page


def violations(page: Page, rules: list[str] = RULES) -> list[str]:
    """What axe finds, as ``rule: element``."""
    found: dict[str, Any] = page.evaluate(
        "(tags) => axe.run({runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})", rules
    )
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found["violations"] for node in rule["nodes"]]


def in_every_dress(window: Window) -> Iterator[str]:
    """The page that is open, wide and light, then on a phone and dark: colours do not depend on the size."""
    for (width, height), size, scheme in ((WIDE, "wide", "light"), (PHONE, "phone", "dark")):
        window.size(width, height)
        window.page.emulate_media(color_scheme=scheme)
        yield f"{size}, {scheme}"


def test_axe_finds_nothing_on_any_page(window, pool, lead):
    found = []
    for name, address in addresses(pool, lead).items():
        window.page.goto(address)
        for dress in in_every_dress(window):
            found += [f"{name}, {dress}: {fault}" for fault in violations(window.page)]
    assert found == []


def test_axe_finds_nothing_before_sign_in_nor_where_nothing_is(window):
    window.context.clear_cookies()
    window.page.goto("/login/")
    found = [fault for _dress in in_every_dress(window) for fault in violations(window.page)]
    window.page.fill("[name=username]", "nobody")
    window.page.fill("[name=password]", "wrong")
    window.page.click("main button[type=submit]")
    expect(window.page.get_by_role("alert")).to_be_visible()
    found += [fault for _dress in in_every_dress(window) for fault in violations(window.page)]
    assert found == []


def test_axe_would_find_something(window):
    window.page.goto("/")
    window.page.evaluate("document.querySelector('main').innerHTML += '<button></button><p lang=nonsense>x</p>'")
    assert [fault.partition(":")[0] for fault in violations(window.page)] == ["button-name", "valid-lang"]


def test_axe_finds_nothing_in_what_opens_on_the_judging_page(window, judging):
    found = []
    for key in ("?", "g"):
        judging.keyboard.press(key)
        found += [fault for _dress in in_every_dress(window) for fault in violations(judging)]
        judging.keyboard.press("Escape")
    judging.keyboard.press("c")
    judging.locator("article.document summary").first.click()
    found += [fault for _dress in in_every_dress(window) for fault in violations(judging)]
    for _ in range(4):
        judging.keyboard.press("Escape")
        with judging.expect_response(lambda response: "/judge/" in response.url):
            judging.keyboard.press("1")
        expect(judging.locator(".htmx-request")).to_have_count(0)
    expect(judging.locator("h1")).to_have_text("All judged")
    found += [fault for _dress in in_every_dress(window) for fault in violations(judging)]
    assert found == []


FOCUSED = """() => {
  const el = document.activeElement;
  return el === document.body ? 'the page' : (el.getAttribute('aria-label') || el.innerText || el.name)
    .replace(/\\s+/g, ' ').trim();
}"""


def test_the_tab_key_goes_through_the_judging_page_in_the_order_of_reading(judging):
    stops = []
    for _ in range(15):
        judging.keyboard.press("Tab")
        stops.append(judging.evaluate(FOCUSED))
    assert stops == [
        "Skip to the content",
        "← Leave bread",
        "Guidelines g",
        "My judgments",
        "Help ?",
        "Switch between light and dark",
        "Show all (4,800 characters)",
        "Known relevant document k",
        "Your comment c",
        "0 Not relevant Does not help to answer",
        "1 Relevant Answers, at least in part",
        "Undo u",
        "Skip s",
        "Can't tell x",
        "Marks h",
    ]


JUDGING = """\
- link "Skip to the content":
  - /url: "#main"
- banner:
  - button "Leave bread"
  - text: 1 of 5
  - progressbar "Your progress in this pool": 20 %
  - status
  - navigation "This pool":
    - button "Guidelines g"
    - link "My judgments":
      - /url: /pools/bread/mine/
    - button "Help ?"
    - button "Switch between light and dark"
- main:
  - paragraph: Document 2 of 2
  - heading "what is yeast" [level=1]
  - paragraph: A good answer names the gas.
  - article "Document to judge":
    - heading "On yeast" [level=2]:
      - text: "On"
      - mark: yeast
    - paragraph:
      - mark: Yeast
      - text: makes dough rise.
    - paragraph: It likes warmth.
  - complementary "Reference and comment":
    - group:
      - text: Known relevant document k
      - heading "On yeast" [level=3]:
        - text: "On"
        - mark: yeast
      - paragraph:
        - mark: Yeast
        - text: number 5 makes dough rise.
      - paragraph: It likes warmth.
    - group: Your comment c
  - group "Your judgment":
    - button "0 Not relevant Does not help to answer"
    - button "1 Relevant Answers, at least in part"
  - link "Undo u":
    - /url: /pools/bread/judge/?pair=N
  - button "Skip s"
  - button "Can't tell x"
  - button "Marks h" [pressed]"""


def test_what_a_screen_reader_finds_on_the_judging_page(pool, judging):
    pool.collection.documents.filter(docid="d4").update(text="Yeast makes dough rise.\n\nIt likes warmth.")
    judging.reload()
    snapshot = re.sub(r"pair=\d+", "pair=N", judging.locator("body").aria_snapshot())
    assert snapshot == JUDGING


def test_what_was_saved_is_announced_and_the_next_query_has_the_focus(judging):
    status = judging.get_by_role("status")
    expect(status).to_have_text("")
    judging.keyboard.press("1")
    expect(status).to_have_text("Saved: Relevant")
    expect(judging.locator("#query")).to_be_focused()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_at_320_pixels_and_at_200_percent_nothing_scrolls_sideways(window, pool, lead, language):
    window.context.set_extra_http_headers({"accept-language": language})
    wide = []
    for name, address in addresses(pool, lead).items():
        window.page.goto(address)
        for width, height in ((320, 640), (640, 420)):
            window.size(width, height)
            shown = window.page.evaluate("document.documentElement.scrollWidth")
            wide += [f"{name}: {shown} px on {width}"] if shown > width else []
    assert wide == []


def test_at_200_percent_zoom_the_bars_leave_room_to_read(browser, live_server, lead, pool):
    zoomed = Window(browser, live_server.url, lead, viewport={"width": 640, "height": 420}, device_scale_factor=2)
    zoomed.page.goto(reverse("judge", args=[pool.slug]))
    bars = zoomed.page.locator(".query, .answers").evaluate_all(
        "(all) => all.filter((el) => getComputedStyle(el).position === 'sticky')"
        ".reduce((sum, el) => sum + el.offsetHeight, 0)"
    )
    zoomed.close()
    assert bars < 210


def test_nothing_moves_for_those_who_asked_for_less_motion(window, judging):
    moving = """() => [...document.querySelectorAll('*')].filter((el) => {
      const style = getComputedStyle(el);
      return parseFloat(style.transitionDuration) > 0 || parseFloat(style.animationDuration) > 0;
    }).length"""
    assert judging.evaluate(moving) == 0
    judging.emulate_media(reduced_motion="no-preference")
    assert judging.evaluate(moving) > 0
