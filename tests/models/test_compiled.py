"""A compiled query gives what its query set would, with other values each time."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from judging.models import Assignment, Document, Judgment, JudgmentEvent, Pair
from judging.models.compiled import Compiled, CompiledUpdate
from judging.models.compiled_insert import CompiledInsert
from tests.factories import make_collection, make_judgment, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    collection = make_collection(documents=["d1", "d2", "d3"], queries=["q1", "q2"])
    return make_pool(collection, make_run(collection, {"q1": ["d1", "d2"], "q2": ["d3"]}), people=2)


def pairs_of(query):
    return Pair.objects.filter(query=query).select_related("query", "document", "pool__collection")


def test_rows_are_the_objects_of_the_query_set_with_what_they_are_related_to(pool, django_assert_num_queries):
    compiled = Compiled(pairs_of)
    for query in pool.collection.queries.all():
        expected = list(pairs_of(query.pk))
        with django_assert_num_queries(1):
            found = compiled.all(query=query.pk)
            texts = [(pair.query.text, pair.document.text, pair.pool.collection.scale) for pair in found]
        assert found == expected
        assert [vars(pair.document) | {"_state": 0} for pair in found] == [
            vars(pair.document) | {"_state": 0} for pair in expected
        ]
        assert texts == [(pair.query.text, pair.document.text, pair.pool.collection.scale) for pair in expected]


def test_values_of_every_kind_come_as_python_knows_them(pool):
    judgment = make_judgment(make_person(), pool.collection, "q1", "d1", 1, probabilities={"0": 0.25, "1": 0.75})
    judgment = Judgment.objects.get(pk=judgment.pk)
    found = Compiled(lambda pk: Judgment.objects.filter(pk=pk)).first(pk=judgment.pk)
    assert {**vars(found), "_state": 0} == {**vars(judgment), "_state": 0}


def test_an_object_that_is_not_there_is_none(pool):
    found = Compiled(lambda pk: Assignment.objects.filter(pk=pk).select_related("annotator"))
    assert found.first(pk=Assignment.objects.earliest("pk").pk).annotator is None
    assert found.first(pk=0) is None
    assert found.all(pk=0) == []


def test_annotations_come_along(pool):
    judge = make_person()
    make_judgment(judge, pool.collection, "q1", "d1", 1)

    def documents(judge, least):
        own = Judgment.objects.filter(judge=judge, document=OuterRef("pk"))
        return (
            Document.objects.annotate(judged=Exists(own), size=Count("pairs")).filter(size__gte=least).order_by("docid")
        )

    found = Compiled(documents).all(judge=judge.pk, least=1)
    assert [(row.docid, row.judged, row.size) for row in found] == [("d1", True, 1), ("d2", False, 1), ("d3", False, 1)]


def test_tuples_come_as_from_values_list(pool):
    compiled = Compiled(
        lambda pool: (
            Assignment.objects.filter(pair__pool=pool)
            .order_by()
            .values("pair__query__qid")
            .annotate(free=Count("pk", filter=Q(state="free")))
            .values_list("pair__query__qid", "free")
        )
    )
    assert sorted(compiled.all(pool=pool.pk)) == [("q1", 4), ("q2", 2)]


def test_values_that_meet_by_chance_are_told_apart(pool):
    compiled = Compiled(lambda low, high: Pair.objects.filter(pk__gte=low, pk__lte=high).order_by("pk"))
    first, second, third = Pair.objects.order_by("pk").values_list("pk", flat=True)
    assert [pair.pk for pair in compiled.all(low=first, high=second)] == [first, second]
    assert [pair.pk for pair in compiled.all(low=third, high=third)] == [third]
    assert compiled.all(low=third, high=first) == []
    assert [pair.pk for pair in compiled.all(high=second, low=second)] == [second]


def test_the_same_query_runs_on_the_connection_of_each_thread(pool):
    compiled = Compiled(lambda pk: Pair.objects.filter(pk=pk))
    assert compiled.first(pk=pool.pairs.first().pk)
    found: list[object] = []

    def look():
        try:
            found.append(compiled.first(pk=0))
        finally:
            connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [None]


def test_it_is_built_once_and_planned_once(pool):
    built: list[int] = []

    def pairs(pk):
        built.append(pk)
        return Pair.objects.filter(pk=pk)

    compiled = Compiled(pairs)
    for pk in range(20):
        compiled.first(pk=pk)
    assert len(built) == 2
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", ['%"judging_pair"%'])
            assert cursor.fetchone() == (1,)


@pytest.mark.parametrize(
    "build",
    [
        lambda pk, other: Pair.objects.filter(pk=pk),
        lambda pk: Pair.objects.all()[: pk + 1],
        lambda pk: Pair.objects.filter(pk=pk + 5),
    ],
    ids=["unused", "written into the SQL", "reckoned with"],
)
def test_what_does_not_pass_its_values_on_is_refused(build):
    with pytest.raises(TypeError, match="as values that are passed to the database"):
        Compiled(build).all(pk=1, other=1)


def test_texts_and_times_are_told_by_their_kind(pool):
    noon = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
    person = make_person()
    Assignment.objects.filter(slot=1).update(state="leased", annotator=person, leased_until=noon)

    def leases(qid, until):
        return Assignment.objects.filter(pair__query__qid=qid, leased_until__gte=until).order_by("pk")

    compiled = Compiled(leases, qid=str, until=datetime)
    for qid in ("q1", "q2", "q3"):
        for until in (noon, noon + timedelta(microseconds=1), noon - timedelta(days=1)):
            assert compiled.all(qid=qid, until=until) == list(leases(qid, until))
    assert len(compiled.all(qid="q1", until=noon)) == 2


def test_an_update_changes_the_rows_that_it_names_and_counts_them(pool, django_assert_num_queries):
    person, until = make_person(), datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
    lease = CompiledUpdate(
        lambda pair, annotator, until: (
            Assignment.objects.filter(pair=pair, slot=1, state="free"),
            {"state": "leased", "annotator": annotator, "leased_until": until},
        ),
        until=datetime,
    )
    pair, other = pool.pairs.values_list("pk", flat=True)[:2]
    values = {"pair": pair, "annotator": person.pk, "until": until}
    assert [lease.run(**values), lease.run(**values)] == [1, 0]
    leased = Assignment.objects.get(state="leased")
    assert (leased.pair_id, leased.annotator, leased.leased_until) == (pair, person, until)
    with django_assert_num_queries(1):
        assert lease.run(**values | {"pair": other}) == 1


def said(judge, pool, **values):
    query, document = pool.pairs.values_list("query", "document").first()
    return Judgment(judge=judge, query_id=query, document_id=document, updated_at=timezone.now(), **values)


def test_a_row_is_inserted_as_create_would(pool, django_assert_num_queries):
    insert = CompiledInsert(Judgment, unique=("judge", "query", "document"), replaced=("grade", "updated_at"))
    values = {"outcome": "graded", "grade": 1, "probabilities": {"0": 0.25}, "comment": "é", "seconds": 1.5}
    made = said(make_person(), pool, **values)
    with django_assert_num_queries(1):
        assert insert.store(made) is made
    row = Judgment.objects.get(pk=made.pk)
    fields = [field.attname for field in Judgment._meta.concrete_fields]
    assert [getattr(made, name) for name in fields] == [getattr(row, name) for name in fields]
    assert {name: getattr(row, name) for name in values} == values
    assert abs(row.created_at - timezone.now()) < timedelta(minutes=1)
    assert not made._state.adding


def test_in_place_of_a_row_that_is_alike_only_what_is_named_changes(pool):
    insert = CompiledInsert(Judgment, unique=("judge", "query", "document"), replaced=("grade", "updated_at"))
    judge = make_person()
    first = insert.store(said(judge, pool, outcome="graded", grade=1, comment="first"))
    again = insert.store(said(judge, pool, outcome="graded", grade=0, comment="again"))
    assert again.pk == first.pk
    assert again.created_at == first.created_at
    (row,) = Judgment.objects.all()
    assert (row.grade, row.comment) == (0, "first")


def test_a_row_that_the_database_refuses_is_refused(pool):
    insert = CompiledInsert(JudgmentEvent)
    judgment = make_judgment(make_person(), pool.collection, "q1", "d1", 1)
    key = uuid4()
    insert.store(JudgmentEvent(judgment=judgment, key=key, outcome="graded", grade=1))
    with pytest.raises(IntegrityError), transaction.atomic():
        insert.store(JudgmentEvent(judgment=judgment, key=key, outcome="graded", grade=1))
    with pytest.raises(IntegrityError), transaction.atomic():
        insert.store(JudgmentEvent(judgment=judgment, key=uuid4(), outcome="graded", grade=None))
    assert JudgmentEvent.objects.filter(key=key).count() == 1
