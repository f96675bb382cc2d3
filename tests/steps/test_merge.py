"""The augmented qrels: one grade and one source for each (query, document), by a stated order."""

from __future__ import annotations

import pytest

from judging.formats.scale import default_scale
from judging.models import Judge
from judging.steps.merge import MergedGrade, Policy, llm_judges_of, merge
from tests.factories import make_collection, make_document, make_judgment, make_llm, make_person

pytestmark = pytest.mark.django_db


def texts(**same):
    """Documents d1 … d6 with texts of their own, but for those named."""
    return {f"d{n}": same.get(f"d{n}", f"text {n}") for n in range(1, 7)}


@pytest.fixture
def collection():
    return make_collection(documents=texts(), scale=default_scale(3), qrels={("q1", "d1"): 0})


def by_people(collection, docid, *grades):
    for grade in grades:
        make_judgment(make_person(), collection, "q1", docid, grade)


def by_adjudication(collection, docid, grade):
    judge, _ = Judge.objects.get_or_create(kind="adjudication", name="lead")
    make_judgment(judge, collection, "q1", docid, grade)


def by_llm(collection, docid, grade, judge=None, **fields):
    judge = judge or Judge.objects.filter(kind="llm").first() or make_llm("phi")
    make_judgment(judge, collection, "q1", docid, grade, **fields)
    return judge


def merged(collection, **policy):
    result = merge(collection=collection, policy=Policy(**policy) if policy else None)
    return {row.document: (row.grade, row.source) for row in result.grades}


def test_original_qrels_are_never_changed(collection):
    by_people(collection, "d1", 3, 3, 3)
    by_adjudication(collection, "d1", 2)
    llm = by_llm(collection, "d1", 1)
    assert merged(collection, llm=(llm,)) == {"d1": (0, "qrels")}


def test_an_adjudication_goes_before_the_people_and_they_before_duplicates_and_these_before_the_llm():
    collection = make_collection(documents=texts(d1="same", d2="same", d3="same", d4="same"), scale=default_scale(3))
    make_judgment(
        Judge.objects.create(kind="qrels", name="qrels/test", collection=collection), collection, "q1", "d1", 2
    )
    by_people(collection, "d2", 2, 2, 1)
    by_people(collection, "d3", 0)
    by_adjudication(collection, "d3", 2)
    llm = by_llm(collection, "d2", 0)
    for docid in ("d3", "d4", "d5"):
        by_llm(collection, docid, 0)
    assert merged(collection, llm=(llm,)) == {
        "d1": (2, "qrels"),
        "d2": (2, "people:2/3"),
        "d3": (2, "adjudicated"),
        "d4": (2, "duplicate:d1"),
        "d5": (0, f"llm:{llm.label}"),
    }


def test_llm_grades_enter_only_when_asked_for(collection):
    by_llm(collection, "d2", 3)
    assert merged(collection) == {"d1": (0, "qrels")}


def test_of_several_llms_the_first_named_goes_first_and_its_fingerprint_is_in_the_source(collection):
    one, other = make_llm("phi"), make_llm("phi")
    by_llm(collection, "d2", 1, one)
    by_llm(collection, "d2", 2, other)
    by_llm(collection, "d3", 3, other)
    assert merged(collection, llm=(other, one))["d2"] == (2, f"llm:phi · {other.fingerprint[:8]}")
    assert merged(collection, llm=(one, other)) == {
        "d1": (0, "qrels"),
        "d2": (1, f"llm:{one.label}"),
        "d3": (3, f"llm:{other.label}"),
    }


@pytest.mark.parametrize("outcome", ["unparsed", "failed", "out_of_scale"])
def test_an_llm_answer_without_a_grade_is_no_judgment(collection, outcome):
    llm = by_llm(collection, "d2", None, outcome=outcome)
    assert "d2" not in merged(collection, llm=(llm,))


def test_a_tie_is_left_out_and_listed_and_no_llm_or_duplicate_fills_it():
    collection = make_collection(documents=texts(d2="same", d3="same"), qrels={("q1", "d3"): 1})
    by_people(collection, "d2", 0, 1)
    llm = by_llm(collection, "d2", 1)
    result = merge(collection=collection, policy=Policy(llm=(llm,)))
    assert [row.document for row in result.grades] == ["d3"]
    assert result.unresolved == [("q1", "d2", (0, 1))]


def test_a_tie_on_an_originally_judged_pair_needs_no_resolving(collection):
    by_people(collection, "d1", 1, 2)
    assert merge(collection=collection).unresolved == []


def test_a_pair_that_nobody_could_judge_is_not_graded(collection):
    by_people(collection, "d2", None)
    result = merge(collection=collection)
    assert "d2" not in merged(collection)
    assert result.unresolved == []


