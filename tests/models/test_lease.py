"""Claiming: one conditional UPDATE a row, and its row count decides."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from judging.models import Assignment, LeaseState, PrefillTask
from tests.factories import make_collection, make_llm, make_person, make_pool

pytestmark = pytest.mark.django_db

LEASE = timedelta(minutes=15)


def make_tasks(count, judge=None):
    """So many free tasks, in the order of their primary keys."""
    collection = make_collection(documents=[f"d{n:03}" for n in range(count)])
    judge = judge or make_llm()
    pairs = make_pool(collection, depth=count, name=f"pool {collection.slug}").pairs.all()
    PrefillTask.objects.bulk_create([PrefillTask(judge=judge, pair=pair) for pair in pairs])
    return PrefillTask.objects.filter(judge=judge).order_by("pk")


def keys(tasks):
    return list(tasks.values_list("pk", flat=True))


def test_rows_are_handed_out_in_the_order_of_the_query_set():
    tasks = make_tasks(5)
    assert tasks.order_by("-pk").claim(lease=LEASE, limit=2) == keys(tasks)[:2:-1]


def test_all_are_handed_out_without_a_limit():
    tasks = make_tasks(5)
    assert tasks.claim(lease=LEASE) == keys(tasks)


def test_the_holder_is_written_with_the_lease():
    before = timezone.now()
    (pk,) = make_tasks(1).claim(lease=LEASE, limit=1, worker="host:1")
    task = PrefillTask.objects.get(pk=pk)
    assert (task.state, task.worker) == (LeaseState.LEASED, "host:1")
    assert before + LEASE <= task.leased_until <= timezone.now() + LEASE


def test_what_is_held_or_done_is_not_handed_out():
    tasks = make_tasks(3)
    held, done, free = keys(tasks)
    PrefillTask.objects.filter(pk=held).update(state="leased", leased_until=timezone.now() + LEASE)
    PrefillTask.objects.filter(pk=done).update(state="done")
    assert tasks.claim(lease=LEASE) == [free]


def test_an_expired_lease_counts_as_free():
    tasks = make_tasks(2)
    tasks.claim(lease=-timedelta(seconds=1), worker="killed")
    assert tasks.claim(lease=LEASE, worker="next") == keys(tasks)
    assert set(tasks.values_list("worker", flat=True)) == {"next"}


@contextmanager
def taken_by_another_after_the_look(pks):
    """Others lease these rows at the moment between the claimant's SELECT and its first UPDATE."""
    waiting = [pks]

    def before_the_update(execute, sql, params, many, context):
        if sql.startswith("UPDATE") and waiting:
            taken = PrefillTask.objects.filter(pk__in=waiting.pop())
            taken.update(state="leased", leased_until=timezone.now() + LEASE, worker="other")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(before_the_update):
        yield
    assert not waiting


def test_a_row_that_another_took_after_the_look_is_not_got():
    tasks = make_tasks(3)
    first, second, third = keys(tasks)
    with taken_by_another_after_the_look([first]):
        assert tasks.claim(lease=LEASE, limit=2, worker="me") == [second, third]
    assert PrefillTask.objects.get(pk=first).worker == "other"


def test_a_claimant_who_comes_late_to_all_it_saw_looks_again():
    tasks = make_tasks(6)
    with taken_by_another_after_the_look(keys(tasks)[:4]):
        assert tasks.claim(lease=LEASE, limit=2, worker="me") == keys(tasks)[4:]


def test_a_row_that_a_constraint_forbids_to_the_holder_is_passed_over():
    person, other = make_person(), make_person()
    collection = make_collection(documents=["d1", "d2"])
    pool = make_pool(collection, depth=2, people=2)
    first, second = pool.pairs.all()
    slots = Assignment.objects.filter(pair__pool=pool).order_by("pair", "slot")
    mine, free, *_ = slots.filter(pair=first)
    Assignment.objects.filter(pk=mine.pk).update(state="leased", annotator=person, leased_until=timezone.now() + LEASE)
    (got,) = slots.claim(lease=LEASE, limit=1, annotator=person)
    assert Assignment.objects.get(pk=got).pair == second
    assert slots.claim(lease=LEASE, limit=1, annotator=other) == [free.pk]


def test_claims_go_on_past_any_number_of_forbidden_rows():
    person = make_person()
    pool = make_pool(make_collection(documents=[f"d{n}" for n in range(6)]), depth=6, people=2)
    first_slots = Assignment.objects.filter(pair__pool=pool, slot=1)
    until = timezone.now() + LEASE
    last = pool.pairs.last()
    first_slots.exclude(pair=last).update(state="leased", annotator=person, leased_until=until)
    slots = Assignment.objects.filter(pair__pool=pool).order_by("pair", "slot")
    (got,) = slots.claim(lease=LEASE, limit=1, annotator=person)
    assert Assignment.objects.get(pk=got).pair == last


def test_a_refused_row_does_not_spoil_the_transaction_around_the_claim():
    person = make_person()
    pool = make_pool(make_collection(documents=["d1"]), depth=1, people=3)
    with transaction.atomic():
        claimed = Assignment.objects.filter(pair__pool=pool).order_by("slot").claim(lease=LEASE, annotator=person)
        assert len(claimed) == 1
    assert Assignment.objects.filter(annotator=person).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [1, 5, None])
def test_claimants_at_the_same_moment_get_every_row_exactly_once(limit):
    tasks = make_tasks(40)
    names = [f"worker {n}" for n in range(4)]
    got: dict[str, list[int]] = {name: [] for name in names}
    start = threading.Barrier(len(names))

    def work(name):
        try:
            start.wait(timeout=10)
            while claimed := tasks.all().claim(lease=LEASE, limit=limit, worker=name):
                got[name] += claimed
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert Counter(pk for claimed in got.values() for pk in claimed) == Counter(keys(tasks))
    assert dict(tasks.values_list("pk", "worker")) == {pk: name for name in names for pk in got[name]}


@pytest.mark.django_db(transaction=True)
def test_people_at_the_same_moment_never_exceed_the_wanted_overlap():
    pool = make_pool(make_collection(documents=[f"d{n}" for n in range(8)]), depth=8, people=2)
    people = [make_person() for _ in range(4)]
    slots = Assignment.objects.filter(pair__pool=pool).order_by("pair", "slot")
    start = threading.Barrier(len(people))

    def work(person):
        try:
            start.wait(timeout=10)
            slots.all().claim(lease=LEASE, annotator=person)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    holders = Counter(slots.values_list("pair", "annotator"))
    assert len(holders) == 16
    assert set(holders.values()) == {1}
    assert None not in {annotator for _, annotator in holders}
