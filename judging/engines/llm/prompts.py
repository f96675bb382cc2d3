"""Prompt files: a header, a line ``---``, and the text with ``{query}``, ``{document}``, ``{known}`` and ``{scale}``.

    name: pointwise
    mode: score
    fields: query, document
    scale: any
    ---
    [system]
    …
    [user]
    …

``mode: score`` is the one there is: the answer is the number of a grade. ``fields`` are the texts the prompt shows.
``scale`` is ``any``, ``binary`` or the grades it is written for, such as ``0, 1, 2, 3``. The section ``[system]`` may
be left out; a text without sections is all ``[user]``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judging.engines.llm.base import Question
from judging.errors import FileError, UserError
from judging.formats.scale import Scale

FOLDER = Path(__file__).parent / "prompts"
MODES = ("score",)

_FIELDS = ("query", "document", "known")
_HEADER = ("name", "mode", "fields", "scale")
_PLACEHOLDER = re.compile(r"\{(query|document|known|scale)\}")
_SECTION = re.compile(r"^\[(system|user)\][ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file as read. ``digest`` is the sha256 of the whole file, line ends as ``\\n``."""

    name: str
    mode: str
    fields: tuple[str, ...]
    scale: str
    system: str
    user: str
    digest: str

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

    def fill(self, question: Question, scale: Scale) -> list[dict[str, str]]:
        """The chat messages of a question: ``system`` where the prompt has one, then ``user``.

        Raises ValueError where the prompt needs the known document and the question has none.
        """
        if "known" in self.fields and question.known is None:
            raise ValueError("the prompt shows a known relevant document, and this query has none")
        values = {
            "query": question.query.text,
            "document": question.document.full_text,
            "known": question.known.full_text if question.known else "",
            "scale": scale_list(scale),
        }
        messages = [("system", self.system), ("user", self.user)]
        return [{"role": role, "content": _fill(text, values)} for role, text in messages if text]


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
    _check_header(header, fields, file)
    body = "\n".join(lines[end + 1 :])
    _check_placeholders(body, fields, file)
    system, user = _sections(body, file)
    return Prompt(
        name=header["name"],
        mode=header["mode"],
        fields=fields,
        scale=header["scale"],
        system=system,
        user=user,
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


def _parse_header(lines: list[str], file: str | Path) -> dict[str, str]:
    header: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or key not in _HEADER or not value or key in header:
            raise FileError(
                file, number, f"expected each of {', '.join(_HEADER)} once, as 'key: value', found {line!r}"
            )
        header[key] = value
    if missing := [key for key in _HEADER if key not in header]:
        raise FileError(file, None, f"expected the header to have {', '.join(_HEADER)}, found no {missing[0]!r}")
    return header


def _check_header(header: Mapping[str, str], fields: tuple[str, ...], file: str | Path) -> None:
    if header["mode"] not in MODES:
        raise FileError(file, None, f"expected mode: {' or '.join(MODES)}, found {header['mode']!r}")
    if not {"query", "document"} <= set(fields) <= set(_FIELDS):
        raise FileError(file, None, f"expected fields: query, document and perhaps known, found {header['fields']!r}")
    if header["scale"] not in ("any", "binary") and _grades(header["scale"]) is None:
        raise FileError(
            file, None, f"expected scale: any, binary or grades such as '0, 1, 2', found {header['scale']!r}"
        )


def _check_placeholders(body: str, fields: tuple[str, ...], file: str | Path) -> None:
    wanted = {*fields, "scale"}
    found = set(_PLACEHOLDER.findall(body))
    if missing := sorted(wanted - found):
        raise FileError(file, None, f"expected the placeholder {{{missing[0]}}} in the text, found none")
    if undeclared := sorted(found - wanted):
        raise FileError(file, None, f"the text has {{{undeclared[0]}}}, which 'fields' does not name; add it there")


def _sections(body: str, file: str | Path) -> tuple[str, str]:
    """(system, user). Split before anything is filled in, so that a document cannot open a section."""
    before, *parts = _SECTION.split(body)
    if not parts:
        return "", body.strip()
    names = parts[::2]
    if before.strip() or names not in (["system", "user"], ["user"]):
        raise FileError(file, None, "expected the sections [system], [user] in this order, or [user] alone")
    sections = dict(zip(names, (text.strip() for text in parts[1::2]), strict=True))
    return sections.get("system", ""), sections["user"]


def _fill(text: str, values: Mapping[str, str]) -> str:
    # One pass over the prompt's own text: what is filled in is never looked at again, whatever braces it holds.
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _grades(text: str) -> tuple[int, ...] | None:
    try:
        return tuple(int(grade) for grade in text.split(","))
    except ValueError:
        return None
