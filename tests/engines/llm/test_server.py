from __future__ import annotations

import json
import logging
import re
import time
from pathlib import Path
from typing import Any

import pytest

from judging.engines.llm import Prices, Question, Server, open_llm, usage_of
from judging.errors import UserError
from judging.formats.records import Document, Query
from judging.formats.scale import default_scale, parse_scale
from tests.engines.llm.serving import (
    FaultyServer,
    completion,
    drips,
    drops,
    gives,
    hangs,
    refuses,
    says,
    sends,
    serving,
)

GRADED = default_scale(3)
QUESTION = Question(Query("q", "who is robert gray"), Document("d", "A title", "Gray was a captain."))
PROMPT = Path(__file__).with_name("prompt.txt")
KEY = "sk-not-to-be-seen-4711"


def judge_of(server: FaultyServer, *, scale: Any = GRADED, prompt: str | Path = PROMPT, **settings: Any) -> Any:
    settings = {"timeout": 5.0, "retries": 2, "backoff": 0.01} | settings
    return open_llm("org/some-model", scale=scale, prompt=prompt, server=Server(server.url, **settings))


def answer_to(*replies: Any, **settings: Any) -> Any:
    with serving(*replies) as server:
        return judge_of(server, **settings).judge([QUESTION])[0]


def test_probabilities_come_from_the_likeliest_tokens_all_spellings_together() -> None:
    answer = answer_to(says("2", steps=[{"2": 0.5, " 2": 0.2, "0": 0.1, "22": 0.1, "The": 0.05}]))
    assert (answer.outcome, answer.grade, answer.raw) == ("graded", 2, "2")
    assert answer.probabilities == pytest.approx({0: 0.1, 1: 0.0, 2: 0.7, 3: 0.0})
    assert answer.mass_outside == pytest.approx(0.2)


def test_a_grade_after_a_blank_is_read_at_the_next_place() -> None:
    answer = answer_to(says(" 3", steps=[{" ": 0.8, "1": 0.1}, {"3": 0.75, "2": 0.25}]))
    assert (answer.outcome, answer.grade) == ("graded", 3)
    assert answer.probabilities == pytest.approx({0: 0.0, 1: 0.1, 2: 0.2, 3: 0.6})


@pytest.mark.parametrize(
    ("text", "steps", "outcome"),
    [
        ("The", [{"The": 0.8, "0": 0.2}], "unparsed"),
        ("7", [{"7": 0.8, "0": 0.2}], "out_of_scale"),
        ("10", [{"10": 0.8, "1": 0.2}], "out_of_scale"),
    ],
)
def test_mass_outside_the_scale_is_no_grade(text: str, steps: list[dict[str, float]], outcome: str) -> None:
    answer = answer_to(says(text, steps=steps))
    assert (answer.outcome, answer.grade, answer.raw) == (outcome, None, text)
    assert sum(answer.probabilities.values()) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "outcome", "grade"),
    [("2", "graded", 2), ("5", "out_of_scale", None), ("Well,", "unparsed", None), ("", "unparsed", None)],
)
def test_without_probabilities_the_text_is_read(text: str, outcome: str, grade: int | None) -> None:
    answer = answer_to(says(text))
    assert (answer.outcome, answer.grade, answer.probabilities, answer.raw) == (outcome, grade, None, text)


def test_a_server_that_refuses_the_field_is_asked_without_it_from_then_on() -> None:
    with serving(refuses(400, "Unknown parameter: 'top_logprobs'"), says("1")) as server:
        answers = judge_of(server, concurrency=1).judge([QUESTION, QUESTION])
    assert [answer.grade for answer in answers] == [1, 1]
    assert ["logprobs" in asked for asked in server.asked] == [True, False, False]


def test_a_scale_of_several_digits_is_read_from_the_text() -> None:
    scale = parse_scale("0=No, 100=Yes")
    assert answer_to(says("100", steps=[{"10": 0.9, "0": 0.1}]), scale=scale).grade == 100