@pytest.mark.parametrize("by", ["qrels", "people"])
def test_a_grade_is_copied_to_every_exact_duplicate_unless_switched_off(by):
    collection = make_collection(
        documents=texts(d4="same", d5=" same\n", d6="same"),
        qrels={("q1", "d1"): 1} | ({("q1", "d5"): 1} if by == "qrels" else {}),
    )
    if by == "people":
        by_people(collection, "d5", 1)
    source = "qrels" if by == "qrels" else "people:1/1"
    copies = {"d4": (1, "duplicate:d5"), "d6": (1, "duplicate:d5")}
    assert merged(collection) == {"d1": (1, "qrels"), "d5": (1, source)} | copies
    assert merged(collection, duplicates=False) == {"d1": (1, "qrels"), "d5": (1, source)}


def test_where_the_copies_of_a_text_were_graded_differently_nothing_is_copied():
    collection = make_collection(
        documents=texts(d1="same", d2="same", d3="same"), qrels={("q1", "d1"): 1, ("q1", "d2"): 0}
    )
    assert merged(collection) == {"d1": (1, "qrels"), "d2": (0, "qrels")}


def test_a_copy_is_made_for_the_same_query_only():
    collection = make_collection(
        documents=texts(d1="same", d2="same"), queries=["q1", "q2"], qrels={("q1", "d1"): 1, ("q2", "d3"): 1}
    )
    rows = merge(collection=collection).grades
    assert [(row.query, row.document, row.source) for row in rows] == [
        ("q1", "d1", "qrels"),
        ("q1", "d2", "duplicate:d1"),
        ("q2", "d3", "qrels"),
    ]


def test_empty_documents_and_those_without_text_are_no_duplicates_of_each_other():
    collection = make_collection(documents={"d1": "", "d2": " "}, qrels={("q1", "d1"): 1})
    gone = make_document(collection, "gone", "text")
    make_document(collection, "kept", "text")
    make_judgment(collection.qrels.get(), collection, "q1", "gone", 1)
    type(gone).objects.filter(pk=gone.pk).update(in_corpus=False)
    assert merged(collection) == {"d1": (1, "qrels"), "gone": (1, "qrels")}


def test_other_collections_with_the_same_texts_and_ids_stay_out(collection):
    other = make_collection(documents=texts(d2="text 1"), qrels={("q1", "d3"): 1})
    by_people(other, "d4", 1)
    assert merged(collection) == {"d1": (0, "qrels")}


def test_rows_come_in_the_order_of_code_points_with_ids_as_they_came_in():
    ids = ["nike", "Nike", "0042", "42", "é", "a b"]
    collection = make_collection(
        documents=ids, queries=["q10", "q9"], qrels={(query, d): 1 for d in ids for query in ("q9", "q10")}
    )
    rows = [(row.query, row.document) for row in merge(collection=collection).grades]
    assert rows == [(query, d) for query in ("q10", "q9") for d in ["0042", "42", "Nike", "a b", "nike", "é"]]


def test_the_counts_say_how_often_each_source_gave_each_grade():
    collection = make_collection(
        documents=texts(d5="same", d6="same"), qrels={("q1", "d1"): 0, ("q1", "d2"): 1, ("q1", "d5"): -1}
    )
    by_people(collection, "d3", 1, 1)
    by_people(collection, "d4", 0)
    assert merge(collection=collection).counts == {
        "qrels": {0: 1, 1: 1, -1: 1},
        "people": {1: 1, 0: 1},
        "duplicate": {-1: 1},
    }


@pytest.mark.parametrize(
    ("source", "kind"),
    [("qrels", "qrels"), ("people:2/3", "people"), ("llm:a: b", "llm"), ("duplicate:x:y", "duplicate")],
)
def test_the_kind_of_a_source_is_its_first_word(source, kind):
    assert MergedGrade("q", "d", 1, source).kind == kind


def test_the_policy_is_told_in_the_order_in_which_it_is_applied():
    llm = make_llm("phi")
    assert Policy(llm=(llm,)).as_json() == {
        "order": ["qrels", "adjudicated", "people", "duplicates", "llm"],
        "llm": [llm.label],
        "people_tie": "left out and listed",
    }
    assert Policy(duplicates=False).as_json()["order"] == ["qrels", "adjudicated", "people"]


def test_the_llms_of_a_collection_are_those_that_judged_something_of_it(collection):
    one, other = make_llm("a"), make_llm("b")
    for docid in ("d2", "d3"):
        by_llm(collection, docid, 1, one)
    by_llm(make_collection(documents=texts()), "d2", 1, other)
    assert llm_judges_of(collection) == [one]


def test_the_number_of_queries_does_not_grow_with_the_judgments(collection, django_assert_num_queries):
    llm = by_llm(collection, "d2", 1)
    by_people(collection, "d3", 1)
    with django_assert_num_queries(6):
        merge(collection=collection, policy=Policy(llm=(llm,)))
    by_people(collection, "d4", 1, 0)
    by_llm(collection, "d5", 1)
    with django_assert_num_queries(6):
        merge(collection=collection, policy=Policy(llm=(llm,)))
