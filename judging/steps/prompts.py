"""Prompts: those that come with the program, and one's own, kept as they were brought in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from judging.engines.llm import Prompt, load_prompt, parse_prompt, prompt_names
from judging.engines.llm.prompts import FOLDER
from judging.errors import FileError, UserError
from judging.models import StoredPrompt

# A file beyond this is no prompt.
LONGEST = 100_000

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt with the text of its file; ``stored`` is None for one that comes with the program."""

    prompt: Prompt
    text: str
    stored: StoredPrompt | None = None

    @property
    def name(self) -> str:
        return self.prompt.name


def named(name: str) -> PromptText:
    """A prompt by its name.

    Raises: UserError with the names that there are.
    """
    if name in prompt_names():
        return _shipped(name)
    if stored := StoredPrompt.objects.filter(name=name).first():
        return _own(stored)
    raise UserError(f"There is no prompt {name!r}. There are: {', '.join(all_names())}.")


def find(name_or_path: str) -> Prompt:
    """A prompt by its name, or by the path of a file.

    Raises: UserError with the names that there are; FileError for a file that is no prompt.
    """
    if name_or_path in all_names():
        return named(name_or_path).prompt
    if not Path(name_or_path).expanduser().is_file():
        raise UserError(
            f"There is no prompt {name_or_path!r}: expected one of {', '.join(all_names())}, or the path of a prompt "
            "file."
        )
    return load_prompt(name_or_path)


def all_names() -> list[str]:
    return [*prompt_names(), *StoredPrompt.objects.values_list("name", flat=True)]


def all_prompts() -> Sequence[PromptText]:
    """Those that come with the program, then one's own, by name."""
    return [_shipped(name) for name in prompt_names()] + [
        _own(stored) for stored in StoredPrompt.objects.select_related("added_by")
    ]


def _shipped(name: str) -> PromptText:
    return PromptText(load_prompt(name), (FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def _own(stored: StoredPrompt) -> PromptText:
    return PromptText(parse_prompt(stored.text, stored.name), stored.text, stored)


def check(text: str) -> PromptText:
    """A text that was pasted or uploaded, read as a prompt file.

    Raises: FileError that names the line and the field.
    """
    if len(text) > LONGEST:
        raise UserError(f"A prompt may have {LONGEST:,} characters, found {len(text):,}.")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileError("prompt", line, "expected text, found a NUL character; remove it")
    text = _as_in_a_file(text)
    return PromptText(parse_prompt(text, "prompt"), text)


def _as_in_a_file(text: str) -> str:
    """Lines ended by one character, the last one too: a text pasted and the file it is from are one prompt."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip() + "\n"


def decode(data: bytes) -> str:
    """The text of an uploaded file. Raises: FileError for one that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError("prompt", line, "expected a text in UTF-8, found bytes that are none") from None


@transaction.atomic
def add(*, text: str, by: User | None) -> PromptText:
    """Keep a prompt of one's own under the name in its header. The same text twice is one prompt.

    Raises: FileError that names the line and the field; UserError where the name is another prompt's.
    """
    checked = check(text)
    prompt = checked.prompt
    if not _NAME.fullmatch(prompt.name):
        line = next(n for n, one in enumerate(checked.text.split("\n"), 1) if one.strip().startswith("name"))
        raise FileError(
            "prompt",
            line,
            f"expected as name up to 60 letters, digits, dots, dashes and underscores, found {prompt.name!r}",
        )
    if prompt.name in prompt_names():
        raise UserError(
            f"There is a prompt {prompt.name!r} that comes with the program. Give yours another name in its first "
            f"lines, such as 'name: {prompt.name}-2'."
        )
    stored, is_new = StoredPrompt.objects.get_or_create(
        name=prompt.name, defaults={"text": checked.text, "digest": prompt.digest, "added_by": by}
    )
    if not is_new and stored.digest != prompt.digest:
        raise UserError(
            f"There is a prompt {prompt.name!r} already, with another text, and what was judged with it goes by its "
            f"name. Give this one a name of its own in its first lines, such as 'name: {prompt.name}-2'."
        )
    return PromptText(prompt, checked.text, stored)