def test_a_prompt_that_has_the_model_write_asks_for_no_probabilities() -> None:
    with serving(says("1. It answers.\nGrade: 3")) as server:
        (answer,) = judge_of(server, prompt="stepwise").judge([QUESTION])
    assert (answer.outcome, answer.grade, answer.raw) == ("graded", 3, "1. It answers.\nGrade: 3")
    (asked,) = server.asked
    assert "logprobs" not in asked
    assert (asked["max_tokens"], asked["temperature"], asked["model"]) == (200, 0, "org/some-model")
    assert asked["messages"] == judge_of(server, prompt="stepwise").preview(QUESTION).messages


def test_a_text_that_ended_at_the_limit_loses_its_last_line() -> None:
    assert answer_to(says("It answers.\nGrade: 1", finish="length"), prompt="stepwise").outcome == "unparsed"


def test_too_many_requests_wait_as_long_as_the_server_says() -> None:
    with serving(refuses(429, "slow down", Retry_After="0.4"), says("1")) as server:
        (answer,) = judge_of(server).judge([QUESTION])
    assert answer.grade == 1
    assert server.times[1] - server.times[0] >= 0.4


@pytest.mark.parametrize("header", ["Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-5"])
def test_a_date_that_is_over_or_unreadable_does_not_hold_up(header: str) -> None:
    assert answer_to(refuses(429, Retry_After=header), says("1")).grade == 1


def test_a_server_that_fails_forever_is_given_up_with_the_reason() -> None:
    with serving(refuses(500, "out of memory")) as server:
        (answer,) = judge_of(server).judge([QUESTION])
    assert (answer.outcome, answer.grade) == ("failed", None)
    assert answer.raw == "HTTP 500: out of memory (tried 3 times)"
    assert len(server.asked) == 3


def test_each_wait_is_longer_than_the_last() -> None:
    with serving(refuses(503)) as server:
        judge_of(server, backoff=0.1, retries=3).judge([QUESTION])
    first, second, third = (b - a for a, b in zip(server.times, server.times[1:], strict=False))
    assert first < second < third


def test_a_question_that_is_refused_is_not_asked_again() -> None:
    with serving(refuses(400, "maximum context length is 4096 tokens")) as server:
        (answer,) = judge_of(server).judge([QUESTION])
    assert (answer.outcome, answer.raw) == ("failed", "HTTP 400: maximum context length is 4096 tokens")
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", [hangs, drips])
def test_a_server_that_does_not_come_to_an_end_is_given_up(fault: Any) -> None:
    started = time.monotonic()
    answer = answer_to(fault, timeout=0.3, retries=1)
    assert (answer.outcome, answer.raw) == ("failed", "no answer within 0.3 s (tried 2 times)")
    assert time.monotonic() - started < 2.5


@pytest.mark.parametrize(
    "fault",
    [drops, sends(b"<html>Bad gateway</html>"), sends(b""), sends(b"\xff\xfe"), sends(b"[1, 2]"), sends(b'{"a": 1')],
)
def test_what_is_no_answer_is_asked_for_again(fault: Any) -> None:
    assert answer_to(fault, says("1")).grade == 1
    assert answer_to(fault).outcome == "failed"


def test_a_server_that_was_never_there_stops_the_work_at_once() -> None:
    with serving(says("1")) as server:
        url = server.url
    judge = open_llm("m", scale=GRADED, server=Server(url, retries=1, backoff=0.01))
    with pytest.raises(UserError, match=f"^{re.escape(url)} cannot be reached: no connection: .* is it running"):
        judge.judge([QUESTION])


