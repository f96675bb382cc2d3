"""Rows by the million: streamed, complete with their defaults, all or nothing."""

from __future__ import annotations

import tracemalloc

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from judging.models import Collection, Document, Hit, Judgment, PrefillTask, Run
from judging.models.bulk import insert_rows
from tests.factories import make_collection, make_judgment, make_llm, make_pool

pytestmark = pytest.mark.django_db

FIELDS = ("collection_id", "docid", "title", "text", "digest")


@pytest.fixture
def collection():
    return make_collection(documents=[])


def rows(collection, *docids):
    return ((collection.pk, docid, "a title", "a text", b"\x00\xff" * 8) for docid in docids)


def test_it_says_how_many_rows_it_took(collection):
    assert insert_rows(Document, FIELDS, rows(collection, "d1", "d2")) == 2
    assert insert_rows(Document, FIELDS, rows(collection)) == 0
    assert set(collection.documents.values_list("docid", flat=True)) == {"d1", "d2"}


def test_fields_that_are_not_named_get_their_default(collection):
    insert_rows(Document, ("collection_id", "docid", "digest"), [(collection.pk, "d1", b"")])
    document = collection.documents.get()
    assert (document.title, document.text, document.metadata) == ("", "", {})
    assert (document.is_empty, document.in_corpus) == (False, True)


def test_what_the_database_fills_in_it_fills_in(collection):
    before = timezone.now()
    insert_rows(Run, ("collection_id", "name", "kind"), [(collection.pk, "r", "imported")])
    created = Run.objects.get().created_at
    assert abs((created - before).total_seconds()) < 60


def test_it_gives_what_saving_each_row_would_give(collection):
    insert_rows(Document, FIELDS, rows(collection, "bulk"))
    (_, docid, title, text, digest) = next(rows(collection, "saved"))
    Document.objects.create(collection=collection, docid=docid, title=title, text=text, digest=digest)
    bulk, saved = (
        Document.objects.filter(docid=docid).values("title", "text", "metadata", "is_empty", "in_corpus").get()
        for docid in ("bulk", "saved")
    )
    assert bulk == saved


def test_bytes_come_back_as_they_were(collection):
    insert_rows(Document, FIELDS, rows(collection, "d1"))
    assert bytes(collection.documents.get().digest) == b"\x00\xff" * 8


@pytest.mark.parametrize(
    "text", ["tab\there", "line\nbreak\r\n", "back\\slash \\N \\.", "\u2028\u0085\f", "𝄞 “quoted” 'text' %s ?", "\\N"]
)
def test_text_comes_back_as_it_was(collection, text):
    insert_rows(Document, FIELDS, [(collection.pk, text, text, text, b"")])
    document = collection.documents.get()
    assert (document.docid, document.title, document.text) == (text, text, text)


@pytest.mark.parametrize("value", [{}, {"a": [1, None, {"b": "c\nd"}]}, {"quote": '"\\'}, {"1": 0.25}])
def test_json_comes_back_as_it_was(collection, value):
    insert_rows(Document, (*FIELDS, "metadata"), [(collection.pk, "d1", "", "", b"", value)])
    assert collection.documents.get().metadata == value


def test_none_is_null_and_can_be_asked_for(collection):
    collection = make_collection()
    query, document, judge = collection.queries.get(), collection.documents.first(), make_llm()
    insert_rows(
        Judgment,
        ("judge_id", "query_id", "document_id", "outcome", "grade", "probabilities"),
        [(judge.pk, query.pk, document.pk, "unparsed", None, None)],
    )
    assert Judgment.objects.filter(grade__isnull=True, probabilities__isnull=True).count() == 1


def test_times_and_choices_are_taken_as_django_takes_them():
    pool = make_pool(make_collection(documents=["d1"]))
    until = timezone.now()
    insert_rows(
        PrefillTask,
        ("judge_id", "pair_id", "state", "leased_until"),
        [(make_llm().pk, pool.pairs.get().pk, "leased", until)],
    )
    assert PrefillTask.objects.get().leased_until == until


def test_a_float_keeps_every_digit():
    collection = make_collection(documents=["d1"])
    run = Run.objects.create(collection=collection, name="r", kind="imported")
    score = 0.1 + 0.2
    insert_rows(
        Hit,
        ("run_id", "query_id", "document_id", "rank", "score"),
        [(run.pk, collection.queries.get().pk, collection.documents.get().pk, 1, score)],
    )
    assert Hit.objects.get().score == score


def test_a_broken_constraint_is_djangos_error_and_leaves_nothing(collection):
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(Document, FIELDS, rows(collection, "d1", "d2", "d1"))
    assert collection.documents.count() == 0


def test_a_check_constraint_holds(collection):
    collection = make_collection(documents=["d1"])
    query, document = collection.queries.get(), collection.documents.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(
            Judgment,
            ("judge_id", "query_id", "document_id", "outcome", "grade"),
            [(make_llm().pk, query.pk, document.pk, "failed", 0)],
        )


def test_a_missing_value_is_refused(collection):
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(Document, FIELDS, [(collection.pk, None, "", "", b"")])


@pytest.mark.django_db(transaction=True)
def test_a_key_that_leads_nowhere_is_refused():
    with pytest.raises(IntegrityError):
        insert_rows(Document, FIELDS, [(999, "d1", "", "", b"")])
    assert Document.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_generator_that_fails_leaves_nothing_and_its_error_is_its_own():
    collection = make_collection(documents=[])

    def failing():
        yield from rows(collection, "d1", "d2")
        raise LookupError("line 3")

    with pytest.raises(LookupError, match="line 3"):
        insert_rows(Document, FIELDS, failing())
    assert Document.objects.count() == 0
    assert insert_rows(Document, FIELDS, rows(collection, "d1")) == 1


def test_a_row_of_another_length_is_refused(collection):
    with pytest.raises(ValueError, match="expected rows of 5 values, found one of 2"):
        insert_rows(Document, FIELDS, [(collection.pk, "d1")])


def test_an_unknown_field_is_refused(collection):
    with pytest.raises(KeyError, match="colour"):
        insert_rows(Document, ("colour",), [])


def test_a_text_that_does_not_fit_its_column_is_djangos_error(collection):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite keeps texts of any length")
    with pytest.raises(DataError), transaction.atomic():
        insert_rows(Document, FIELDS, rows(collection, "d" * 513))


def test_rows_are_taken_one_by_one(collection):
    def many():
        for number in range(3_000):
            yield collection.pk, f"d{number}", "", f"{number}" * 2_000, b""

    tracemalloc.start()
    try:
        insert_rows(Document, FIELDS, many())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert collection.documents.count() == 3_000
    assert peak < 4_000_000, "all rows together are some 20 MB"


def test_it_leaves_other_tables_alone(collection):
    make_judgment(make_llm(), make_collection(), "q1", "d1", 1)
    insert_rows(Document, FIELDS, rows(collection, "d1"))
    assert (Judgment.objects.count(), Collection.objects.count()) == (1, 2)
