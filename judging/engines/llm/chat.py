"""A tokenizer with its chat template: from messages to the token ids after which the model answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judging.engines.llm.base import Messages
from judging.errors import UserError

_PROBE = "Is this text shown?"


class Chat:
    """Renders messages as the model was trained to read them.

    Raises UserError for a model without a chat template: it would go on with the text instead of answering it.
    """

    def __init__(self, tokenizer: Any, model: str) -> None:
        if not tokenizer.chat_template:
            raise UserError(
                f"The model {model!r} has no chat template, so it is no model that answers questions. Expected one "
                "tuned for instructions, mostly with 'instruct' or 'chat' in its name."
            )
        self.tokenizer = tokenizer
        self._has_system = _shows_system(tokenizer)

    def encode(self, messages: Messages) -> list[int]:
        """The ids up to and including the start of the model's turn.

        Control tokens written in a document are read as plain text: it cannot end its turn or answer for the model.
        """
        if not self._has_system:
            messages = _without_system(messages)
        ids = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=False, sanitize_control_tokens=True
        )
        return [int(token) for token in ids]

    def text(self, ids: Sequence[int]) -> str:
        """The ids as text, control tokens included."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False))

    def said(self, ids: Sequence[int]) -> str:
        """What a model said, without the tokens that end its turn."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))


def _without_system(messages: Messages) -> Messages:
    """The system's words at the head of the first user turn."""
    if messages[0]["role"] != "system":
        return messages
    system, first, *others = messages
    return [first | {"content": f"{system['content']}\n\n{first['content']}"}, *others]


def _shows_system(tokenizer: Any) -> bool:
    """Whether the template knows a system message. Some refuse it, some leave it out without a word."""
    from jinja2 import TemplateError

    messages = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "…"}]
    try:
        return _PROBE in tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    except TemplateError:
        return False
