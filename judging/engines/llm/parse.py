"""Reading a grade out of a text that a model wrote: an answer line, a bare number or JSON, and nothing looser.

What counts as an answer:

- JSON anywhere in the text with a key such as ``grade``, ``score`` or ``relevance``;
- a line that begins with such a word and goes on with a number: ``Grade: 2``, ``**Final score:** 2 (Relevant)``;
- the whole first or last line being a number, or a word of the scale: ``2``, ``2 = Relevant``, ``Not relevant``.

Numbers elsewhere are not looked at. Two answers that differ, ranges, halves, percentages and other scales are unparsed:
a label that had to be guessed is worth less than none. No text raises an error.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from judging.engines.llm.json_answers import json_answers
from judging.formats.scale import Scale

VERSION = 1
"""Goes up with every change that may read a text differently: it is a determinant of the judge."""

_LABEL = (
    r"(?:grade|score|rating|label|relevance|level|answer|verdict|judge?ment|category)"
    r"(?:[ _-](?:grade|score|rating|label|level|value))?"
)
_FINAL = r"(?:final|overall|my)"
_LINE = re.compile(
    rf"(?:(?:so|thus|hence|therefore),?\s+)?(?:the\s+)?(?P<final>{_FINAL}\s+)?(?:{_LABEL})"
    rf"(?:\s+(?:of|for)\s+(?:the|this)\s+(?:document|passage))?"
    rf"(?P<link>\s*[:=：]\s*|\s+(?:is|would\s+be|should\s+be)\s*:?\s+|\s+|$)(?P<value>.*)",
    re.IGNORECASE,
)
# Behind other words of its line an answer must call itself the final one and end the line.
_INLINE = re.compile(rf".*\b(?P<final>{_FINAL})\s+{_LABEL}\s*[:=：]\s*(?P<value>\S+)", re.IGNORECASE)
_TAG = re.compile(r"<(?P<label>[a-z_]+)>\s*(?P<value>[^<>]*?)\s*</(?P=label)>", re.IGNORECASE)
_BOXED = re.compile(r"\$*\\boxed\{(?:\\text\{)?([^{}]*)\}?\}\$*")
_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ANY_WORD = rf"(?:{'|'.join(_WORDS)})\b"
_NUMBER = re.compile(r"(?P<sign>[-+−]?)(?P<digits>\d+)(?:\.0+(?!\d))?(?![\d%‰½¼¾⅓⅔²³])")
_NAMED = re.compile(rf"(?P<word>{_ANY_WORD})", re.IGNORECASE)
_OUT_OF = re.compile(r"\s*(?:/|out\s+of|of)\s*(?P<highest>\d+)(?![\d.,]*\d|\s*%)", re.IGNORECASE)
# What may follow the number on its line: nothing, the end of a sentence, an aside or a reason, never another number.
_ASIDE = re.compile(
    r"\s*$|\s*[.;](?:$|\s+(?![\s\d]))|\s*,\s+(?![\s\d])|\s*[(\[](?!\d)|\s*[:=]\s*(?![\s\d])|\s+[–—-]+\s+(?![\s\d])"
    r"|\s+(?:because|since|as|for)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    rf"^\W*{_ANY_WORD}|\b(?:or|maybe|perhaps|possibly|even|rather|else|instead)\b\W*(?:an?\s+)?(?:\d|{_ANY_WORD})"
    r"|[:=]\s*\d|\b(?:wait|actually)\b|\bno,",
    re.IGNORECASE,
)
_OTHER_SCALE = re.compile(r"\bout\s+of\s+(\d+)|\bscale\s+(?:of|from)\s+(?:\d+\s*(?:to|[-–])\s*)?(\d+)", re.IGNORECASE)
# In an answer's place: what was meant for one.
_MEANT = re.compile(
    rf"\W*(?:(?:not|between|from|either|about|around|approximately|maybe|perhaps|a|an)\W+)*(?:\d|{_ANY_WORD})",
    re.IGNORECASE,
)
_DECORATION = " \t\r*_`\"'“”‘’«»~|"
_BRACKETS = "[](){}"
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Reading:
    """``graded`` with its grade, ``out_of_scale`` with the number that was found, or ``unparsed`` with None."""

    outcome: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int | None
    """None for what stands in an answer's place and cannot be read."""
    final: bool = False


def parse(text: str, scale: Scale, *, complete: bool = True) -> Reading:
    """The grade that a model's text gives.

    ``complete`` is False for a text that ended at the limit of tokens: its last line is left out, for its number may
    be the beginning of a longer one.
    """
    plain = _plain(text)
    found, rest = json_answers(plain)
    numbers = [_Candidate(_value(value, scale), final) for value, final in found]
    numbers += _from_lines(rest if complete else rest.rpartition("\n")[0], scale)
    final = [candidate for candidate in numbers if candidate.final]
    different = {candidate.number for candidate in final or numbers}
    if len(different) != 1 or None in different:
        return Reading("unparsed")
    number = different.pop()
    return Reading("graded" if number in scale else "out_of_scale", number)


def _plain(text: str) -> str:
    """Without invisible characters, and without what a model thought before it answered."""
    shown = "".join(char for char in text if unicodedata.category(char) != "Cf")
    shown = _THOUGHT.sub("", shown)
    if re.search(r"<think(?:ing)?>", shown, re.IGNORECASE):
        return ""  # It never came to an answer.
    shown = _BOXED.sub(r"\1", shown)
    return _TAG.sub(lambda tag: f"\n{tag['label']}: {tag['value']}\n" if _is_label(tag["label"]) else tag[0], shown)


