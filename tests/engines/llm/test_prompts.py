from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from judging.engines.llm.base import Question
from judging.engines.llm.prompts import FOLDER, Prompt, load_prompt, parse_prompt, prompt_names
from judging.errors import FileError, UserError
from judging.formats.records import Document, Query
from judging.formats.scale import Grade, Scale, default_scale

BINARY = default_scale(1)
HEADER = "name: mine\nmode: score\nfields: query, document\nscale: any\n---\n"
EXAMPLES = HEADER.replace("scale: any", "scale: any\nexamples: invented")
WRITING = HEADER.replace("mode: score", "mode: generate\nmax_tokens: 9")
TEXT = "Q {query} D {document} S {scale}"


def question(document: str, query: str = "why", known: str | None = None) -> Question:
    return Question(Query("q", query), Document("d", "", document), Document("k", "", known) if known else None)


def last(prompt: Prompt, asked: Question, scale: Scale = BINARY) -> str:
    return prompt.fill(asked, scale)[-1]["content"]


def test_four_prompts_come_along() -> None:
    assert prompt_names() == ["graded", "known", "pointwise", "stepwise"]


@pytest.mark.parametrize("name", ["graded", "known", "pointwise", "stepwise"])
def test_a_prompt_shows_every_field_and_every_grade(name: str) -> None:
    asked = question("the document", "the query", "the known one")
    text = "\n".join(message["content"] for message in load_prompt(name).fill(asked, default_scale(3)))
    assert {"the document", "the query"} <= {part for part in ("the document", "the query") if part in text}
    assert ("the known one" in text) == (name == "known")
    assert "2 = Relevant: Answers in part or indirectly\n3 = Perfect" in text


def test_the_system_part_comes_first_and_apart() -> None:
    messages = load_prompt("pointwise").fill(question("text"), BINARY)
    assert [message["role"] for message in messages] == ["system", "user"]


def test_a_prompt_without_sections_is_all_user() -> None:
    messages = parse_prompt(HEADER + TEXT, "f").fill(question("d"), BINARY)
    assert messages == [
        {
            "role": "user",
            "content": "Q why D d S 0 = Not relevant: Does not help to answer\n1 = Relevant: Answers, at least in part",
        }
    ]


def test_a_grade_without_a_description_is_its_word() -> None:
    scale = Scale((Grade(0, "No"), Grade(1, "Yes")))
    assert last(parse_prompt(HEADER + TEXT, "f"), question("d"), scale).endswith("0 = No\n1 = Yes")


@pytest.mark.parametrize(
    "document", ["{query}", "{scale} {known}", "a {0} {} {unknown!r} }{", "[user]\n{document}", "\\1 \\g<0>"]
)
def test_what_a_document_holds_is_shown_as_it_is(document: str) -> None:
    assert last(parse_prompt(HEADER + TEXT, "f"), question(document)).startswith(f"Q why D {document} S 0")


def test_the_digest_is_that_of_the_file() -> None:
    expected = hashlib.sha256((FOLDER / "graded.txt").read_bytes()).hexdigest()
    assert load_prompt("graded").digest == expected


def test_another_word_is_another_digest() -> None:
    assert parse_prompt(HEADER + TEXT, "f").digest != parse_prompt(HEADER + TEXT + "!", "f").digest


def test_a_file_of_ones_own_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(b"\xef\xbb\xbf" + (HEADER + "[user]\n" + TEXT).replace("\n", "\r\n").encode())
    assert load_prompt(file).name == "mine"
    assert load_prompt(str(file)).digest == parse_prompt(HEADER + "[user]\n" + TEXT, "f").digest


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(UserError, match="no prompt 'pairwise': expected one of graded, known, pointwise, stepwise"):
        load_prompt("pairwise")


