from __future__ import annotations

from judging.engines.search.ties import best, rounded, tied_at_cut


def test_equal_scores_stand_in_descending_order_of_the_id_by_code_points() -> None:
    hits = [("10", 1.0), ("9", 1.0), ("a", 1.0), ("B", 1.0), ("z", 0.5), ("c", 2.0)]
    assert best(hits, top=5) == (("c", 2.0), ("a", 1.0), ("B", 1.0), ("9", 1.0), ("10", 1.0))


def test_scores_that_differ_by_rounding_of_32_bit_floats_are_equal() -> None:
    assert rounded(12.345678) == rounded(12.345679) == 12.3457
    assert rounded(0.0123456) != rounded(0.0123457)


def test_more_is_fetched_only_while_the_last_fetched_ties_with_the_last_wanted() -> None:
    assert tied_at_cut([3.0, 2.0, 2.0, 2.0], top=2, fetched=4)
    assert not tied_at_cut([3.0, 2.0, 2.0, 1.0], top=2, fetched=4)
    assert not tied_at_cut([3.0, 2.0, 2.0], top=2, fetched=4)
    assert not tied_at_cut([], top=2, fetched=4)
