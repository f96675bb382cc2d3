"""Documents as people read them: paragraphs, query terms marked, mojibake repaired, long texts folded.

Everything here is for display; what is stored and exported stays as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ftfy

from judging.engines.search.analyzer import analyzer_for
from judging.models import Collection, Document, Query

# About a screenful; what lies beyond is one press away.
FOLD_AFTER = 2_500

# A text in one encoding read as another looks odd all over, so its start tells whether a long one needs repair.
_START = 50_000

_KEPT_UP_TO = 10_000

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; ``is_match`` where it is a word of the query."""

    text: str
    is_match: bool = False


Paragraph = Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Reading:
    """``rest`` is what is folded away; ``characters`` the length of the whole text."""

    docid: str
    title: Paragraph
    start: Sequence[Paragraph]
    rest: Sequence[Paragraph]
    characters: int
    language: str


def reading(*, document: Document, query: Query, collection: Collection) -> Reading:
    """A document for the eyes of somebody who judges it for a query."""
    read = _read if len(document.text) <= _KEPT_UP_TO else _read.__wrapped__
    return read(document.docid, document.title, document.text, query.text, collection.language)


# A document comes to each of those who judge it, and the known one with every document of its query. By content, so
# that what an import has changed is read anew. Long texts are left out: a few hundred could take much memory.
@lru_cache(maxsize=500)
def _read(docid: str, title: str, text: str, asked: str, language: str) -> Reading:
    terms = frozenset(analyzer_for(language).terms(repaired(asked)))
    text = repaired(text)
    start, rest = _fold(text)
    return Reading(
        docid=docid,
        title=_marked(repaired(title), terms, language),
        start=[_marked(part, terms, language) for part in _paragraphs(start)],
        rest=[_marked(part, terms, language) for part in _paragraphs(rest)],
        characters=len(text),
        language=language,
    )


def repaired(text: str) -> str:
    """``itâ€™s`` → ``it's``, where the text is surely broken; for display, never to be stored."""
    start = text[:_START]
    mended: str = ftfy.fix_encoding(start)
    if mended == start:
        return text
    return mended if len(start) == len(text) else str(ftfy.fix_encoding(text))


def _fold(text: str) -> tuple[str, str]:
    """Cut a long text at the end of a paragraph, or else of a word; never inside one."""
    if len(text) <= FOLD_AFTER * 1.2:
        return text, ""
    for mark in ("\n\n", "\n", ". ", " "):
        if (end := text.rfind(mark, FOLD_AFTER // 2, FOLD_AFTER)) > 0:
            return text[: end + len(mark)], text[end + len(mark) :]
    return text[:FOLD_AFTER], text[FOLD_AFTER:]


def _paragraphs(text: str) -> list[str]:
    return [part for part in _PARAGRAPH.split(text.strip()) if part]


def _marked(text: str, terms: frozenset[str], language: str) -> Paragraph:
    return list(_pieces(text, terms, language))


def _pieces(text: str, terms: frozenset[str], language: str) -> Iterator[Piece]:
    """The text whole and in order, cut where a word of the query begins or ends."""
    here = 0
    for token in analyzer_for(language).tokens(text) if terms else ():
        if token.term not in terms or token.start < here:
            continue
        if token.start > here:
            yield Piece(text[here : token.start])
        yield Piece(text[token.start : token.end], is_match=True)
        here = token.end
    if here < len(text):
        yield Piece(text[here:])
