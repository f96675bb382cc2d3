"""The documents of a collection, one after another, in the order in which they came in."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from judging.models import Collection, Document
from judging.steps.lookup import chunks

_TOGETHER = 500


def read_corpus(collection: Collection, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The values of these fields of each document of the corpus.

    Keys first, then texts by key: a cursor over the texts would have the database sort all of them (SQLite does that in
    memory) and hold a snapshot for as long as somebody downloads. Takes 8 bytes of memory a document.
    """
    own = Document.objects.filter(collection=collection, in_corpus=True)
    keys = array("q", own.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=10_000))
    for chunk in chunks(keys, _TOGETHER):
        rows = Document.objects.filter(pk__in=chunk).order_by("pk")
        yield from rows.values_list(*fields)
