"""Examples of a prompt are never pairs of what is to be judged: they would give the answers away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from judging.engines.llm import Prompt
from judging.errors import UserError
from judging.models import Document, Judgment, Pair, Pool, Query

# So many words in a row of a document, in a prompt, are no accident; shorter documents count whole.
RUN_OF_WORDS = 12

# In characters: what is shorter is too common to tell.
_SHORTEST = 20

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Words:
    """A part of a prompt by what it is called; its words alone, with single blanks around each."""

    name: str
    text: str


def refuse_known_pairs(*, prompt: Prompt, pool: Pool) -> None:
    """Look for pairs of the pool and of its collection's original qrels in the prompt's own words.

    A pair is there where one example has the whole query and the whole document, or twelve words of it in a row. Case,
    blanks and punctuation do not matter.
    Raises: UserError that names the example and the pair.
    """
    for part in _parts(prompt):
        for query in _quoted_queries(part, pool):
            for document, where in _documents(query, pool):
                if _shows(part, document):
                    raise UserError(
                        f"{part.name} of the prompt {prompt.name!r} is the query {query.qid!r} with the document "
                        f"{document.docid!r}, a pair of {where}: it would give the answer away. Take an example from "
                        "elsewhere and name its source in the header."
                    )


def _parts(prompt: Prompt) -> Iterator[_Words]:
    """Each example with its answer, and all the rest."""
    turns = list(prompt.turns)
    rest = []
    number = 0
    while turns:
        role, text = turns.pop(0)
        if role == "user" and turns and turns[0][0] == "assistant":
            number += 1
            yield _Words(f"Example {number}", _squeezed(f"{text} {turns.pop(0)[1]}"))
        else:
            rest.append(text)
    yield _Words("The text", _squeezed(" ".join(rest)))


def _quoted_queries(part: _Words, pool: Pool) -> Iterator[Query]:
    for query in Query.objects.filter(collection=pool.collection, in_corpus=True).iterator():
        if (words := _squeezed(query.text)).strip() and words in part.text:
            yield query


def _documents(query: Query, pool: Pool) -> Iterable[tuple[Document, str]]:
    """Those that the pool pairs with the query, then those that the qrels do; texts that are there alone."""
    of_pool = Pair.objects.filter(pool=pool, query=query, document__in_corpus=True).select_related("document")
    yield from ((pair.document, f"the pool {pool.slug}") for pair in of_pool.iterator())
    of_qrels = Judgment.objects.original(pool.collection).filter(query=query, document__in_corpus=True)
    yield from (
        (judgment.document, f"the qrels of {pool.collection.slug}")
        for judgment in of_qrels.select_related("document").iterator()
    )


def _shows(part: _Words, document: Document) -> bool:
    return any(_holds(part, text) for text in (f"{document.title} {document.text}", document.text))


def _holds(part: _Words, text: str) -> bool:
    words = _squeezed(text).split()
    if len(words) <= RUN_OF_WORDS:
        whole = " ".join(words)
        return len(whole) >= _SHORTEST and f" {whole} " in part.text
    return any(
        f" {' '.join(words[at : at + RUN_OF_WORDS])} " in part.text for at in range(len(words) - RUN_OF_WORDS + 1)
    )


def _squeezed(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
