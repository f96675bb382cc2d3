from hypothesis import given
from hypothesis import strategies as st

from judging.formats.ids import SeenIds, SeenPairs


@given(st.lists(st.text(max_size=2)))
def test_an_id_was_seen_if_and_only_if_it_was_added(ids):
    seen = SeenIds()
    for number, identifier in enumerate(ids):
        assert seen.add(identifier) is (identifier in ids[:number])


def test_many_ids_are_told_apart():
    seen = SeenIds()
    assert not any(seen.add(str(number)) for number in range(100_000))
    assert all(seen.add(str(number)) for number in range(100_000))


def test_an_id_whose_hash_is_zero_is_remembered():
    seen = SeenIds()
    assert hash("") == 0
    assert not seen.add("")
    assert seen.add("")


@given(st.lists(st.tuples(st.text(max_size=1), st.text(max_size=1), st.sampled_from([-2, -1, 0, 1, "failed"]))))
def test_of_a_pair_it_is_told_what_was_said_first_and_where(said):
    seen, first = SeenPairs(), {}
    for line, (query, document, grade) in enumerate(said, 1):
        assert seen.add((query, document), grade, line) == first.get((query, document))
        first.setdefault((query, document), (grade, line))


def test_many_pairs_are_told_apart():
    seen = SeenPairs()
    pairs = [(str(number % 100), str(number)) for number in range(50_000)]
    assert all(seen.add(pair, number % 3, number) is None for number, pair in enumerate(pairs))
    assert all(seen.add(pair, 9, 0) == (number % 3, number) for number, pair in enumerate(pairs))
