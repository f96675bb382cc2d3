"""From a pass over rows of tokens to answers: the grade tokens' probabilities, or a text written greedily."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from judging.engines.llm import grades
from judging.engines.llm.base import Answer
from judging.engines.llm.forward import Pass
from judging.engines.llm.parse import parse
from judging.formats.scale import Scale


def read_scores(forward: Pass, tokens: grades.GradeTokens) -> list[Answer]:
    """The answer of each row by the probabilities of its next token, or of the one after a blank."""
    first = [grades.softmax(logits) for logits in forward.start()]
    blanks = [tokens.likeliest_blank(row) for row in first]
    second = forward.step(blanks) if any(blank is not None for blank in blanks) else first
    answers = []
    for row, blank, logits in zip(first, blanks, second, strict=True):
        probabilities, raw = tokens.probabilities(row), tokens.text(row)
        if blank is not None:
            following = grades.softmax(logits)
            probabilities = grades.add_step(probabilities, float(row[blank]), tokens.probabilities(following))
            raw += tokens.text(following) if int(row.argmax()) == blank else ""
        answers.append(grades.answer(probabilities, raw))
    return answers


@dataclass(frozen=True, slots=True)
class Written:
    """The tokens that a model wrote; ``complete`` says that it ended by itself."""

    ids: list[int]
    complete: bool


def write(forward: Pass, *, max_tokens: int, stops: Collection[int]) -> list[Written]:
    """The likeliest token again and again, up to one of ``stops`` or ``max_tokens`` of them."""
    logits = forward.start()
    ids: list[list[int]] = [[] for _ in logits]
    open_rows = set(range(len(ids)))
    for count in range(1, max_tokens + 1):
        for row in sorted(open_rows):
            token = int(logits[row].argmax())
            if token in stops:
                open_rows.discard(row)
            else:
                ids[row].append(token)
        if not open_rows or count == max_tokens:
            break
        logits = forward.step([ids[row][-1] if row in open_rows else None for row in range(len(ids))])
    return [Written(row, number not in open_rows) for number, row in enumerate(ids)]


def read_text(raw: str, scale: Scale, *, complete: bool) -> Answer:
    """The answer that a text holds."""
    found = parse(raw, scale, complete=complete)
    return Answer(found.outcome, found.number if found.outcome == "graded" else None, raw=raw)


def in_turn(keys: Sequence[str]) -> list[int]:
    """The order in which equal keys stand together, each where it first came."""
    first: dict[str, int] = {}
    for number, key in enumerate(keys):
        first.setdefault(key, number)
    return sorted(range(len(keys)), key=lambda number: first[keys[number]])
