import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.formats.text import digest, is_empty

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_a_digest_has_16_bytes_that_never_change():
    assert digest("Title", "Some text").hex() == "c6164cc109ea039549a75c066b1a5205"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("", "a b"), ("", " a\n\t b\r\n")),
        (("", "a b"), ("", "a\xa0b\u2028")),
        (("", "café"), ("", "cafe\u0301")),
        (("t", "a"), (" t ", "a")),
    ],
)
def test_white_space_and_composition_do_not_count(one, other):
    assert digest(*one) == digest(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("", "a"), ("", "A")),
        (("", "a b"), ("", "ab")),
        (("", "a."), ("", "a")),
        (("a", "b"), ("", "a b")),
        (("a", ""), ("", "a")),
        (("", "ﬁ"), ("", "fi")),
        (("a\x1fb", ""), ("a", "b")),
    ],
)
def test_case_punctuation_and_the_end_of_the_title_count(one, other):
    assert digest(*one) != digest(*other)


@given(TEXT, TEXT)
def test_normal_forms_of_one_text_have_one_digest(title, text):
    assert digest(title, text) == digest(unicodedata.normalize("NFD", title), unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("title", "text", "empty"),
    [
        ("", "", True),
        (" \n", "\xa0\t", True),
        ("t", "", False),
        ("", "x", False),
        (" ", " x ", False),
        ("", "0", False),
    ],
)
def test_white_space_is_nothing_to_read(title, text, empty):
    assert is_empty(title, text) is empty
