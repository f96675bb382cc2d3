"""Reading a grade from the probabilities of a model's next token, as Nogueira and others read relevance from
"true"/"false" (monoT5, 2020). No sampling and no text to be parsed: the label is greedy by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judging.engines.llm.base import Answer
from judging.errors import UserError
from judging.formats.scale import Scale

Row = npt.NDArray[np.float64]
"""The probabilities of every token of the vocabulary to come next, shape (vocabulary,)."""

SCALE_MASS = 0.5
"""The least probability that all grades together must have for an answer to count as one.

From one half on, whatever else the model may have wanted to say was less likely than a grade. Below, the most likely
grade is only the best of what the model did not mean to say.
"""

BLANK_MASS = 0.01
"""From this probability on, a blank as the first token is followed by one more step. Some tokenizers (Llama's,
Phi-3's) have no token " 1": they write the blank first and the digit after it."""

_WHOLE_NUMBER = re.compile(r"[-+]?\d+")


class GradeTokens:
    """The tokens that spell each grade of a scale, and those that are only blanks.

    Raises UserError for a scale with a grade that the tokenizer has no single token for, as "10" mostly is: its first
    token could not be told from that of another grade.
    """

    def __init__(self, tokenizer: Any, scale: Scale) -> None:
        self.grades = scale.values
        self._decode = tokenizer.decode
        spellings = _spellings(tokenizer, {str(grade) for grade in self.grades} | {""})
        self.tokens = {grade: spellings[str(grade)] for grade in self.grades}
        self.blanks = spellings[""]
        if split := [grade for grade, tokens in self.tokens.items() if not tokens]:
            raise UserError(
                f"The model's tokenizer writes the grade {split[0]} in several tokens, so that its probability cannot "
                "be read from the first. Expected a scale whose grades are single tokens, such as 0 to 3; found "
                f"{', '.join(map(str, self.grades))}. Use a scale of one-digit grades, or a model behind a server."
            )

    def probabilities(self, row: Row) -> dict[int, float]:
        """The probability of each grade, all its spellings together; what they lack to 1 lies outside the scale."""
        return {grade: float(row[tokens].sum()) for grade, tokens in self.tokens.items()}

    def likeliest_blank(self, row: Row) -> int | None:
        """The blank token to be followed by one more step, None where none is likely enough."""
        if not self.blanks:
            return None
        blank = self.blanks[int(np.argmax(row[self.blanks]))]
        return blank if row[blank] >= BLANK_MASS else None

    def text(self, row: Row) -> str:
        """The most likely next token as text."""
        return str(self._decode([int(np.argmax(row))]))


def add_step(first: Mapping[int, float], blank: float, second: Mapping[int, float]) -> dict[int, float]:
    """The grades' probabilities after at most one blank: at once, or as the token that follows the blank."""
    return {grade: probability + blank * second[grade] for grade, probability in first.items()}


def answer(probabilities: Mapping[int, float], raw: str) -> Answer:
    """The answer that the grades' probabilities make.

    The likeliest grade where the scale has at least ``SCALE_MASS`` (of equal ones the lowest), else ``out_of_scale``
    where the model would write another whole number, else ``unparsed``: never a zero for want of an answer.
    """
    if sum(probabilities.values()) >= SCALE_MASS:
        grade = max(sorted(probabilities), key=lambda value: probabilities[value])
        return Answer("graded", grade, dict(probabilities), raw)
    text = raw.strip()
    other_number = _WHOLE_NUMBER.fullmatch(text) is not None and int(text) not in probabilities
    outcome = "out_of_scale" if other_number else "unparsed"
    return Answer(outcome, None, dict(probabilities), raw)


def softmax(logits: npt.ArrayLike) -> Row:
    """Probabilities from logits of any float type, computed in float64."""
    values = np.asarray(logits, dtype=np.float64)
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum())


def _spellings(tokenizer: Any, texts: set[str]) -> dict[str, list[int]]:
    """For each text the ids of all tokens that decode to it with any blanks around: ``1``, `` 1``, ``▁1``."""
    longest = max(map(len, texts))
    special = set(tokenizer.all_special_ids)
    found: dict[str, list[int]] = {text: [] for text in texts}
    for token, token_id in _in_order(tokenizer.get_vocab().items()):
        if token_id in special or len(token) > longest + 8:  # <0x31> is the longest way to write a digit
            continue
        text = str(tokenizer.decode([token_id]))
        if text and text.strip() in found:
            found[text.strip()].append(token_id)
    return found


def _in_order(vocabulary: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(vocabulary, key=lambda item: item[1])
