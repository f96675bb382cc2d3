from __future__ import annotations

import numpy as np
import pytest

from judging.engines.llm.reading import in_turn
from judging.engines.llm.tree import Ids, grow, plan_passes, shared

NOTHING = np.empty(0, dtype=np.int64)


def row(text: str) -> Ids:
    return np.array([ord(char) for char in text])


def spelled(rows: list[Ids], known: Ids) -> list[str]:
    """What the last token of each row sees, in the order of positions."""
    tree = grow(rows, known)
    tokens = np.concatenate([known[: tree.start], tree.tokens])
    positions = np.concatenate([np.arange(tree.start), tree.positions])
    seen = []
    for leaf in tree.leaves:
        columns = np.flatnonzero(tree.mask[leaf])
        assert sorted(positions[columns]) == list(range(len(columns)))
        seen.append("".join(chr(tokens[column]) for column in columns[np.argsort(positions[columns])]))
    return seen


@pytest.mark.parametrize(
    ("known", "texts", "read"),
    [
        ("", ["ask: a x?", "ask: a y?", "ask: b z?"], 9 + 2 + 4),
        ("ask: a w?", ["ask: a x?", "ask: a y?", "ask: b z?"], 2 + 2 + 4),
        ("ask: a w?", ["tell", "ask: b z?", "ask: a z?"], 4 + 4 + 2),
        ("", ["same", "same"], 4),
        ("same", ["same"], 1),
        ("long text", ["long", "long text!", "lo"], 1 + 1 + 1),
        ("abcdef", ["abcdeX", "abcd"], 1 + 1),
        ("", ["x"], 1),
        ("", ["ab", "abc", "abcd", "b"], 2 + 1 + 1 + 1),
    ],
)
def test_each_row_sees_itself_and_what_is_shared_is_there_once(known: str, texts: list[str], read: int) -> None:
    rows = [row(text) for text in texts]
    before = row(known) if known else NOTHING
    assert spelled(rows, before) == texts
    assert len(grow(rows, before).tokens) == read


def test_random_rows_see_themselves_behind_any_known_row() -> None:
    draw = np.random.default_rng(3)
    for _ in range(300):
        texts = ["".join(draw.choice(list("ab"), draw.integers(1, 9))) for _ in range(draw.integers(1, 6))]
        known = "".join(draw.choice(list("ab"), draw.integers(0, 9)))
        assert spelled([row(text) for text in texts], row(known) if known else NOTHING) == texts


def test_no_token_sees_one_that_comes_after_it() -> None:
    tree = grow([row("abcd"), row("abef")], NOTHING)
    assert tree.mask.tolist() == [
        [True, False, False, False, False, False],
        [True, True, False, False, False, False],
        [True, True, True, False, False, False],
        [True, True, True, True, False, False],
        [True, True, False, False, True, False],
        [True, True, False, False, True, True],
    ]
    assert tree.positions.tolist() == [0, 1, 2, 3, 2, 3]


def test_the_beginning_that_two_rows_share_is_counted() -> None:
    assert [shared(row("abc"), row(other)) for other in ("abd", "abc", "abcd", "a", "x")] == [2, 3, 3, 1, 0]


def test_passes_count_new_tokens_only_and_hold_every_row_once() -> None:
    rows = [row("ask: a xxx"), row("ask: a yyy"), row("ask: b zzz"), row("ask: b " + "w" * 40), row("ask: c v")]
    assert plan_passes(rows, NOTHING, 13) == [[0, 1], [2], [3], [4]]
    assert plan_passes(rows, row("ask: a vvv"), 13) == [[0, 1, 2], [3], [4]]
    assert [n for batch in plan_passes(rows, NOTHING, 1) for n in batch] == [0, 1, 2, 3, 4]
    assert plan_passes(rows, NOTHING, 1000) == [[0, 1, 2, 3, 4]]
    assert plan_passes([], NOTHING, 13) == []


def test_the_pairs_of_a_query_come_together_in_the_order_in_which_queries_came() -> None:
    assert in_turn(["b", "a", "b", "c", "a"]) == [0, 2, 1, 4, 3]
