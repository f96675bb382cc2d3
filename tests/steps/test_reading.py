"""Documents as people read them: marks and folds change no text, and repair is for the eyes only."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.models import Collection, Document, Query
from judging.steps.reading import FOLD_AFTER, reading

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300)
WORDS = st.lists(
    st.sampled_from(
        ["wing", "Wings", "lift", "the", "it’s", "naïve", "ﬁne", "İstanbul", "中文", "🙂", "e\u0301", "\n", " ", "\n\n"]
    ),
    max_size=60,
).map(" ".join)


def read(text, query="", *, title="", language="en"):
    """Nothing here is stored."""
    return reading(
        document=Document(docid="d", title=title, text=text),
        query=Query(text=query),
        collection=Collection(language=language),
    )


def joined(paragraphs):
    return ["".join(piece.text for piece in paragraph) for paragraph in paragraphs]


def whole(found):
    return joined([*found.start, *found.rest])


def marked(text, query, **options):
    found = read(text, query, **options)
    return [piece.text for paragraph in (*found.start, *found.rest) for piece in paragraph if piece.is_match]


@given(TEXT | WORDS, TEXT | WORDS | st.just("wing naïve 中文 istanbul"))
def test_marks_change_no_character_of_a_text(text, query):
    plain, with_marks = read(text, title=text), read(text, query, title=text)
    assert whole(with_marks) == whole(plain)
    assert joined([with_marks.title]) == joined([plain.title])
    assert all(piece.text for paragraph in (*with_marks.start, with_marks.title) for piece in paragraph)


@given(st.lists(st.sampled_from(["word ", "longer-word. ", "x" * 90, "\n\n", "\n"]), max_size=120).map("".join))
def test_nothing_but_white_space_is_lost_between_paragraphs_and_folds(text):
    found = read(text, "word")
    assert "".join("".join(whole(found)).split()) == "".join(text.split())
    assert found.characters == len(text)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("wing", "Wings of a wing, winged; swing", ["Wings", "wing", "winged"]),
        ("running", "He runs, she ran.", ["runs"]),
        ("robert gray's ship", "Gray and his SHIPS", ["Gray", "SHIPS"]),
        ("the of and", "the king of and", []),
        ("", "wing", []),
    ],
)
def test_words_that_share_a_stem_with_the_query_are_marked(query, text, expected):
    assert marked(text, query) == expected


def test_the_stems_are_those_of_the_collections_language():
    assert marked("Häuser und ein Haus", "haus", language="de") == ["Häuser", "Haus"]
    assert marked("Wings of a wing", "wing", language="xx") == ["wing"]


def test_marks_stand_in_the_title_too():
    assert [(piece.text, piece.is_match) for piece in read("", "wing", title="On wings").title] == [
        ("On ", False),
        ("wings", True),
    ]


def test_blank_lines_part_paragraphs():
    assert joined(read("one\ntwo\n\nthree\r\n \r\n\n  four\n").start) == ["one\ntwo", "three\r", "four"]


def test_a_text_of_a_screenful_is_not_folded():
    text = "word " * (FOLD_AFTER // 5)
    assert joined(read(text).start) == [text.strip()]
    assert read(text).rest == []


@pytest.mark.parametrize("mark", ["\n\n", "\n", ". ", " "])
def test_a_long_text_is_folded_at_the_end_of_a_paragraph_or_line_or_sentence_or_word(mark):
    text = mark.join(f"word{n}" for n in range(1_000))
    found = read(text)
    shown, folded = "".join(joined(found.start)), "".join(joined(found.rest))
    assert len(text) - len(folded) > FOLD_AFTER // 2
    assert len(shown) <= FOLD_AFTER
    words = " ".join(joined(found.start)).replace(".", " ").split()
    assert words == [f"word{n}" for n in range(len(words))]
    assert folded.startswith(f"word{len(words)}")


def test_a_text_without_any_blank_is_folded_all_the_same():
    found = read("相" * 10_000)
    assert [len("".join(joined(part))) for part in (found.start, found.rest)] == [FOLD_AFTER, 7_500]


def test_a_text_of_450_000_characters_is_ready_at_once():
    text = ("The wings produce lift; it’s the boundary layer — naïve as it seems. " * 7_000)[:450_000]
    started = time.perf_counter()
    found = read(text, "wing lift boundary")
    assert time.perf_counter() - started < 3
    assert found.characters == 450_000
    assert "".join("".join(whole(found)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [("itâ€™s a cafÃ©", "it’s a café"), ("â€œlift” of â€œwings”", "“lift” of “wings”")],
)
def test_mojibake_is_repaired_for_the_eyes_and_stays_as_it_came_in_the_document(broken, repaired):
    document = Document(docid="d", title=broken, text=broken)
    found = reading(document=document, query=Query(text=""), collection=Collection(language="en"))
    assert whole(found) == joined([found.title]) == [repaired]
    assert (document.title, document.text) == (broken, broken)


def test_mojibake_is_repaired_to_the_end_of_a_long_text():
    found = read("itâ€™s a long text. " * 4_000)
    assert "â€" not in "".join(whole(found))
    assert "".join(whole(found)).count("it’s") == 4_000


@pytest.mark.parametrize(
    "text", ["Ärger über Öl", "naïve — “quoted”", "price 5 € ± 3 ½", "</script><b>x</b>", "a\u202eb\u200bc🙂"]
)
def test_a_sound_text_is_shown_as_it_is(text):
    assert whole(read(text, "x")) == [text]


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_an_empty_text_has_no_paragraph(text):
    assert (read(text, "x").start, read(text, "x").rest) == ([], [])