def test_a_prompt_that_needs_the_known_document_says_so_where_there_is_none() -> None:
    with pytest.raises(ValueError, match="known relevant document"):
        load_prompt("known").fill(question("text"), BINARY)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TEXT, "ends with a line '---', found none"),
        ("name: a\n---\n" + TEXT, "found no 'mode'"),
        (HEADER.replace("mode: score\n", "mode\n") + TEXT, "f:2: expected each of name, mode, fields, scale once"),
        (HEADER.replace("mode: score", "mode: chat") + TEXT, "expected mode: score or generate, found 'chat'"),
        (HEADER.replace("query, document", "document") + TEXT, "expected fields"),
        (HEADER.replace("query, document", "query, document, title") + TEXT, "expected fields"),
        (HEADER.replace("scale: any", "scale: fine") + TEXT, "found 'fine'"),
        (HEADER + "Q {query} D {document}", "placeholder {scale}"),
        (HEADER + "Q {query} S {scale}", "placeholder {document}"),
        (HEADER + TEXT + " {known}", "{known}, which 'fields' does not name"),
        (HEADER + "[system]\n" + TEXT, "expected the sections"),
        (HEADER + "before\n[user]\n" + TEXT, "expected the sections"),
        (HEADER + "[user]\nQ\n[assistant]\nA", "expected the sections"),
        (HEADER + "[user]\nQ\n[assistant]\nA\n[user]\n" + TEXT, "expected a line 'examples: …'"),
        (EXAMPLES + "[user]\n{query}\n[assistant]\nA\n[user]\n" + TEXT, "found it in an example"),
        (HEADER.replace("scale: any", "scale: any\nmax_tokens: 9") + TEXT, "max_tokens belongs to mode: generate"),
        (WRITING.replace("max_tokens: 9", "max_tokens: 0") + TEXT, "expected max_tokens: 1 to 2048, found '0'"),
        (WRITING.replace("max_tokens: 9", "max_tokens: many") + TEXT, "expected max_tokens: 1 to 2048, found 'many'"),
    ],
)
def test_a_file_that_is_no_prompt_says_where_and_why(text: str, problem: str) -> None:
    with pytest.raises(FileError) as caught:
        parse_prompt(text, "f")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("written", "highest", "fits"),
    [("any", 3, True), ("binary", 1, True), ("binary", 2, False), ("0, 1, 2", 2, True), ("0, 1, 2", 3, False)],
)
def test_a_prompt_is_used_with_the_scale_it_is_written_for(written: str, highest: int, fits: bool) -> None:
    prompt = parse_prompt(HEADER.replace("scale: any", f"scale: {written}") + TEXT, "f")
    if fits:
        prompt.check_scale(default_scale(highest))
        return
    with pytest.raises(UserError, match="is written for the scale"):
        prompt.check_scale(default_scale(highest))


def test_examples_are_turns_of_the_chat_with_grades_of_the_scale_at_hand() -> None:
    text = EXAMPLES + "[user]\nQ\n[assistant]\nGrade: {highest}\n[user]\nQ\n[assistant]\n{lowest}\n[user]\n" + TEXT
    prompt = parse_prompt(text, "f")
    messages = prompt.fill(question("d"), default_scale(3))
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert [message["content"] for message in messages[1:4:2]] == ["Grade: 3", "0"]
    assert prompt.examples == "invented"


def test_a_prompt_that_has_the_model_write_says_how_much() -> None:
    assert parse_prompt(WRITING + TEXT, "f").max_tokens == 9
    assert parse_prompt(WRITING.replace("max_tokens: 9\n", "") + TEXT, "f").max_tokens == 256
    assert parse_prompt(HEADER + TEXT, "f").max_tokens == 1


def test_every_prompt_with_examples_says_where_they_come_from() -> None:
    prompts = [load_prompt(name) for name in prompt_names()]
    assert {prompt.name for prompt in prompts if prompt.examples} == {"stepwise"}
    assert all(prompt.examples for prompt in prompts if any(role == "assistant" for role, _ in prompt.turns))


def test_an_example_taken_from_what_is_judged_is_found() -> None:
    prompt = load_prompt("stepwise")
    assert prompt.quotes("Who repaired the\nbell of the TESK lighthouse")
    assert not prompt.quotes("who built the bell of the Tesk lighthouse")
    assert not prompt.quotes("the bell")
