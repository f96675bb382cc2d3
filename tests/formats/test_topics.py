import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import FileError
from judging.formats.records import Query
from judging.formats.topics import read_topics


def topics_of(data: str | bytes) -> list[Query]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read_topics(io.BytesIO(raw), name="topics.txt"))


CLASSIC = """
<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international criminal
activity.

<narr> Narrative:
A relevant document must name
the organization.

</top>

<top>
<num> Number: 302
<title> Poliomyelitis and Post-Polio
<desc> Description:
Is the disease under control?
</top>
"""
FIRST = Query(
    "301",
    "International Organized Crime",
    {
        "description": "Identify organizations that participate in international criminal activity.",
        "narrative": "A relevant document must name the organization.",
    },
)
SECOND = Query("302", "Poliomyelitis and Post-Polio", {"description": "Is the disease under control?"})


class TestClassic:
    @pytest.mark.parametrize(
        "change",
        [
            str,
            str.strip,
            lambda text: text.replace("\n", "\r\n"),
            lambda text: "\ufeff" + text.strip(),
            lambda text: text.replace("</top>", ""),
            lambda text: text.replace("<", "\n\n <").replace(">", "> "),
            lambda text: text.replace("<num>", "<NUM>").replace("Number:", "NUMBER :"),
            lambda text: text.replace("Number: ", "").replace("Description:", "").replace("Narrative:", ""),
            lambda text: "<topics>\n" + text + "</topics>\n",
            lambda text: text.replace("<desc>", "</title>\n<desc>").replace("<title>", "</num>\n<title>"),
            lambda text: text.replace("\n", " "),
        ],
    )
    def test_title_description_and_narrative_are_read_however_tags_and_labels_are_written(self, change):
        assert topics_of(change(CLASSIC)) == [FIRST, SECOND]

    def test_a_topic_without_title_has_its_description_as_text(self):
        data = "<top>\n<num> Number: 203\n<desc> Description:\nWhat is x?\n</top>"
        assert topics_of(data) == [Query("203", "What is x?", {"description": "What is x?"})]

    def test_what_else_a_topic_has_is_kept(self):
        data = (
            "<top>\n<head> Tipster Topic\n<num> Number: 051\n<dom> Domain: Finance\n<title> Topic: Airbus\n"
            "<con> Concept(s):\n1. a\n<con> 2. b\n</top>"
        )
        metadata = {"head": "Tipster Topic", "domain": "Finance", "concepts": "1. a 2. b"}
        assert topics_of(data) == [Query("051", "Airbus", metadata)]

    def test_other_angle_brackets_and_entities_are_text(self):
        assert topics_of("<top><num>1<title>a <b>b</b> &amp; c < d</top>") == [Query("1", "a <b>b</b> &amp; c < d")]

    def test_reading_may_go_on_after_a_bad_topic(self):
        errors = []
        data = f"<top>\n<title> no number\n</top>\nstray\n{CLASSIC}"
        topics = read_topics(io.BytesIO(data.encode()), name="t", on_error=errors.append)
        assert list(topics) == [FIRST, SECOND]
        assert [error.line for error in errors] == [1, 4]

    def test_latin_1_is_an_error_that_says_how_to_convert_it(self):
        with pytest.raises(FileError) as caught:
            topics_of("<top>\n<num> 1\n<title> café\n</top>\n".encode("latin-1"))
        assert str(caught.value) == (
            "topics.txt:3: expected UTF-8, found the byte 0xe9; "
            "save the file as UTF-8 (where it is Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW)."
        )


class TestTabbed:
    def test_a_line_is_an_id_and_a_text(self):
        assert topics_of("0042\twhat is  x?\r\n\n42\té\u2028") == [Query("0042", "what is  x?"), Query("42", "é\u2028")]

    @pytest.mark.parametrize("header", ["qid\tquery\n", "query_id\ttext\n", "ID\tTitle\n"])
    def test_a_header_is_left_out(self, header):
        assert topics_of(f"{header}1\ta\n") == [Query("1", "a")]

    @pytest.mark.parametrize("first", ["qid\twhat is a qid?\n", "1\tquery\n"])
    def test_a_first_topic_is_not_taken_for_a_header(self, first):
        assert len(topics_of(f"{first}2\tb\n")) == 2

    @given(
        st.dictionaries(
            st.text(st.characters(exclude_characters="\0\t\n\r<", exclude_categories=["Cs"]), min_size=1).filter(
                lambda text: text.strip() and not text.startswith("\ufeff")
            ),
            st.text(st.characters(exclude_characters="\0\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(
                str.strip
            ),
        ),
        st.sampled_from(["\n", "\r\n"]),
    )
    def test_ids_and_texts_are_kept_to_the_byte(self, topics, end):
        data = "id\ttext\n" + "".join(f"{identifier}\t{text}{end}" for identifier, text in topics.items())
        assert topics_of(data) == [Query(identifier, text) for identifier, text in topics.items()]


@pytest.mark.parametrize("data", ["", "\n\n", "\ufeff"])
def test_a_blank_file_has_no_topics(data):
    assert topics_of(data) == []
