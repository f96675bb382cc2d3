"""Prompts of one's own: kept as they are, told apart by their text."""

from __future__ import annotations

import pytest

from judging.engines.llm import load_prompt
from judging.errors import FileError, UserError
from judging.models import StoredPrompt
from judging.steps import prompts

pytestmark = pytest.mark.django_db

HEADER = "name: mine\nmode: score\nfields: query, document\nscale: any\n---\n"
TEXT = HEADER + "{query}\n{document}\n{scale}\n"


def test_a_prompt_is_found_by_its_name_like_those_that_come_with_the_program():
    added = prompts.add(text=TEXT, by=None)
    assert prompts.find("mine") == prompts.named("mine").prompt == added.prompt
    assert prompts.find("pointwise") == load_prompt("pointwise")
    assert [one.name for one in prompts.all_prompts()] == ["graded", "known", "pointwise", "stepwise", "mine"]


def test_pasted_or_from_a_file_it_is_the_same_prompt(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text(TEXT)
    pasted = prompts.add(text="\ufeff" + TEXT.rstrip().replace("\n", "\r\n"), by=None)
    assert pasted.prompt.digest == load_prompt(file).digest == prompts.find(str(file)).digest
    assert prompts.decode(b"\xef\xbb\xbf" + TEXT.encode()) == TEXT


def test_the_same_text_twice_is_one_prompt():
    one, again = (prompts.add(text=TEXT, by=None).stored for _ in range(2))
    assert one == again


def test_a_changed_text_needs_a_name_of_its_own_and_the_first_stays():
    prompts.add(text=TEXT, by=None)
    changed = TEXT.replace("{query}", "Query: {query}")
    with pytest.raises(UserError, match=r"There is a prompt 'mine' already, with another text.*such as 'name: mine-2'"):
        prompts.add(text=changed, by=None)
    assert StoredPrompt.objects.get().text == TEXT
    prompts.add(text=changed.replace("mine", "mine-2"), by=None)
    assert StoredPrompt.objects.count() == 2


def test_the_names_of_the_program_are_its_own():
    with pytest.raises(UserError, match="'pointwise' that comes with the program"):
        prompts.add(text=TEXT.replace("mine", "pointwise"), by=None)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: mine", "name: a/b", "prompt:1: expected as name up to 60 letters"),
        ("name: mine", "name:", "prompt:1: expected each of name"),
        ("mode: score", "mode: guess", "prompt:2: expected mode: score or generate, found 'guess'"),
        ("fields: query, document", "fields: query", "prompt:3: expected fields: query, document and perhaps known"),
        ("scale: any", "scale: most", "prompt:4: expected scale: any, binary or grades such as '0, 1, 2'"),
        ("scale: any", "scale: any\nmax_tokens: 9", "prompt:5: max_tokens belongs to mode: generate"),
        ("scale: any", "scale: any\nflavour: mint", "prompt:5: expected each of name.*found 'flavour: mint'"),
        ("{document}", "", r"prompt: expected the placeholder \{document\} in the text"),
        ("{scale}", "{scale}\n{known}", r"prompt:9: the text has \{known\}, which 'fields' does not name"),
        ("{query}", "[user]\n{query}\n[assistant]\n1\n[user]", r"prompt:7: expected \{query\} in the last \[user\]"),
        ("{query}", "[user]\nx\n[assistant]\n1\n[user]\n{query}", "prompt:5: the prompt has answered examples"),
        ("{query}", "[assistant]\n{query}", r"prompt:6: expected the sections \[system\]"),
        ("---\n", "", r"prompt: expected a header .* that ends with a line '---'"),
        ("{query}", "\0{query}", "prompt:6: expected text, found a NUL character"),
    ],
)
def test_what_is_no_prompt_is_refused_with_the_line_and_the_field(old, new, problem):
    with pytest.raises(FileError, match=problem):
        prompts.add(text=TEXT.replace(old, new), by=None)
    assert not StoredPrompt.objects.exists()


def test_bytes_that_are_no_text_are_refused_with_their_line():
    with pytest.raises(FileError, match="prompt:2: expected a text in UTF-8"):
        prompts.decode(b"name: mine\n\xff\n")


def test_a_text_that_is_far_too_long_is_refused():
    with pytest.raises(UserError, match=r"100,000 characters, found 100,\d+"):
        prompts.add(text=TEXT + "x" * 100_000, by=None)


def test_a_name_that_is_not_there_is_answered_with_those_that_are():
    prompts.add(text=TEXT, by=None)
    with pytest.raises(UserError, match=r"no prompt 'yours'. There are: graded, known, pointwise, stepwise, mine"):
        prompts.named("yours")
    with pytest.raises(UserError, match=r"no prompt 'yours': expected one of .*mine, or the path of a prompt file"):
        prompts.find("yours")
