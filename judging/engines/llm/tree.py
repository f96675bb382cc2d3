"""Rows of token ids as one tree in which a beginning that several rows share is there once.

The rows of one judge share its instructions and examples, those of one query share that too. Laid out as one sequence,
in which each token sees its own ancestors and nothing else, the tree is read in one forward pass: what is shared is
computed once and nothing is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tree:
    """Rows laid out behind a path of ``start`` tokens that was read before.

    Column c of the attention is token c of that path for c < ``start``, else node c − ``start``. ``tokens`` and
    ``positions`` are those of the nodes; ``paths`` the columns of each row's tokens, from its first to its last.
    """

    start: int
    tokens: Ids
    positions: Ids
    paths: list[Ids]
    mask: Flags
    """Shape (nodes, start + nodes): which columns a node sees, itself included."""

    @property
    def leaves(self) -> Ids:
        """The node of each row's last token, shape (rows,)."""
        return np.array([path[-1] - self.start for path in self.paths], dtype=np.int64)


def shared(first: Ids, second: Ids) -> int:
    """How many tokens two rows have in common at their beginning."""
    length = min(len(first), len(second))
    different = np.flatnonzero(first[:length] != second[:length])
    return int(different[0]) if len(different) else length


def plan_passes(rows: Sequence[Ids], known: Ids, budget: int) -> list[list[int]]:
    """Rows in passes of at most ``budget`` new tokens, in their order; a longer row is alone.

    ``known`` is the row that was read last; each pass leaves its own last row to the next.
    """
    passes: list[list[int]] = []
    size = 0
    for number, row in enumerate(rows):
        before = rows[number - 1] if number else known
        new = len(row) - shared(row, before)
        if not passes or size + new > budget:
            passes.append([])
            size = 0
        passes[-1].append(number)
        size += new
    return passes


def grow(rows: Sequence[Ids], known: Ids) -> Tree:
    """The tree of one pass, behind as much of ``known`` as its rows share.

    Rows that share more follow each other: each is compared with the one before it and with ``known``.
    """
    # Every row must keep a token of its own to be read: the logits of a token read before are gone.
    with_known = [min(shared(row, known), len(row) - 1) for row in rows]
    start = max(with_known)
    paths: list[Ids] = []
    runs: list[tuple[int, int, int]] = []
    tokens: list[Ids] = []
    size = start
    for row, from_known in zip(rows, with_known, strict=True):
        from_last = shared(row, rows[len(paths) - 1]) if paths else 0
        if from_last == len(row) and paths[-1][from_last - 1] < start:
            from_last -= 1
        common = max(from_known, from_last)
        before = paths[-1][:common] if from_last > from_known else np.arange(common)
        end = size + len(row) - common
        paths.append(np.concatenate([before, np.arange(size, end)]).astype(np.int64))
        tokens.append(row[common:])
        runs.append((size, end, common))
        size = end
    mask, positions = _lay_out(paths, runs, start, size)
    return Tree(start, np.concatenate(tokens), positions, paths, mask)


def _lay_out(paths: list[Ids], runs: list[tuple[int, int, int]], start: int, size: int) -> tuple[Flags, Ids]:
    mask = np.zeros((size - start, size), dtype=bool)
    positions = np.zeros(size - start, dtype=np.int64)
    for path, (begin, end, common) in zip(paths, runs, strict=True):
        nodes = slice(begin - start, end - start)
        mask[nodes, path[:common]] = True
        mask[nodes, begin:end] = np.tri(end - begin, dtype=bool)
        positions[nodes] = np.arange(common, common + end - begin)
    return mask, positions
