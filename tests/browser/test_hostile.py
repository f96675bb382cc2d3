"""Whatever texts and names hold is shown as text: nothing runs, nothing is loaded, nothing spills over the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from judging.formats.scale import Grade, Scale
from judging.models import Judge, Judgment, Pool, Run
from judging.steps import serve
from judging.steps.judgments import Said
from tests.browser.pages import PHONE, WIDE, Window, addresses, open_desk
from tests.browser.payloads import MARKDOWN, ODD_TEXT, PAYLOADS, RUN, packed
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

# What a document may be made of on screen.
READING = {"DIV", "H2", "H3", "P", "MARK", "DETAILS", "SUMMARY"}

# Marks that anything left behind, and elements and addresses that none of our templates writes.
AUDIT = """() => {
  const faults = [];
  if (window.__ran !== undefined) faults.push('a script ran');
  const own = (url) => new URL(url, location.href).origin === location.origin;
  const written = (el) => el.tagName === 'A' && /^https:/.test(el.href) && el.closest('#guidelines, .prose');
  for (const el of document.querySelectorAll('*')) {
    for (const {name, value} of el.attributes) {
      if (/^on|^(data-)?hx-on|^style$|^srcdoc$/.test(name)) faults.push(`${name} on ${el.tagName}`);
      const loads = /^((data-)?hx-(get|post)|href|src|action|formaction|xlink:href|data|poster)$/.test(name);
      if (loads && !own(value) && !written(el))
        faults.push(`${name}=${value} on ${el.tagName}`);
    }
    if (/^(iframe|object|embed|base|math|foreignobject|marquee|portal|video|audio|style)$/i.test(el.tagName))
      faults.push(el.tagName);
    if (el.tagName === 'SCRIPT' && !el.src && el.type !== 'application/json') faults.push('an inline script');
  }
  const width = document.documentElement.scrollWidth;
  const spills = (el) => el.getBoundingClientRect().right > innerWidth && !el.closest('.scroll, .sr-only, .sheet');
  const where = [...document.querySelectorAll('body *')].filter(spills).map((el) => el.outerHTML.slice(0, 60));
  if (width > innerWidth) faults.push(`${width} px wide on a screen of ${innerWidth}`, ...where.slice(0, 4));
  return faults;
}"""

# In the admin, whose pages are Django's, only what runs and what is loaded matters.
RAN = "() => window.__ran === undefined ? [] : ['a script ran']"

TEXTS = "(all) => all.map((el) => el.textContent)"


@pytest.fixture
def names() -> Iterator[str]:
    """Names as long as a name may be, which together hold nearly every payload; then the oddest ones."""
    odd = [text[:150] for text in ODD_TEXT.values() if len(text) < 1_000] + ["W" * 150]
    return cycle([*packed(PAYLOADS, most=150), *odd])


@pytest.fixture
def lead(names) -> Judge:
    judge = make_person(next(names), is_staff=True)
    judge.user.is_superuser = True
    judge.user.save()
    return judge


@pytest.fixture
def pool(lead, names) -> Pool:
    """Every text and name that a page shows is hostile; some pairs are judged by people and LLMs."""
    half = len(PAYLOADS) // 2
    documents = {
        "first": "\n\n".join(PAYLOADS[:half]),
        "second": "\n\n".join(PAYLOADS[half:]),
        "odd": "\n\n".join(ODD_TEXT.values()),
        "known": "\n\n".join(PAYLOADS),
    }
    grades = [Grade(n, next(names)[:60], next(names)) for n in range(4)]
    collection = make_collection(
        "hostile",
        documents=documents,
        queries={"q1": " ".join(PAYLOADS), "q2": " ".join(ODD_TEXT.values()), "q3": "W" * 1_000},
        qrels={("q1", "known"): 3, ("q2", "known"): 2, ("q3", "known"): 1},
        scale=Scale(tuple(grades), 1),
    )
    collection.name = next(names)
    collection.save()
    collection.documents.update(title=" ".join(PAYLOADS))
    collection.documents.filter(docid="odd").update(title=" ".join(ODD_TEXT.values()))
    collection.queries.update(narrative=" ".join(PAYLOADS), topic=next(names))
    ranking = {query: ["known", "first", "second", "odd"] for query in ("q1", "q2", "q3")}
    run = make_run(collection, ranking, name=next(names))
    Run.objects.filter(pk=make_run(collection, ranking, name=next(names)).pk).update(identity={"model": next(names)})
    guidelines = "\n\n".join([*PAYLOADS, *MARKDOWN])
    pool = make_pool(collection, run, depth=4, people=2, name="hostile", guidelines=guidelines)
    pool.name = next(names)
    pool.left_out = {next(names): 3}
    pool.save()
    comment = " ".join(PAYLOADS)
    for name, judges in ((next(names), cycle([0, 3])), (next(names), cycle([0, 1, 2]))):
        _judge(pool, make_person(name), judges, comment)
    for _ in range(3):
        llm = make_llm(next(names), prompt=next(names))
        for pair in pool.pairs.all():
            make_judgment(llm, collection, pair.query.qid, pair.document.docid, 1, raw=comment)
    collection.documents.filter(docid="first").update(docid=next(names))
    collection.queries.filter(qid="q3").update(qid=next(names))
    return pool


def _judge(pool: Pool, annotator: Judge, grades: Iterator[int], comment: str) -> None:
    for _ in range(4):
        pair = serve.next_pair(pool=pool, annotator=annotator)
        serve.answer(pair=pair, annotator=annotator, said=Said(outcome="graded", grade=next(grades), comment=comment))


@pytest.fixture
def window(browser, live_server, lead) -> Iterator[Window]:
    opened = Window(browser, live_server.url, lead)
    yield opened
    opened.close()
    assert opened.complaints == []


def test_no_page_of_ours_runs_or_loads_anything_or_grows_wider_than_the_screen(window, pool, lead):
    serve.answer(
        pair=serve.next_pair(pool=pool, annotator=lead),
        annotator=lead,
        said=Said(outcome="graded", grade=1, comment=" ".join([*PAYLOADS, *ODD_TEXT.values()])),
    )
    faults = []
    for name, address in addresses(pool, lead).items():
        window.size(*WIDE)
        window.page.goto(address)
        faults += [f"{name}, wide: {fault}" for fault in window.page.evaluate(AUDIT)]
        window.size(*PHONE)
        faults += [f"{name}, phone: {fault}" for fault in window.page.evaluate(AUDIT)]
    assert faults == []


def test_the_admin_runs_and_loads_nothing(window, pool):
    document, query = pool.collection.documents.last(), pool.collection.queries.first()
    addresses_of_rows = [
        reverse("admin:judging_document_change", args=[document.pk]),
        reverse("admin:judging_query_change", args=[query.pk]),
        reverse("admin:judging_pool_change", args=[pool.pk]),
        reverse("admin:judging_judgment_change", args=[Judgment.objects.by_people().first().pk]),
    ]
    lists = [
        reverse(f"admin:judging_{name}_changelist") for name in ("collection", "pool", "judge", "query", "document")
    ]
    lists += [reverse(f"admin:judging_{name}_changelist") for name in ("run", "judgment", "assignment")]
    for address in [reverse("admin:index"), *lists, *addresses_of_rows]:
        window.page.goto(address)
        assert (address, window.page.evaluate(RAN)) == (address, [])


def test_what_is_read_is_what_is_stored(window, pool):
    """Each paragraph, the title, the query and its narrative, to the last character, folded or not."""
    page = window.page
    open_desk(page, pool)
    for _ in range(3):
        pair = _pair_on(page, pool)
        paragraphs = pair.document.text.split("\n\n")
        # A long paragraph is cut where the rest is folded away.
        assert "".join(page.locator("article.document .reading p").evaluate_all(TEXTS)) == "".join(paragraphs)
        assert page.locator("article.document .reading h2").evaluate_all(TEXTS) == [pair.document.title]
        assert page.locator("#query").evaluate_all(TEXTS) == [pair.query.text]
        assert page.locator(".narrative").evaluate_all(TEXTS) == [pair.query.narrative]
        assert page.locator(".beside .reading p").evaluate_all(TEXTS) == PAYLOADS
        tags = page.locator(".reading, .reading *").evaluate_all("(all) => all.map((el) => el.tagName)")
        assert set(tags) <= READING
        _answer(page, 1)


def _pair_on(page, pool: Pool):
    number = int(page.locator("form.pair").get_attribute("action").strip("/").rpartition("/")[2])
    return pool.pairs.select_related("document", "query").get(pk=number)


def _answer(page, grade: int) -> None:
    with page.expect_response(lambda response: "/judge/" in response.url):
        page.locator(f"button.grade[value='{grade}']").click()
    expect(page.locator(".htmx-request")).to_have_count(0)


def test_guidelines_have_no_markup_but_that_of_markdown(window, pool):
    page = window.page
    page.goto(reverse("judge", args=[pool.slug]))
    tags = page.locator("#guidelines > :not(button), #guidelines > :not(button) *").evaluate_all(
        "(all) => [...new Set(all.map((el) => el.tagName))].sort()"
    )
    assert set(tags) <= {"A", "BLOCKQUOTE", "CODE", "EM", "H1", "H2", "H3", "LI", "P", "PRE", "STRONG", "UL"}
    schemes = page.locator("#guidelines a").evaluate_all("(all) => all.map((a) => a.protocol)")
    assert set(schemes) <= {"https:", "http:"}
    shown = page.locator("#guidelines").evaluate("(el) => el.textContent")
    assert "<script>top.__ran=1</script>" in shown
    assert "[x](javascript:top.__ran=1)" in shown


def test_a_comment_comes_back_as_it_was_typed_and_half_characters_become_the_replacement_sign(window, pool, lead):
    comment = "\n".join(
        [*PAYLOADS[:60], ODD_TEXT["emoji"], ODD_TEXT["combining piles"], ODD_TEXT["right-to-left text"]]
    )
    page = window.page
    open_desk(page, pool)
    page.locator("[data-key=c]").click()
    page.get_by_label("Your comment").last.fill(comment[:3_900])
    _answer(page, 1)
    mine = Judgment.objects.get(judge=lead)
    assert mine.comment == comment[:3_900].strip()
    page.locator("[data-key=u]").click()
    expect(page.locator("textarea[name=comment]")).to_have_value(mine.comment)
    page.locator("textarea[name=comment]").evaluate("(box) => { box.value = 'a\\ud800b \\udfff' }")
    _answer(page, 2)
    mine.refresh_from_db()
    assert mine.comment == "a\ufffdb \ufffd"
    page.goto(reverse("mine", args=[pool.slug]))
    assert page.locator(".answers-given .comment").evaluate_all(TEXTS) == ["a\ufffdb \ufffd"]


@pytest.mark.parametrize("text", ["word " * 90_000, "W" * 450_000], ids=["words", "one word"])
def test_450_000_characters_are_folded_and_open_without_growing_wider(text, window, lead):
    collection = make_collection("long", documents={"d1": text})
    pool = make_pool(collection, depth=1, name="long")
    window.size(*PHONE)
    window.page.goto(reverse("judge", args=[pool.slug]))
    assert window.page.evaluate(AUDIT) == []
    assert window.page.locator("article.document > .reading > p").first.inner_text(timeout=5_000)[:3] == text[:3]
    window.page.locator("article.document summary").click()
    assert window.page.evaluate(AUDIT) == []
    shown = window.page.locator("article.document .reading p").evaluate_all(
        "(all) => all.map((p) => p.textContent).join('')"
    )
    assert shown.replace(" ", "") == text.replace(" ", "")


def test_a_name_that_turns_the_direction_of_writing_does_not_turn_the_sentence_around_it(window, pool):
    pool.collection.name = "\u202eABC"
    pool.collection.save()
    window.page.goto("/")
    sentence = window.page.locator(".card p").first
    dot = sentence.evaluate(
        """(p) => {
          const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
          let last; while (walker.nextNode()) if (walker.currentNode.data.trim()) last = walker.currentNode;
          const range = document.createRange();
          range.setStart(last, last.data.trimEnd().length - 1); range.setEnd(last, last.data.trimEnd().length);
          const name = document.createRange(); name.selectNodeContents(p);
          return range.getBoundingClientRect().right - name.getBoundingClientRect().right;
        }"""
    )
    assert abs(dot) < 2


# One frame a payload, taken for markup: the frames have the policy of the page that they are put into.
AS_MARKUP = """async (payloads) => {
  const ran = new Set();
  Object.defineProperty(window, '__ran', { set: (number) => ran.add(number) });
  for (let start = 0; start < payloads.length; start += 40) {
    const frames = payloads.slice(start, start + 40).map(() => document.createElement('iframe'));
    await Promise.all(frames.map((frame, at) => new Promise((done) => {
      frame.onload = done;
      frame.srcdoc = `<!doctype html><meta charset=utf-8>${payloads[start + at]}`;
      document.body.append(frame);
      setTimeout(done, 2000);
    })));
    await new Promise((done) => setTimeout(done, 100));
    frames.forEach((frame) => frame.remove());
  }
  return [...ran];
}"""


@pytest.mark.parametrize("guarded", [False, True], ids=["without the policy", "with the policy"])
def test_taken_for_markup_payloads_would_run_and_the_policy_alone_stops_every_one(browser, live_server, guarded):
    """Without it most do run, so the tests above can fail; with it, a forgotten escape would not yet be a hole."""
    context = browser.new_context(base_url=live_server.url, bypass_csp=not guarded)
    context.route(lambda url: not url.startswith(live_server.url), lambda route: route.abort())
    page = context.new_page()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto("/login/")
    numbered = [
        payload.replace(RUN, f"top.__ran={number}")
        for number, payload in enumerate(PAYLOADS, 1_000)
        if not re.search("<(object|embed|applet)", payload)
    ]
    ran = page.evaluate(AS_MARKUP, numbered)
    context.close()
    assert (len(ran), dialogs) == (0, []) if guarded else len(ran) > 25
