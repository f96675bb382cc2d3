"""Found positives as evidence: the known positive of a query beside the documents that people newly found relevant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judging.models import Document, Query
from judging.steps.agreement.sheet import Sheet
from judging.steps.known import known_documents
from judging.steps.reading import Reading, reading


@dataclass(frozen=True, slots=True)
class Positive:
    """A document newly found relevant; ``source`` says by whom: ``adjudicated``, or ``people:2/3``."""

    document: Document
    grade: int
    word: str
    source: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A query, its known positive where it has one that can be read, and the documents newly found relevant."""

    query: Query
    known: Document | None
    found: Sequence[Positive]


def evidence(sheet: Sheet, *, queries: Sequence[int] | None = None) -> list[Evidence]:
    """Every query, or those of these, with a newly found positive; documents by their best rank."""
    relevant = sheet.relevance(sheet.reference.grades) == 1
    by_query: dict[int, list[int]] = {}
    for row in np.flatnonzero(relevant).tolist():
        query = sheet.keys[row][0]
        if queries is None or query in queries:
            by_query.setdefault(query, []).append(row)
    texts = Query.objects.select_related("collection").in_bulk(list(by_query))
    known = known_documents(list(texts.values()))
    documents = Document.objects.in_bulk({sheet.keys[row][1] for rows in by_query.values() for row in rows})
    return [
        Evidence(
            texts[query],
            next(iter(known.get(query, [])), None),
            [_positive(sheet, row, documents[sheet.keys[row][1]]) for row in rows],
        )
        for query, rows in by_query.items()
    ]


def _positive(sheet: Sheet, row: int, document: Document) -> Positive:
    grade = int(sheet.reference.grades[row])
    verdict = sheet.verdicts.get(sheet.keys[row])
    return Positive(document, grade, sheet.scale.word(grade), verdict.source if verdict else sheet.reference.name)


def queries_with_found(sheet: Sheet) -> list[int]:
    """Primary keys of the queries with a newly found positive, in the order of the pool."""
    relevant = sheet.relevance(sheet.reference.grades) == 1
    return list(dict.fromkeys(sheet.keys[row][0] for row in np.flatnonzero(relevant).tolist()))


@dataclass(frozen=True, slots=True)
class Read:
    """Evidence as it is read on a page."""

    query: Query
    known: Reading | None
    found: Sequence[tuple[Reading, Positive]]


def read_evidence(sheet: Sheet, queries: Sequence[int]) -> list[Read]:
    """The evidence of these queries, with the words of the query marked."""
    collection = sheet.collection
    return [
        Read(
            one.query,
            reading(document=one.known, query=one.query, collection=collection) if one.known else None,
            [
                (reading(document=positive.document, query=one.query, collection=collection), positive)
                for positive in one.found
            ],
        )
        for one in evidence(sheet, queries=queries)
    ]


def whole_text(document: Document) -> str:
    """Title and text as a reranker is given them."""
    return " ".join(part for part in (document.title, document.text) if part)


def as_json(sheet: Sheet) -> str:
    """A list of {query, positive_doc, negative_doc}: the known positive, and what the benchmark calls a negative.

    One entry a document newly found relevant; ``positive_doc`` is null where the query has no known positive to read.
    """
    entries = [
        {
            "query": one.query.text,
            "positive_doc": whole_text(one.known) if one.known else None,
            "negative_doc": whole_text(positive.document),
        }
        for one in evidence(sheet)
        for positive in one.found
    ]
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def as_markdown(sheet: Sheet) -> str:
    """The same to read, with ids."""
    return markdown_of(evidence(sheet), title=f"Found positives of {sheet.pool or sheet.collection}")


def markdown_of(found: Sequence[Evidence], *, title: str, level: int = 1) -> str:
    """Evidence under a heading of that level."""
    mark = "#" * level
    parts = [f"{mark} {title}", ""]
    for one in found:
        parts += [
            f"{mark}# {_escaped(_one_line(one.query.text or one.query.qid))}",
            "",
            f"Query `{one.query.qid}`.",
            "",
        ]
        if one.known:
            parts += [f"**Known positive** `{one.known.docid}`", "", _quoted(whole_text(one.known)), ""]
        else:
            parts += ["The query has no known positive that can be read.", ""]
        for positive in one.found:
            parts += [
                f"**Counted as a negative, found “{positive.word}”** `{positive.document.docid}` ({positive.source})",
                "",
                _quoted(whole_text(positive.document)),
                "",
            ]
    return "\n".join(parts).rstrip() + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    """A block quote."""
    return "\n".join(f"> {line}".rstrip() for line in _escaped(text).splitlines() or [""])


def _escaped(text: str) -> str:
    """A text's own marks are shown as they are, never obeyed."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign for sign in text)
