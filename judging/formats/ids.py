"""Ids that were seen before, in little memory."""

from __future__ import annotations

from array import array

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
