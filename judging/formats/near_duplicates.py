"""Documents of nearly one text, by MinHash (A. Broder 1997, On the resemblance and containment of documents).

Documents of exactly one text share ``text.digest``; this is for those that differ in a few words. rensa is imported
when asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from judging.errors import UserError

_WORD = re.compile(r"\w+")
_SHINGLE = 3
_PERMUTATIONS = 256
_SEED = 1


def near_duplicates(texts: Iterable[tuple[str, str]], *, threshold: float = 0.8) -> list[tuple[str, ...]]:
    """Groups of ids whose texts resemble each other, in the order in which the first of each came.

    ``texts`` are (id, text). Resemblance is the Jaccard similarity of the sets of three words in a row, in lower case
    and without punctuation, estimated from 256 permutations (standard error below .032). Two texts are one group where
    it is ``threshold`` or more; groups are joined through common members. Texts without a word are left out. The same
    texts give the same groups. Takes some 4 KiB of memory a text; the texts themselves are not kept.

    Raises: UserError for a threshold that is not above 0 and at most 1.
    """
    if not 0 < threshold <= 1:
        raise UserError(f"A threshold of resemblance lies above 0 and is at most 1; found {threshold}.")
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold, _PERMUTATIONS, _bands(threshold))
    ids: list[str] = []
    sketches: list[Any] = []
    groups = _Groups()
    for identifier, text in texts:
        shingles = list(_shingles(text))
        if not shingles:
            continue
        sketch = RMinHash(_PERMUTATIONS, _SEED)
        sketch.update(shingles)
        number = len(ids)
        for other in index.query(sketch):
            if sketch.jaccard(sketches[other]) >= threshold:
                groups.join(other, number)
        index.insert(number, sketch)
        ids.append(identifier)
        sketches.append(sketch)
    return [tuple(ids[number] for number in group) for group in groups.found()]


def _bands(threshold: float) -> int:
    """How many bands the signature is cut into: as few as find a pair at the threshold with a chance of 99 %.

    A pair of similarity s meets in one of b bands of r rows with the chance 1 - (1 - s^r)^b.
    """
    for rows in (32, 16, 8, 4, 2):
        bands = _PERMUTATIONS // rows
        if (1 - threshold**rows) ** bands < 0.01:
            return bands
    return _PERMUTATIONS


def _shingles(text: str) -> Iterator[str]:
    words = _WORD.findall(text.lower())
    for start in range(max(len(words) - _SHINGLE + 1, min(len(words), 1))):
        yield " ".join(words[start : start + _SHINGLE])


class _Groups:
    """Which numbers belong together: disjoint sets, joined at their smallest member."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def _root(self, number: int) -> int:
        root = number
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while (parent := self._parent.get(number, root)) != root:
            self._parent[number], number = root, parent
        return root

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._parent[second] = first
        self._parent.setdefault(first, first)

    def found(self) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for number in sorted(self._parent):
            groups.setdefault(self._root(number), []).append(number)
        return list(groups.values())
