"""What a reranker must offer, whichever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from judging.formats.records import Document, Query


class Reranker(Protocol):
    """Scores documents for a query; a higher score is better. Documents are read as ``Document.full_text``."""

    name: str
    """The name it is published under, such as ``cross-encoder/ms-marco-MiniLM-L-6-v2``."""

    def identity(self) -> dict[str, Any]:
        """Every determinant of a score: model, revision, dtype, window, library versions. JSON-serialisable."""
        ...

    def score(self, query: Query, documents: Sequence[Document]) -> list[float]:
        """One score per document, in their order."""
        ...
