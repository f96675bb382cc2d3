"""Prompt files: a header, a line ``---``, and the text with ``{query}``, ``{document}``, ``{known}`` and ``{scale}``.

    name: stepwise
    mode: generate
    max_tokens: 300
    fields: query, document
    scale: any
    examples: invented for this prompt
    ---
    [system]
    …
    [user]
    An example …
    [assistant]
    … and how to answer it
    [user]
    …

``mode`` is ``score``, where the next token is the number of a grade, or ``generate``, where the model writes at most
``max_tokens`` tokens that end in an answer (see ``parse``). ``fields`` are the texts the prompt shows. ``scale`` is
``any``, ``binary`` or the grades it is written for, such as ``0, 1, 2, 3``. ``examples`` says where the examples come
from, and must be there where the prompt has answered turns; ``{lowest}`` and ``{highest}`` are grades that every scale
has. The section ``[system]`` may be left out; a text without
sections is all ``[user]``.

What is the same for all pairs is read once where it comes first: put examples and instructions before the query, and
the query before the document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judging.engines.llm.base import Messages, Question
from judging.errors import FileError, UserError
from judging.formats.scale import Scale

FOLDER = Path(__file__).parent / "prompts"
MODES = ("score", "generate")
MAX_TOKENS = 256
"""How many tokens a model may write where the prompt says nothing else."""

_FIELDS = ("query", "document", "known")
_HEADER = ("name", "mode", "fields", "scale")
_OPTIONAL = ("max_tokens", "examples")
_MOST_TOKENS = 2048
_PLACEHOLDER = re.compile(r"\{(query|document|known|scale|lowest|highest)\}")
_SECTION = re.compile(r"^\[(system|user|assistant)\][ \t]*\n", re.MULTILINE)
_SHORTEST_QUOTE = 20


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file as read. ``turns`` are (role, text), the last one the user's with the pair to be judged.

    ``max_tokens`` is 1 in mode ``score``. ``digest`` is the sha256 of the whole file, line ends as ``\\n``.
    """

    name: str
    mode: str
    fields: tuple[str, ...]
    scale: str
    turns: tuple[tuple[str, str], ...]
    digest: str
    max_tokens: int = 1
    examples: str = ""

    @property
    def system(self) -> str:
        """The system's words, empty where the prompt has none."""
        role, text = self.turns[0]
        return text if role == "system" else ""

    @property
    def user(self) -> str:
        """The turn that shows the pair to be judged."""
        return self.turns[-1][1]

    def quotes(self, text: str) -> bool:
        """Whether the prompt's own words hold a text, such as a query or a document of the pairs to be judged.

        An example taken from what is being evaluated gives its answer away. Case and blanks do not matter; texts
        shorter than 20 characters are too common to tell.
        """
        wanted = _squeezed(text)
        return len(wanted) >= _SHORTEST_QUOTE and any(wanted in _squeezed(words) for _, words in self.turns)

    def check_scale(self, scale: Scale) -> None:
        """Raises UserError where the prompt is written for another scale."""
        wanted = {"any": True, "binary": scale.is_binary}.get(self.scale)
        if wanted is None:
            wanted = _grades(self.scale) == scale.values
        if not wanted:
            raise UserError(
                f"The prompt {self.name!r} is written for the scale {self.scale!r}; this collection has the grades "
                f"{', '.join(map(str, scale.values))}. Choose a prompt for any scale, such as 'pointwise'."
            )

    def fill(self, question: Question, scale: Scale) -> Messages:
        """The chat messages of a question: ``system`` where the prompt has one, examples, then ``user``.

        Raises ValueError where the prompt needs the known document and the question has none.
        """
        if "known" in self.fields and question.known is None:
            raise ValueError("the prompt shows a known relevant document, and this query has none")
        values = {
            "query": question.query.text,
            "document": question.document.full_text,
            "known": question.known.full_text if question.known else "",
            "scale": scale_list(scale),
            "lowest": str(scale.values[0]),
            "highest": str(scale.values[-1]),
        }
        return [{"role": role, "content": _fill(text, values)} for role, text in self.turns]


def scale_list(scale: Scale) -> str:
    """One line a grade: ``1 = Relevant: Answers, at least in part``."""
    return "\n".join(
        f"{grade.value} = {grade.word}" + (f": {grade.description}" if grade.description else "") for grade in scale
    )


def prompt_names() -> list[str]:
    """The prompts that come with the program."""
    return sorted(file.stem for file in FOLDER.glob("*.txt"))


