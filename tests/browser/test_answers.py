"""No answer is lost and none is stored twice: lost connections, reloads, closed tabs, second tabs, the back button."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import expect

from judging.models import Assignment, Judgment, JudgmentEvent, LeaseState, Pool
from tests.factories import make_collection, make_person, make_pool, make_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

ANSWER = re.compile(r"/judge/\d+/$")


@pytest.fixture
def pool():
    documents = {f"d{n}": f"Yeast number {n} makes dough rise." for n in range(1, 5)}
    collection = make_collection("bread", documents=documents, queries={"q1": "why does dough rise"})
    return make_pool(collection, make_run(collection, {"q1": ["d1", "d2", "d3", "d4"]}), depth=4)


@pytest.fixture
def judging(pool, new_page):
    make_person("ann")
    page = new_page("ann")
    page.goto(f"/pools/{pool.slug}/judge/")
    return page


def stored() -> list[tuple[str, int | None]]:
    return list(Judgment.objects.by_people().order_by("pk").values_list("document__docid", "grade"))


def refuse_answers(page) -> list[str]:
    """From now on no answer reaches the server; the documents that were tried."""
    tried: list[str] = []

    def abort(route) -> None:
        tried.append(route.request.url)
        route.abort()

    catch_answers(page, abort)
    return tried


def catch_answers(page, handler) -> None:
    """Give answers to the handler. Beginning to catch takes the browser a moment: it is waited for."""
    page.route(ANSWER, handler)
    page.route("**/asked-by-nobody", lambda route: route.fulfill(status=418))
    while page.evaluate("fetch('/asked-by-nobody').then(response => response.status)") != 418:
        pass
    page.unroute("**/asked-by-nobody")


def let_answers_through(page) -> None:
    page.unroute(ANSWER)


def waiting(page):
    return page.locator("#trouble")


def saved(page, number: int) -> None:
    expect(page.locator("#progress .count")).to_contain_text(f"{number} of 4")


# --- The server is away -----------------------------------------------------------------------------------------------


def test_the_page_says_which_answer_waits_and_takes_no_other(judging):
    tried = refuse_answers(judging)
    judging.keyboard.press("c")
    judging.keyboard.type("rises well")
    judging.keyboard.press("Escape")
    judging.keyboard.press("1")
    expect(waiting(judging)).to_contain_text("Relevant · why does dough rise · rises well")
    expect(judging.locator(".answers")).to_be_hidden()
    for key in "0xsu":
        judging.keyboard.press(key)
    assert len(tried) == 1
    let_answers_through(judging)
    judging.get_by_role("button", name="Send now").click()
    saved(judging, 1)
    expect(waiting(judging)).to_be_hidden()
    assert stored() == [("d1", 1)]
    assert Judgment.objects.by_people().get().comment == "rises well"
    judging.keyboard.press("0")
    saved(judging, 2)


def test_it_is_tried_again_with_growing_pauses(pool, new_page):
    make_person("ann")
    page = new_page("ann")
    page.clock.install()
    page.goto(f"/pools/{pool.slug}/judge/")
    tried = refuse_answers(page)
    page.keyboard.press("1")
    expect(waiting(page)).to_be_visible()
    for number, pause in enumerate((2, 4, 8, 16, 30, 30), 1):
        assert len(tried) == number
        page.clock.run_for((pause - 1) * 1000)
        assert len(tried) == number
        with page.expect_event("requestfailed", lambda request: request.method == "POST"):
            page.clock.run_for(1_500)
    let_answers_through(page)
    page.clock.run_for(31_000)
    saved(page, 1)
    assert stored() == [("d1", 1)]


def test_it_survives_a_reload_and_is_sent_once(judging):
    refuse_answers(judging)
    judging.keyboard.press("1")
    expect(waiting(judging)).to_be_visible()
    judging.reload()
    expect(waiting(judging)).to_contain_text("Relevant · why does dough rise")
    assert stored() == []
    let_answers_through(judging)
    judging.evaluate("dispatchEvent(new Event('online'))")
    saved(judging, 1)
    judging.reload()
    saved(judging, 1)
    assert stored() == [("d1", 1)]
    assert JudgmentEvent.objects.count() == 1


def test_an_answer_whose_receipt_was_lost_is_stored_once(judging):
    def lose_the_receipt(route) -> None:
        route.fetch()
        route.abort()

    catch_answers(judging, lose_the_receipt)
    judging.keyboard.press("1")
    expect(waiting(judging)).to_be_visible()
    assert stored() == [("d1", 1)]
    let_answers_through(judging)
    judging.get_by_role("button", name="Send now").click()
    saved(judging, 1)
    assert JudgmentEvent.objects.count() == 1


def test_an_error_of_the_server_is_tried_again_too(judging):
    catch_answers(judging, lambda route: route.fulfill(status=502, body="bad gateway"))
    judging.keyboard.press("0")
    expect(waiting(judging)).to_contain_text("waits here")
    let_answers_through(judging)
    judging.get_by_role("button", name="Send now").click()
    saved(judging, 1)


def test_what_the_server_will_never_take_is_shown_to_be_copied_and_dropped(judging):
    catch_answers(judging, lambda route: route.fulfill(status=404, body="gone"))
    judging.keyboard.press("0")
    expect(waiting(judging)).to_contain_text("does not take this answer")
    expect(waiting(judging)).to_contain_text("Not relevant · why does dough rise")
    let_answers_through(judging)
    judging.get_by_role("button", name="Drop this answer").click()
    expect(waiting(judging)).to_be_hidden()
    judging.keyboard.press("1")
    saved(judging, 1)
    assert stored() == [("d1", 1)]


def test_who_must_sign_in_again_loses_nothing(judging):
    Session.objects.all().delete()
    judging.keyboard.press("1")
    judging.wait_for_url("**/login/**")
    judging.fill("[name=username]", "ann")
    judging.fill("[name=password]", "secret")
    judging.click("main button[type=submit]")
    saved(judging, 1)
    assert stored() == [("d1", 1)]


def test_an_answer_of_one_person_is_not_sent_as_anothers(judging, pool):
    make_person("ben")
    Session.objects.all().delete()
    judging.keyboard.press("1")
    judging.wait_for_url("**/login/**")
    judging.fill("[name=username]", "ben")
    judging.fill("[name=password]", "secret")
    Assignment.objects.update(state=LeaseState.FREE, annotator=None, leased_until=None)
    judging.click("main button[type=submit]")
    expect(judging.locator("form.pair")).to_be_visible()
    expect(waiting(judging)).to_be_hidden()
    judging.keyboard.press("0")
    saved(judging, 1)
    assert list(Judgment.objects.values_list("judge__name", "grade")) == [("ben", 0)]


def test_a_pool_that_was_closed_keeps_the_answer_on_the_page_until_it_opens_again(judging):
    Pool.objects.update(status=Pool.Status.PAUSED)
    judging.keyboard.press("1")
    expect(judging.get_by_role("heading", name="Your answer was not saved")).to_be_visible()
    again = judging.get_by_role("button", name="Send again")
    with judging.expect_response(lambda response: response.status == 409):
        again.click()
    expect(judging.locator(".sending")).to_have_count(0)
    expect(judging.get_by_role("heading", name="Your answer was not saved")).to_be_visible()
    Pool.objects.update(status=Pool.Status.OPEN)
    again.click()
    saved(judging, 1)
    assert stored() == [("d1", 1)]


def test_a_pair_that_others_judged_meanwhile_keeps_the_answer_on_the_page(judging):
    others = make_person("ben")
    Assignment.objects.filter(pair__document__docid="d1").update(
        state=LeaseState.DONE, annotator=others, leased_until=None, answered_at=timezone.now()
    )
    judging.keyboard.press("c")
    judging.keyboard.type("a long thought")
    judging.keyboard.press("Escape")
    judging.keyboard.press("1")
    lost = judging.get_by_role("region", name="Your answer was not saved")
    expect(lost).to_contain_text("Relevant")
    expect(lost).to_contain_text("a long thought")
    expect(judging.locator("article.document")).to_contain_text("number 2")
    judging.keyboard.press("0")
    expect(judging.locator("#progress .count")).to_contain_text("1 of 3")
    expect(lost).to_have_count(0)
    assert stored() == [("d2", 0)]


def test_an_answer_is_changed_from_my_judgments_and_a_reload_does_not_ask_for_it_again(judging):
    judging.keyboard.press("1")
    saved(judging, 1)
    judging.get_by_role("link", name="My judgments").first.click()
    judging.get_by_role("link", name="number 1").click()
    expect(judging.locator("button.grade[aria-current=true]")).to_have_attribute("value", "1")
    judging.keyboard.press("0")
    expect(judging.locator("article.document")).to_contain_text("number 2")
    judging.reload()
    expect(judging.locator("article.document")).to_contain_text("number 2")
    assert stored() == [("d1", 0)]
    assert list(JudgmentEvent.objects.order_by("pk").values_list("grade", flat=True)) == [1, 0]


def test_in_a_closed_pool_an_answer_is_read_and_cannot_be_changed(judging):
    judging.keyboard.press("1")
    saved(judging, 1)
    Pool.objects.update(status=Pool.Status.CLOSED)
    judging.get_by_role("link", name="My judgments").first.click()
    judging.get_by_role("link", name="number 1").click()
    expect(judging.locator(".answers")).to_contain_text("answers can be read now, not changed")
    expect(judging.locator(".answers")).to_contain_text("Your answer: Relevant")
    expect(judging.locator("button.grade")).to_have_count(0)


# --- Tabs -------------------------------------------------------------------------------------------------------------


def leases() -> list:
    held = Assignment.objects.filter(state=LeaseState.LEASED)
    return list(held.values_list("leased_until", flat=True))


def soonest() -> timedelta:
    return min(leases()) - timezone.now()


def wait_until(page, condition) -> None:
    for _ in range(100):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not happen within ten seconds")


def test_a_closed_tab_gives_back_what_was_held(judging):
    other = judging.context.new_page()
    assert soonest() > timedelta(minutes=10)
    judging.close(run_before_unload=True)
    wait_until(other, lambda: soonest() < timedelta(seconds=21))
    assert len(leases()) == 4


def test_a_reload_keeps_the_pair(judging):
    shown = judging.locator("article.document").inner_text()
    judging.reload()
    assert judging.locator("article.document").inner_text() == shown
    wait_until(judging, lambda: soonest() > timedelta(minutes=10))
    judging.wait_for_timeout(2_500)
    assert soonest() > timedelta(minutes=10)


def test_a_second_tab_keeps_what_the_first_gives_back(judging, pool):
    second = judging.context.new_page()
    second.goto(f"/pools/{pool.slug}/judge/")
    second.wait_for_timeout(2_500)
    judging.get_by_role("button", name=re.compile("Leave|holes|Holes")).click()
    judging.wait_for_url("**/")
    wait_until(second, lambda: len(leases()) == 1 and soonest() > timedelta(minutes=10))


def test_two_tabs_on_one_pair_store_the_last_word_with_its_history(judging, pool):
    second = judging.context.new_page()
    second.goto(f"/pools/{pool.slug}/judge/")
    judging.keyboard.press("1")
    saved(judging, 1)
    second.keyboard.press("0")
    saved(second, 1)
    assert stored() == [("d1", 0)]
    assert list(JudgmentEvent.objects.order_by("pk").values_list("grade", flat=True)) == [1, 0]


def test_the_back_button_shows_what_comes_next_and_not_what_was_answered(judging):
    judging.keyboard.press("1")
    saved(judging, 1)
    judging.get_by_role("link", name="My judgments").first.click()
    judging.wait_for_url("**/mine/")
    judging.go_back()
    saved(judging, 1)
    expect(judging.locator("article.document")).to_contain_text("number 2")
    judging.keyboard.press("0")
    saved(judging, 2)
    assert stored() == [("d1", 1), ("d2", 0)]


# --- Time -------------------------------------------------------------------------------------------------------------


def test_idle_time_is_cut_out(pool, new_page):
    make_person("ann")
    page = new_page("ann")
    page.clock.install()
    page.goto(f"/pools/{pool.slug}/judge/")
    page.clock.run_for(10_000)
    page.mouse.move(200, 200)
    page.clock.run_for(20 * 60_000)
    page.keyboard.press("1")
    saved(page, 1)
    page.clock.run_for(5_000)
    page.keyboard.press("1")
    saved(page, 2)
    seconds = list(Judgment.objects.order_by("pk").values_list("seconds", flat=True))
    assert 39 <= seconds[0] <= 45
    assert 4 <= seconds[1] <= 9
