"""What a chat completion says. Servers differ in what they leave out, so nothing is taken for granted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judging.engines.llm import grades
from judging.engines.llm.base import Answer
from judging.formats.scale import Scale

Step = Mapping[str, float]
"""The likeliest tokens at one place of the answer, with their probabilities."""


@dataclass(frozen=True, slots=True)
class Said:
    """An answer's text. ``complete`` is False where it ended at the limit of tokens. ``steps`` may be empty."""

    text: str
    complete: bool
    steps: list[Step]
    prompt_tokens: int | None
    completion_tokens: int | None


def read(response: Any) -> Said | None:
    """The first choice; None for what is no chat completion."""
    choice = _get(response, "choices", 0)
    text = _get(choice, "message", "content")
    if text is None and _get(choice, "message", "refusal"):
        text = _get(choice, "message", "refusal")
    if not isinstance(text, str):
        return None
    return Said(
        text=text,
        complete=_get(choice, "finish_reason") != "length",
        steps=_steps(_get(choice, "logprobs", "content")),
        prompt_tokens=_count(_get(response, "usage", "prompt_tokens")),
        completion_tokens=_count(_get(response, "usage", "completion_tokens")),
    )


def read_logprobs(said: Said, scale: Scale) -> Answer | None:
    """The answer by the probabilities of the first token, or of the one after a blank; None where there are none.

    A grade of several tokens has no probability of its own at the first: such a scale is read from the text.
    """
    if not said.steps or any(len(str(abs(grade))) > 1 or grade < 0 for grade in scale.values):
        return None
    first = said.steps[0]
    probabilities = _probabilities(first, scale)
    # What would follow a blank is known only where the model wrote one.
    blank = max(first, key=lambda token: first[token])
    if not blank.strip() and first[blank] >= grades.BLANK_MASS and len(said.steps) > 1:
        probabilities = grades.add_step(probabilities, first[blank], _probabilities(said.steps[1], scale))
    return grades.answer(probabilities, said.text)


def _probabilities(step: Step, scale: Scale) -> dict[int, float]:
    """All spellings of a grade together. Their sum may pass 1 by rounding alone."""
    return {grade: sum(value for token, value in step.items() if token.strip() == str(grade)) for grade in scale.values}


def _steps(content: Any) -> list[Step]:
    """Up to the first place that has no readable alternatives."""
    steps: list[Step] = []
    for place in content if isinstance(content, list) else []:
        top = _get(place, "top_logprobs")
        step: dict[str, float] = {}
        for entry in top if isinstance(top, list) else []:
            token, logprob = _get(entry, "token"), _get(entry, "logprob")
            if isinstance(token, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
                # Tokens that look alike as text are different ones with probabilities of their own. Some servers round
                # the logarithm of a certain one to above 0.
                step[token] = step.get(token, 0.0) + math.exp(min(logprob, 0.0))
        if not step:
            break
        steps.append(step)
    return steps


def _get(value: Any, *path: str | int) -> Any:
    """What lies at a path of keys and positions, None where anything on the way is missing."""
    for key in path:
        if isinstance(key, int) and isinstance(value, list) and len(value) > key:
            value = value[key]
        elif isinstance(key, str) and isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
