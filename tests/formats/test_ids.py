from hypothesis import given
from hypothesis import strategies as st

from judging.formats.ids import SeenIds


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