def load_prompt(name_or_path: str | Path) -> Prompt:
    """A prompt by its name, or by the path of a file of one's own.

    Raises UserError for an unknown name, FileError for a file that is not a prompt.
    """
    name = str(name_or_path)
    if name in prompt_names():
        return parse_prompt((FOLDER / f"{name}.txt").read_text(encoding="utf-8"), f"{name}.txt")
    path = Path(name).expanduser()
    if not path.is_file():
        raise UserError(
            f"There is no prompt {name!r}: expected one of {', '.join(prompt_names())}, or the path of a prompt file."
        )
    try:
        return parse_prompt(path.read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise FileError(path, None, "expected a text file in UTF-8") from error


def parse_prompt(text: str, file: str | Path) -> Prompt:
    """The prompt in a file's text; ``file`` is named in the FileError of a text that is none."""
    lines = text.split("\n")
    if "---" not in (stripped := [line.strip() for line in lines]):
        raise FileError(file, None, f"expected a header ({', '.join(_HEADER)}) that ends with a line '---', found none")
    end = stripped.index("---")
    header = _parse_header(stripped[:end], file)
    fields = tuple(field.strip() for field in header["fields"].split(","))
    line_of = {line.partition(":")[0].strip(): number for number, line in enumerate(stripped[:end], start=1)}
    _check_header(header, fields, file, line_of)
    turns = _turns(lines, end, file)
    _check_placeholders(turns, fields, file, _Places(lines, end, line_of))
    if any(role == "assistant" for role, _ in turns) and "examples" not in header:
        raise FileError(
            file,
            end + 1,
            "the prompt has answered examples; expected a line 'examples: …' in the header saying their source",
        )
    return Prompt(
        name=header["name"],
        mode=header["mode"],
        fields=fields,
        scale=header["scale"],
        turns=turns,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        max_tokens=_max_tokens(header, file, line_of.get("max_tokens")),
        examples=header.get("examples", ""),
    )


@dataclass(frozen=True, slots=True)
class _Places:
    """Where things stand in a prompt file: its lines, which of them ends the header, and the line of each key."""

    lines: list[str]
    end: int
    line_of: Mapping[str, int]

    def of(self, placeholder: str) -> int:
        """The first line of the text that has a placeholder."""
        texts = enumerate(self.lines[self.end + 1 :], start=self.end + 2)
        return next(number for number, line in texts if f"{{{placeholder}}}" in line)


def _max_tokens(header: Mapping[str, str], file: str | Path, line: int | None) -> int:
    written = header.get("max_tokens")
    if header["mode"] == "score":
        if written is not None:
            raise FileError(file, line, "max_tokens belongs to mode: generate; in mode: score one token is the answer")
        return 1
    if written is None:
        return MAX_TOKENS
    if not re.fullmatch(r"[0-9]{1,4}", written) or not 1 <= int(written) <= _MOST_TOKENS:
        raise FileError(file, line, f"expected max_tokens: 1 to {_MOST_TOKENS}, found {written!r}")
    return int(written)


def _parse_header(lines: list[str], file: str | Path) -> dict[str, str]:
    header: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or key not in (*_HEADER, *_OPTIONAL) or not value or key in header:
            raise FileError(
                file,
                number,
                f"expected each of {', '.join(_HEADER)} once, perhaps {' and '.join(_OPTIONAL)}, as 'key: value', "
                f"found {line!r}",
            )
        header[key] = value
    if missing := [key for key in _HEADER if key not in header]:
        raise FileError(file, None, f"expected the header to have {', '.join(_HEADER)}, found no {missing[0]!r}")
    return header


def _check_header(
    header: Mapping[str, str], fields: tuple[str, ...], file: str | Path, line_of: Mapping[str, int]
) -> None:
    if header["mode"] not in MODES:
        raise FileError(file, line_of["mode"], f"expected mode: {' or '.join(MODES)}, found {header['mode']!r}")
    if not {"query", "document"} <= set(fields) <= set(_FIELDS):
        raise FileError(
            file,
            line_of["fields"],
            f"expected fields: query, document and perhaps known, found {header['fields']!r}",
        )
    if header["scale"] not in ("any", "binary") and _grades(header["scale"]) is None:
        raise FileError(
            file,
            line_of["scale"],
            f"expected scale: any, binary or grades such as '0, 1, 2', found {header['scale']!r}",
        )


def _check_placeholders(
    turns: tuple[tuple[str, str], ...], fields: tuple[str, ...], file: str | Path, places: _Places
) -> None:
    found = {name for _, text in turns for name in _PLACEHOLDER.findall(text)} - {"lowest", "highest"}
    wanted = {*fields, "scale"}
    if missing := sorted(wanted - found):
        raise FileError(file, None, f"expected the placeholder {{{missing[0]}}} in the text, found none")
    if undeclared := sorted(found - wanted):
        raise FileError(
            file,
            places.of(undeclared[0]),
            f"the text has {{{undeclared[0]}}}, which 'fields' does not name; add it there",
        )
    early = {name for role, text in turns[:-1] if role != "system" for name in _PLACEHOLDER.findall(text)}
    if early := early & {"query", "document", "known"}:
        raise FileError(
            file,
            places.of(min(early)),
            f"expected {{{min(early)}}} in the last [user] section alone, found it in an example",
        )


def _turns(lines: list[str], end: int, file: str | Path) -> tuple[tuple[str, str], ...]:
    """(role, text) a section. Split before anything is filled in, so that a document cannot open a section."""
    body = "\n".join(lines[end + 1 :])
    before, *parts = _SECTION.split(body)
    if not parts:
        return (("user", body.strip()),)
    roles = "-".join(parts[::2])
    if before.strip() or not re.fullmatch(r"(system-)?(user-assistant-)*user", roles):
        raise FileError(
            file,
            end + 2,
            "expected the sections [system], then examples as [user] and [assistant], then [user], or [user] alone",
        )
    return tuple(zip(parts[::2], (text.strip() for text in parts[1::2]), strict=True))


def _squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()


def _fill(text: str, values: Mapping[str, str]) -> str:
    # One pass over the prompt's own text: what is filled in is never looked at again, whatever braces it holds.
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _grades(text: str) -> tuple[int, ...] | None:
    try:
        return tuple(int(grade) for grade in text.split(","))
    except ValueError:
        return None