@pytest.mark.parametrize("first", [says("1"), refuses(500), drops])
def test_a_server_that_goes_away_is_a_failure_with_the_reason(first: Any) -> None:
    with serving(first) as server:
        judge = judge_of(server, retries=0)
        judge.judge([QUESTION])
    (answer,) = judge.judge([QUESTION])
    assert answer.outcome == "failed"
    assert "no connection" in answer.raw


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": ["2"]}}]},
        {"error": {"message": "odd"}},
    ],
)
def test_json_that_is_no_completion_fails_and_aborts_nothing(data: Any) -> None:
    with serving(gives(data), says("1")) as server:
        answers = judge_of(server, concurrency=1).judge([QUESTION, QUESTION])
    assert [answer.outcome for answer in answers] == ["failed", "graded"]
    assert "has no text" in answers[0].raw


@pytest.mark.parametrize(
    "logprobs",
    [
        {"content": None},
        {"content": [{}]},
        {"content": [{"top_logprobs": None}]},
        {"content": [{"top_logprobs": []}]},
        {
            "content": [
                {"top_logprobs": [{"token": None, "logprob": -1}, {"token": "2"}, {"token": "2", "logprob": "x"}]}
            ]
        },
        {"tokens": ["2"]},
        [],
    ],
)
def test_probabilities_in_no_known_form_leave_the_text_to_be_read(logprobs: Any) -> None:
    data = completion("2")
    data["choices"][0]["logprobs"] = logprobs
    answer = answer_to(gives(data))
    assert (answer.grade, answer.probabilities) == (2, None)


def test_a_refusal_is_unparsed_and_its_words_are_kept() -> None:
    data = completion(None)
    data["choices"][0]["message"]["refusal"] = "I cannot help with 2 documents."
    answer = answer_to(gives(data))
    assert (answer.outcome, answer.raw) == ("unparsed", "I cannot help with 2 documents.")


def test_answers_come_in_the_order_of_the_questions_with_so_many_asked_at_a_time() -> None:
    def reply(handler: Any, asked: dict[str, Any]) -> None:
        number = int(asked["messages"][-1]["content"].partition("number ")[2].split()[0])
        time.sleep(0.03 * (number % 3))
        handler.send(json.dumps(completion(str(number % 4))).encode())

    questions = [Question(QUESTION.query, Document(f"d{n}", "", f"number {n} of all")) for n in range(20)]
    with serving(reply) as server:
        answers = judge_of(server, concurrency=4).judge(questions)
    assert [answer.grade for answer in answers] == [n % 4 for n in range(20)]
    assert 1 < server.busiest <= 4
    assert all(answer.seconds > 0 for answer in answers)


def test_no_questions_ask_nothing() -> None:
    with serving(says("1")) as server:
        assert judge_of(server).judge([]) == []
    assert server.asked == []


def test_a_question_without_its_known_document_fails_and_the_others_are_asked() -> None:
    known = Question(QUESTION.query, QUESTION.document, known=Document("k", "", "Gray sailed."))
    with serving(says("1")) as server:
        answers = judge_of(server, prompt="known").judge([QUESTION, known])
    assert [answer.outcome for answer in answers] == ["failed", "graded"]
    assert len(server.asked) == 1


def test_a_long_document_is_cut_at_a_word_and_flagged() -> None:
    long = Question(QUESTION.query, Document("d", "", "captain " * 5000))
    with serving(says("1")) as server:
        judge = judge_of(server, most_characters=100, concurrency=1)
        answers = judge.judge([long, QUESTION])
    assert [answer.truncated for answer in answers] == [True, False]
    assert "captain " * 11 + "captain\n" in server.asked[0]["messages"][-1]["content"]
    assert "captain " * 12 not in judge.preview(long).messages[-1]["content"]
    assert judge.preview(long).truncated


def test_a_document_without_blanks_is_cut_at_a_character() -> None:
    long = Question(QUESTION.query, Document("d", "", "相关性" * 500))
    with serving(says("1")) as server:
        judge = judge_of(server, most_characters=100)
    assert "\n\nDocument: " + ("相关性" * 500)[:100] + "\n" in judge.preview(long).messages[-1]["content"]


