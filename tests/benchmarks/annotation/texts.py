"""The pairs that are judged: the same made-up queries and documents for every product."""

from __future__ import annotations

import random
from dataclasses import dataclass

PER_QUERY = 20
WORDS_OF_DOCUMENT = 200

_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "so", "tu", "ra", "ve", "pi", "co", "du", "ma")


@dataclass(frozen=True, slots=True)
class Text:
    """One pair to be judged, as identifiers and text."""

    qid: str
    query: str
    docid: str
    document: str


def make_texts(pairs: int, *, seed: int = 0) -> list[Text]:
    """Pairs, twenty documents a query; a document has two paragraphs and some words of its query."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(3_000)]
    made: list[Text] = []
    while len(made) < pairs:
        number = len(made) // PER_QUERY
        query = chance.sample(words, 6)
        for rank in range(min(PER_QUERY, pairs - len(made))):
            text = chance.choices(words, k=WORDS_OF_DOCUMENT - 10) + chance.choices(query, k=10)
            chance.shuffle(text)
            half = len(text) // 2
            document = f"{' '.join(text[:half])}.\n\n{' '.join(text[half:])}."
            made.append(Text(f"q{number}", " ".join(query), f"d{number}-{rank}", document))
    return made
