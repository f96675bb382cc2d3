from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import UserError
from judging.formats.tsv import tsv_lines

VALUE = st.text(st.characters(exclude_characters="\0\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def written(*rows):
    return b"".join(tsv_lines(("a", "b"), rows))


def test_values_stand_as_they_are_and_in_the_order_given():
    assert written(("0042", 1), ("Nike shoes", "'x'"), ("nike", 'say "x"')) == (
        b"a\tb\n0042\t1\nNike shoes\t'x'\nnike\tsay \"x\"\n"
    )


def test_a_value_that_begins_with_a_quote_is_quoted():
    assert written(('"x" y', "b")) == b'a\tb\n"""x"" y"\tb\n'


@pytest.mark.parametrize("bad", ["", " ", "a\tb", "a\nb", "a\rb", "a\0b"])
def test_what_a_column_cannot_hold_is_refused_with_its_name(bad):
    with pytest.raises(UserError) as caught:
        written(("x", bad))
    assert str(caught.value) == f"A TSV file needs a b without tabs and line ends, and not blank; found {bad!r}."


@given(st.lists(st.tuples(VALUE, VALUE)))
def test_a_csv_reader_gives_the_values_back(rows):
    with io.TextIOWrapper(io.BytesIO(written(*rows)), encoding="utf-8") as stream:
        assert [tuple(row) for row in csv.reader(stream, delimiter="\t")] == [("a", "b"), *rows]
