"""TREC topics: the classic ``<top>`` form, and lines of id, tab and text.

The classic form is SGML of the early TRECs: tags are seldom closed, and labels such as ``Number:`` follow them
(https://trec.nist.gov/data/topics_eng). Entities stay as they stand in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from judging.errors import FileError
from judging.formats.fields import shown
from judging.formats.lines import File, OnError, Progress, name_of, read_raw_lines, refuse
from judging.formats.qrels import peek
from judging.formats.records import Query

_TAG = re.compile(r"<(/?)(top|num|title|desc|narr|dom|head|smry|con|fac|def)>", re.IGNORECASE)
_ONLY_TAGS = re.compile(r"\s*(<[^<>]*>\s*)+")
_LABELS = {
    "num": re.compile(r"number\s*:", re.IGNORECASE),
    "title": re.compile(r"topic\s*:", re.IGNORECASE),
    "desc": re.compile(r"description\s*:", re.IGNORECASE),
    "narr": re.compile(r"narrative\s*:", re.IGNORECASE),
    "dom": re.compile(r"domain\s*:", re.IGNORECASE),
    "smry": re.compile(r"summary\s*:", re.IGNORECASE),
    "con": re.compile(r"concept\(s\)\s*:", re.IGNORECASE),
    "fac": re.compile(r"factor\(s\)\s*:", re.IGNORECASE),
    "def": re.compile(r"definition\(s\)\s*:", re.IGNORECASE),
}
_NAMES = {"desc": "description", "narr": "narrative", "dom": "domain", "smry": "summary", "con": "concepts"}
_HEADERS = ({"qid", "query-id", "query_id", "id", "topic", "topic-id", "topic_id"}, {"query", "text", "title"})

Lines = Iterable[tuple[int, str]]


class _Event(NamedTuple):
    """A piece of text, or a tag (``num``, ``/num``) and no text."""

    line: int
    tag: str
    text: str


def read_topics(
    file: File, *, name: str | None = None, progress: Progress | None = None, on_error: OnError = refuse
) -> Iterator[Query]:
    """The topics of a file of either form, told by its first line.

    Of ``<top>``, the title is the query's text (the description, where there is no title), and ``description``,
    ``narrative`` and what else there is are its metadata; white space is folded. A tag is closed by the next. FileError
    for a topic without number or text, for a number that comes twice, and for text outside of topics.
    """
    name = name_of(file, name)
    first, raw_lines = peek(read_raw_lines(file, name=name, progress=progress, on_error=on_error))
    lines = ((line, raw.decode()) for line, raw in raw_lines)
    if first is not None and first[1].lstrip().startswith(b"<"):
        topics = _classic(lines, name, on_error)
    else:
        topics = _tabbed(lines, name, on_error)
    return _unique(topics, name, on_error)


def _unique(topics: Iterable[tuple[int, Query]], name: str, on_error: OnError) -> Iterator[Query]:
    seen: dict[str, int] = {}
    for line, topic in topics:
        first = seen.setdefault(topic.id, line)
        if first == line:
            yield topic
            continue
        problem = f"expected every topic once, found {shown(topic.id)} here and at line {first}; remove one of them."
        on_error(FileError(name, line, problem))


def _tabbed(lines: Lines, name: str, on_error: OnError) -> Iterator[tuple[int, Query]]:
    is_first = True
    for line, text in lines:
        if not text or text.isspace():
            continue
        identifier, tab, query = text.partition("\t")
        if is_first and identifier.strip().lower() in _HEADERS[0] and query.strip().lower() in _HEADERS[1]:
            is_first = False
            continue
        is_first = False
        if not tab or not identifier.strip() or not query.strip() or "\t" in query:
            on_error(
                FileError(
                    name, line, f"expected an id, a tab and the text of a topic, found {shown(text)}; mend the line."
                )
            )
            continue
        yield line, Query(identifier, query)


def _classic(lines: Lines, name: str, on_error: OnError) -> Iterator[tuple[int, Query]]:
    for start, events in _topics(_events(lines), name, on_error):
        try:
            topic = _query(events, name, start)
        except FileError as error:
            on_error(error)
            continue
        yield start, topic


def _events(lines: Lines) -> Iterator[_Event]:
    for line, text in lines:
        end = 0
        for found in _TAG.finditer(text):
            yield _Event(line, "", text[end : found.start()])
            yield _Event(line, f"{found[1]}{found[2].lower()}", "")
            end = found.end()
        yield _Event(line, "", text[end:])


def _topics(events: Iterable[_Event], name: str, on_error: OnError) -> Iterator[tuple[int, list[_Event]]]:
    """The line where each topic begins and what stands in it; the next topic closes one that is not closed."""
    start = 0
    topic: list[_Event] | None = None
    for event in events:
        if event.tag in ("top", "/top"):
            if topic is not None:
                yield start, topic
            start, topic = event.line, [] if event.tag == "top" else None
        elif topic is not None:
            topic.append(event)
        elif event.tag or (event.text.strip() and not _ONLY_TAGS.fullmatch(event.text)):
            found = shown(event.text.strip() or f"<{event.tag}>")
            on_error(
                FileError(name, event.line, f"expected <top> before all else of a topic, found {found}; begin it so.")
            )
    if topic is not None:
        yield start, topic


def _query(events: Iterable[_Event], name: str, start: int) -> Query:
    parts: dict[str, list[str]] = {}
    tag = ""
    for event in events:
        if event.tag:
            if event.tag in ("num", "title") and event.tag in parts:
                problem = f"expected one <{event.tag}> a topic, found another in the topic that begins at line {start}"
                raise FileError(name, event.line, f"{problem}; part them.")
            tag = event.tag if event.tag[0] != "/" else ""
            parts.setdefault(tag, [])
        elif tag:
            parts[tag].append(event.text)
        elif event.text.strip():
            found = shown(event.text.strip())
            raise FileError(name, event.line, f"expected a tag such as <num> or <title>, found {found}; tag the text.")
    texts = {tag: text for tag, pieces in parts.items() if (text := _folded(tag, pieces))}
    identifier, title = texts.pop("num", ""), texts.pop("title", "")
    if not identifier:
        raise FileError(name, start, "expected a <num> with the topic's number, found none; add it.")
    text = title or texts.get("desc", "")
    if not text:
        raise FileError(
            name, start, f"expected a <title> or <desc> with text in topic {shown(identifier)}, found none; add it."
        )
    return Query(identifier, text, {_NAMES.get(tag, tag): text for tag, text in texts.items()})


def _folded(tag: str, pieces: list[str]) -> str:
    text = " ".join(" ".join(pieces).split())
    label = _LABELS.get(tag)
    found = label.match(text) if label else None
    return text[found.end() :].lstrip() if found else text
