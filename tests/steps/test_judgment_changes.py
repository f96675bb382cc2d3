"""What would change is told of labels as lists of keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judging.steps.judgment_changes import Labels, content_of, difference

KEYS = st.sampled_from([1, 2, 2**31, 2**62])
SAID = st.dictionaries(st.tuples(KEYS, KEYS), st.sampled_from([0, 1, -1, -2]))


def labels(said: dict[tuple[int, int], int]) -> Labels:
    made = Labels()
    for (query, document), grade in said.items():
        made.queries.append(query)
        made.documents.append(document)
        made.contents.append(content_of("graded", grade, ""))
    return made


@given(SAID, SAID)
def test_what_is_added_changed_and_removed_is_found_where_it_stands(old, new):
    found = difference(labels(old), labels(new))
    assert [list(new)[place] for place in found.added] == [pair for pair in new if pair not in old]
    assert [list(new)[place] for place in found.changed] == [p for p in new if p in old and new[p] != old[p]]
    assert [list(old)[place] for place in found.removed] == [pair for pair in old if pair not in new]


def test_the_counts_are_put_into_words():
    old = {(1, number): 0 for number in range(1_500)}
    assert str(difference(labels(old), labels({(1, 0): 1, (1, 1): 0, (2, 0): 0}))) == (
        "1 added, 1 changed, 1,498 removed"
    )
    assert str(difference(labels(old), labels(old))) == "nothing"


def test_another_outcome_grade_or_comment_is_another_content():
    contents = [content_of(*said) for said in [("graded", 1, ""), ("graded", 1, "a"), ("failed", None, "")]]
    assert len(set(contents)) == 3
