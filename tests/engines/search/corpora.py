"""Small corpora for the tests of the search engines."""

from __future__ import annotations

import random

from judging.formats.records import Document, Query

ANIMALS = [
    Document("d1", "Cats", "A cat sat on the mat. The cat's tail was long."),
    Document("d2", "Dogs and cats", "Dogs chase a cat."),
    Document("d3", "Birds", "A bird sings in the morning."),
    Document("d4", "", "An owl is a bird that hunts at night; the owl hears well."),
    Document("d5", "Empty", ""),
]


def query(text: str, number: str = "q1") -> Query:
    return Query(number, text)


def random_corpus(size: int, *, seed: int, titles: bool = True) -> list[Document]:
    """Documents of made-up words that no stemmer or stop list touches; some are much more frequent than others."""
    pick = random.Random(seed)
    words = [f"w{number}x" for number in range(80)]
    weights = [1 / (rank + 1) for rank in range(len(words))]

    def text(least: int, most: int) -> str:
        return " ".join(pick.choices(words, weights, k=pick.randint(least, most)))

    return [Document(f"d{number}", text(1, 4) if titles else "", text(3, 60)) for number in range(size)]
