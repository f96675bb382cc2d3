"""What a hosted model costs: tokens, and money where prices are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judging.engines.llm.base import Answer


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens that a model reads and of a million that it writes, in any one currency."""

    prompt: float
    completion: float

    def of(self, *, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of several answers. ``unknown`` counts the answers that came without their number."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.unknown + other.unknown,
        )

    def cost(self, prices: Prices) -> float:
        """Of the answers whose tokens are known, so the least that was spent where ``unknown`` is above 0."""
        return prices.of(prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)


def usage_of(answers: Iterable[Answer]) -> Usage:
    """The sum over answers. Tokens of tries that failed are not told by servers and not in it."""
    prompt = completion = unknown = 0
    for answer in answers:
        if answer.prompt_tokens is None or answer.completion_tokens is None:
            unknown += 1
            continue
        prompt += answer.prompt_tokens
        completion += answer.completion_tokens
    return Usage(prompt, completion, unknown)
