"""What a judge says is stored with its history, in one transaction."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from judging.models import Judgment, JudgmentEvent
from judging.steps.judgments import Said, said_before, say, say_all
from tests.factories import make_collection, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def tell():
    collection, person = make_collection(), make_person()
    query, document = collection.queries.get(), collection.documents.get(docid="d1")
    return lambda *args, **fields: say(
        judge=person, query_id=query.pk, document_id=document.pk, said=Said(*args, **fields)
    )


def test_a_second_answer_takes_the_place_of_the_first_and_the_history_has_both(tell):
    first = tell("graded", 1, comment="sure", seconds=2.0, assisted=True)
    second = tell("graded", 0)
    assert first.pk == second.pk
    assert (second.grade, second.comment, second.seconds, second.assisted) == (0, "", None, False)
    assert second.updated_at > first.updated_at
    history = second.events.values_list("outcome", "grade", "comment", "seconds", "assisted")
    assert list(history) == [("graded", 1, "sure", 2.0, True), ("graded", 0, "", None, False)]


def test_an_answer_without_a_grade_takes_the_earlier_grade_away(tell):
    tell("graded", 1)
    assert tell("cannot_judge", 1).grade is None
    assert Judgment.objects.get().grade is None


def test_a_key_finds_what_was_stored_with_it(tell):
    key = uuid4()
    assert said_before(key) is None
    judgment = tell("graded", 1, key=key)
    assert said_before(key) == judgment


def test_the_same_key_twice_stores_neither_a_judgment_nor_an_event(tell):
    key = uuid4()
    tell("graded", 1, key=key)
    with pytest.raises(IntegrityError), transaction.atomic():
        tell("graded", 0, key=key)
    assert (Judgment.objects.get().grade, JudgmentEvent.objects.count()) == (1, 1)


def test_graded_without_a_grade_is_refused_by_the_database(tell):
    with pytest.raises(IntegrityError), transaction.atomic():
        tell("graded")
    assert not Judgment.objects.exists()


def test_many_answers_are_stored_at_once_and_only_what_is_new_or_changed_is_written():
    collection, person = make_collection(), make_person()
    query = collection.queries.get()
    keys = {row.docid: (query.pk, row.pk) for row in collection.documents.all()}
    first = {keys["d1"]: Said("graded", 1), keys["d2"]: Said("failed", raw="timeout")}
    assert say_all(judge=person, said=first) == 2
    kept = Judgment.objects.get(document=keys["d1"][1])

    second = first | {keys["d2"]: Said("graded", 0), keys["d3"]: Said("graded", 1, probabilities={"1": 0.5})}
    assert say_all(judge=person, said=second) == 2
    assert say_all(judge=person, said=second) == 0

    rows = Judgment.objects.order_by("document").values_list("outcome", "grade", "raw", "probabilities")
    assert list(rows) == [("graded", 1, "", None), ("graded", 0, "", None), ("graded", 1, "", {"1": 0.5})]
    assert Judgment.objects.get(document=keys["d1"][1]).updated_at == kept.updated_at
    assert [event.outcome for event in JudgmentEvent.objects.filter(judgment__document=keys["d2"][1])] == [
        "failed",
        "graded",
    ]


def test_another_answer_brings_its_own_count_of_tokens():
    collection, person = make_collection(), make_person()
    pair = {"query_id": collection.queries.get().pk, "document_id": collection.documents.first().pk}
    say(judge=person, said=Said("graded", 1, prompt_tokens=90, completion_tokens=4), **pair)
    say(judge=person, said=Said("graded", 0, prompt_tokens=70), **pair)
    row = Judgment.objects.get()
    assert (row.prompt_tokens, row.completion_tokens) == (70, None)