@pytest.mark.parametrize("status", [401, 404])
def test_what_every_question_would_meet_stops_the_job(status: int) -> None:
    with serving(refuses(status, "nothing here")) as server, pytest.raises(UserError, match="nothing here"):
        judge_of(server, concurrency=1).judge([QUESTION] * 5)
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed() -> None:
    with serving(says("1")) as other:
        to_other = refuses(302, Location=f"{other.url}/chat/completions")
        answer = answer_to(to_other)
    assert (answer.outcome, other.asked) == ("failed", [])


def test_the_key_is_sent_and_seen_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    caplog.set_level(logging.DEBUG)
    with serving(refuses(400, f"the key {KEY} may not do this"), refuses(401, f"bad key {KEY}")) as server:
        judge = judge_of(server, key_variable="SOME_KEY", concurrency=1)
        (answer,) = judge.judge([QUESTION])
        with pytest.raises(UserError) as caught:
            judge.judge([QUESTION])
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    shown = [repr(judge.server), repr(judge.server.connect()), json.dumps(judge.identity()), judge.name]
    assert not [text for text in [*shown, answer.raw, str(caught.value), caplog.text] if KEY in text]
    assert answer.raw == "HTTP 400: the key … may not do this"


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with serving(says("1")) as server, pytest.raises(UserError, match="environment variable SOME_KEY"):
        judge_of(server, key_variable="SOME_KEY").judge([QUESTION])
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("localhost:8000", "Expected a server such as"),
        ("ftp://host/v1", "Expected a server such as"),
        ("https://me:secret@host/v1", "holds a name, a password or a query"),
        ("https://host/v1?key=secret", "holds a name, a password or a query"),
        ("ftp://me:secret@host/v1?key=secret", "Expected a server such as"),
    ],
)
def test_an_address_that_cannot_be_recorded_is_refused_without_its_secrets(url: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem) as caught:
        open_llm("m", scale=GRADED, server=url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"timeout": 0}, {"retries": -1}, {"most_characters": 0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UserError, match="Expected concurrency"):
        Server("http://host/v1", **wrong)


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions"])
def test_the_address_may_be_given_with_or_without_its_end(ending: str) -> None:
    with serving(says("1")) as server:
        judge = open_llm("m", scale=GRADED, server=server.url + ending)
        assert judge.judge([QUESTION])[0].grade == 1
    assert server.paths == ["/v1/chat/completions"]


def test_options_are_added_to_each_request_and_none_takes_a_field_out() -> None:
    options = {"seed": 7, "max_tokens": None, "max_completion_tokens": 5}
    with serving(says("1")) as server:
        judge = judge_of(server, options=options)
        judge.judge([QUESTION])
    assert (server.asked[0]["seed"], server.asked[0]["max_completion_tokens"]) == (7, 5)
    assert "max_tokens" not in server.asked[0]
    assert judge.identity()["decoding"]["options"] == options


def test_identity_holds_what_makes_an_answer_and_nothing_of_how_it_is_fetched() -> None:
    with serving(says("1")) as server:
        identity = judge_of(server).identity()
        assert judge_of(server, concurrency=1, timeout=1.0, retries=0).identity() == identity
        assert judge_of(server, prompt="graded").identity() != identity
        assert judge_of(server, most_characters=50).identity() != identity
    assert json.loads(json.dumps(identity)) == identity
    assert (identity["model"], identity["revision"], identity["server"]) == ("org/some-model", "as served", server.url)


def test_the_name_is_the_models_and_the_prompts() -> None:
    assert open_llm("org/some-model", scale=GRADED, server="http://host/v1").name == "some-model pointwise"


def test_tokens_are_counted_and_have_a_price() -> None:
    without = completion("1")
    del without["usage"]
    with serving(says("1"), says("1"), gives(without)) as server:
        answers = judge_of(server, concurrency=1).judge([QUESTION] * 3)
    assert [answer.prompt_tokens for answer in answers] == [100, 100, None]
    usage = usage_of(answers)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.unknown) == (200, 4, 1)
    assert usage.cost(Prices(prompt=0.5, completion=2.0)) == pytest.approx(0.000108)
