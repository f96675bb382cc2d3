"""Ids and pairs of ids that were seen before, in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

_FIRST_SIZE = 1 << 10


class SeenIds:
    """A set of ids that keeps eight bytes of hash each: 16 to 32 bytes an id, where a set of the texts takes 120.

    Open addressing with linear probing, at most half full. Python's own 64-bit hash of a text is cached in the text and
    seeded anew in each process, so nobody can craft a file of colliding ids.
    """

    def __init__(self) -> None:
        self._table = array("q", bytes(8 * _FIRST_SIZE))
        self._mask = _FIRST_SIZE - 1
        self._free = _FIRST_SIZE // 2

    def add(self, identifier: str) -> bool:
        """Was this id seen before? True may, once in many millions of files, be said of another id's equal hash."""
        key = hash(identifier) or 1
        table, mask = self._table, self._mask
        slot = key & mask
        while found := table[slot]:
            if found == key:
                return True
            slot = (slot + 1) & mask
        table[slot] = key
        self._free -= 1
        if not self._free:
            self._grow()
        return False

    def _grow(self) -> None:
        old = self._table
        size = 2 * len(old)
        table, mask = array("q", bytes(8 * size)), size - 1
        for key in filter(None, old):
            slot = key & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = key
        self._table, self._mask, self._free = table, mask, size // 2 - len(old) // 2


class SeenPairs:
    """Where each pair stood first and what was said of it: 28 to 36 bytes a pair, where nested dicts take some 250.

    A table of places as above, in which the pairs lie in the order in which they came. Of what is said, such as a
    grade, each value is kept once.
    """

    def __init__(self) -> None:
        self._table = array("i", [-1]) * _FIRST_SIZE
        self._mask = _FIRST_SIZE - 1
        self._keys = array("q")
        self._lines = array("q")
        self._said = array("i")
        self._codes: dict[object, int] = {}
        self._values: list[object] = []

    def add(self, pair: Hashable, said: object, line: int) -> tuple[object, int] | None:
        """What was said of the pair at first, and at which line; None, and this is kept, where it is new."""
        key = hash(pair)
        table, mask, keys = self._table, self._mask, self._keys
        slot = key & mask
        while (place := table[slot]) >= 0:
            if keys[place] == key:
                return self._values[self._said[place]], self._lines[place]
            slot = (slot + 1) & mask
        table[slot] = len(keys)
        keys.append(key)
        self._lines.append(line)
        self._said.append(self._code(said))
        if 2 * len(keys) >= len(table):
            self._grow()
        return None

    def _code(self, said: object) -> int:
        code = self._codes.setdefault(said, len(self._values))
        if code == len(self._values):
            self._values.append(said)
        return code

    def _grow(self) -> None:
        size = 2 * len(self._table)
        table, mask = array("i", [-1]) * size, size - 1
        for place, key in enumerate(self._keys):
            slot = key & mask
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = place
        self._table, self._mask = table, mask