def _is_label(word: str) -> bool:
    return re.fullmatch(rf"(?:{_FINAL}[ _-])?{_LABEL}", word, re.IGNORECASE) is not None


def _from_lines(text: str, scale: Scale) -> list[_Candidate]:
    lines = [line for line in map(_undecorated, text.split("\n")) if line]
    if not lines:
        return []
    below = [*lines[1:], ""]
    labelled = [found for pair in zip(lines, below, strict=True) if (found := _labelled(*pair, scale))]
    # Beside an answer that says what it is, a number alone counts only where an answer would stand.
    places = lines if not labelled else [line for line in (lines[0], lines[-1]) if not _LINE.fullmatch(line)]
    return labelled + [_Candidate(number) for line in places if (number := _bare(line, scale)) is not None]


def _undecorated(line: str) -> str:
    """Without markdown's emphasis, headings, quotes and bullets. A ``-`` before a number stays: it may be a minus."""
    line = re.sub(r"\*\*|__", "", line).strip(_DECORATION)
    line = re.sub(r"^(?:#+\s*(?=\D)|(?:[#>]+|[•*])\s+)", "", line).strip(_DECORATION)
    line = re.sub(r"^[-–]\s+(?=\D)", "", line)
    return re.sub(rf"^\d+[.)]\s+(?=(?:the\s+)?(?:{_FINAL}\s+)?{_LABEL}\b)", "", line, flags=re.IGNORECASE)


def _labelled(line: str, below: str, scale: Scale) -> _Candidate | None:
    match = _LINE.fullmatch(line) or _INLINE.fullmatch(line)
    if not match:
        return None
    final = bool(match["final"])
    link = match.groupdict().get("link", ":")
    value = match["value"].strip(_DECORATION)
    if not value:
        # A heading: the answer is the line below.
        number = _bare(below, scale)
        return _Candidate(number, final) if number is not None else None
    if re.search(r"\w", link) and not final and "answer" in line[: match.start("link")].lower():
        return None  # "The answer is 3" answers the question, not what the document is worth.
    number = _value(value, scale)
    if number is None and not (link.strip() and _MEANT.match(value)):
        return None  # "Relevance depends on …"
    return _Candidate(number, final)


def _value(value: str, scale: Scale) -> int | None:
    """The number that a value begins with, None where something else stands there or another number follows it."""
    value = value.strip(_DECORATION + _BRACKETS)
    if (grade := _word(value, scale)) is not None:
        return grade
    number, rest = _leading_number(value)
    if number is None:
        return None
    if out_of := _OUT_OF.match(rest):
        if _integer(out_of["highest"]) != scale.values[-1]:
            return None
        rest = rest[out_of.end() :]
    rest = rest.lstrip(_DECORATION.replace(" ", "") + "])}")
    if _word(rest.strip(_BRACKETS), scale) == number:
        return number
    doubtful = not _ASIDE.match(rest) or _HEDGE.search(rest) or _other_scale(rest, scale)
    return None if doubtful or _contradicts(number, rest, scale) else number


def _bare(line: str, scale: Scale) -> int | None:
    """The number that a line is, perhaps with the word of its grade: ``2``, ``2.``, ``2 (Relevant)``, ``2/3``."""
    line = line.strip(_DECORATION + _BRACKETS)
    number, rest = _leading_number(line)
    if number is None:
        return _word(line, scale)
    if (out_of := _OUT_OF.match(rest)) and _integer(out_of["highest"]) == scale.values[-1]:
        rest = rest[out_of.end() :]
    rest = rest.strip(_DECORATION + _BRACKETS + ".=:,;–—-")
    return number if not rest or _word(rest, scale) == number else None


def _leading_number(text: str) -> tuple[int | None, str]:
    """(the number that a text begins with, what follows it); None for one with leading zeros, a code or an id.

    Digits of every script count.
    """
    if named := _NAMED.match(text):
        return _WORDS.index(named["word"].lower()), text[named.end() :]
    match = _NUMBER.match(text)
    if not match or (len(match["digits"]) > 1 and _integer(match["digits"][0]) == 0):
        return None, text
    rest = text[match.end() :]
    if re.match(r"[.,:]\d", rest):
        return None, text
    number = _integer(match["digits"])
    return (-number if match["sign"] in ("-", "−") and number else number), rest


def _other_scale(rest: str, scale: Scale) -> bool:
    """Whether a text says that its number was meant on a scale that ends elsewhere."""
    return any(_integer(a or b) != scale.values[-1] for a, b in _OTHER_SCALE.findall(rest))


def _integer(digits: str) -> int:
    # Longer numbers are no grades, and Python refuses to read very long ones.
    return int(digits[:_MAX_DIGITS])


def _word(text: str, scale: Scale) -> int | None:
    """The grade whose word a text is, word for word."""
    wanted = " ".join(text.strip(_DECORATION + ".!").split()).casefold()
    # A description may follow the word, as the prompt shows them together.
    grades = [
        grade.value
        for grade in scale
        if wanted in (grade.word.casefold(), f"{grade.word}: {grade.description}".rstrip(".").casefold())
    ]
    return grades[0] if len(grades) == 1 else None


def _contradicts(number: int, rest: str, scale: Scale) -> bool:
    """Whether the word of another grade stands beside the number: ``2 (Not relevant)``."""
    word = _word(re.split(r"[,;.]|\s[–—-]\s", rest.strip(" \t=:,–—-()[]"), maxsplit=1)[0].strip("()[] "), scale)
    return word is not None and word != number
