"""The one order of a ranking."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judging.errors import UserError


def rank_order(documents: Sequence[str], scores: Sequence[float]) -> list[int]:
    """Positions of the documents from the best to the last: score descending, then document id descending.

    Ids compare by code points, which is the order of their UTF-8 bytes and so that of trec_eval. Pooling, judged@k and
    every ranking measure read a ranking in this order.

    Raises UserError for a score that is not a number, ValueError where the lengths differ.
    """
    if len(documents) != len(scores):
        raise ValueError(f"Expected one score a document; found {len(documents)} documents and {len(scores)} scores.")
    for document, score in zip(documents, scores, strict=True):
        if math.isnan(score):
            raise UserError(f"A score must be a number to be ranked; found nan for document {document!r}.")
    return sorted(range(len(documents)), key=lambda i: (scores[i], documents[i]), reverse=True)
