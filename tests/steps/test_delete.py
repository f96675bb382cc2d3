"""A pool or a collection goes with all that hangs on it, and nothing else does."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.conf import settings

from judging.models import (
    Assignment,
    Collection,
    Judge,
    Judgment,
    JudgmentEvent,
    Pair,
    Pool,
    PrefillTask,
    Probe,
    Run,
    Skip,
)
from judging.steps import people, serve
from judging.steps.delete import collection_contents, delete_collection, delete_pool, pool_contents
from judging.steps.judgments import Said
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db

KEPT = {"judge", "judgment", "judgmentevent"}


def everything() -> dict[str, int]:
    return {
        model._meta.model_name: model._base_manager.count()
        for model in apps.get_app_config("judging").get_models(include_auto_created=True)
    }


def make_full(slug: str) -> Pool:
    """A collection with a row of every kind, as far as one pool makes them."""
    collection = make_collection(slug, documents=["d1", "d2", "d3"], qrels={("q1", "d3"): 1})
    parent = make_run(collection, {"q1": ["d1", "d2", "d3"]})
    Run.objects.create(collection=collection, name="reranked", kind=Run.Kind.RERANKED, parent=parent)
    pool = make_pool(collection, parent, name=slug)
    person = make_person(f"{slug}-ann")
    people.add(pool=pool, name=person.name)
    people.invite(pool=pool, days=1, seats=1)
    pair = serve.next_pair(pool=pool, annotator=person)
    serve.answer(pair=pair, annotator=person, said=Said("graded", 1))
    serve.skip(pair=serve.next_pair(pool=pool, annotator=person), annotator=person)
    Probe.objects.create(pair=pair, annotator=person, after=1)
    llm = make_llm(f"{slug}-llm")
    make_judgment(llm, collection, "q1", "d1", 0)
    PrefillTask.objects.create(judge=llm, pair=pair)
    return pool


def test_deleting_a_collection_leaves_another_and_all_its_rows_as_they_were():
    make_full("stays")
    before = everything()
    pool = make_full("goes")
    people_and_llms = Judge.objects.exclude(kind="qrels").count()
    delete_collection(collection=pool.collection)
    after = everything()
    assert after.pop("judge") == before.pop("judge") + 2
    assert after == before
    assert Judge.objects.exclude(kind="qrels").count() == people_and_llms
    assert not Collection.objects.filter(slug="goes").exists()


def test_deleting_a_pool_keeps_what_anybody_said():
    pool = make_full("goes")
    before = everything()
    delete_pool(pool=pool)
    after = everything()
    assert (Pair.objects.count(), Skip.objects.count(), Pool.objects.count()) == (0, 0, 0)
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
    assert JudgmentEvent.objects.count() == 1
    assert Judgment.objects.by_people().get().grade == 1
    assert (Run.objects.count(), Collection.objects.count()) == (2, 1)


def test_what_was_said_fills_the_slots_of_a_pool_that_is_opened_anew():
    pool = make_full("again")
    delete_pool(pool=pool)
    again = make_pool(pool.collection, pool.collection.runs.get(name="bm25"), name="again")
    assert Assignment.objects.get(pair__pool=again, state="done").annotator.name == "again-ann"


def test_what_would_go_is_counted():
    pool = make_full("goes")
    goes, stays = pool_contents(pool)
    assert goes == {"pairs": 2, "pre-fill tasks": 1, "invitations": 1}
    assert stays == {"judgments of people": 1, "judgments of LLMs": 1, "adjudications": 0}
    contents = collection_contents(pool.collection)
    assert contents == {
        "documents": 3,
        "queries": 1,
        "runs": 2,
        "hits": 3,
        "pools": 1,
        "pairs": 2,
        "original judgments": 1,
        "judgments of people": 1,
        "judgments of LLMs": 1,
        "adjudications": 0,
    }


def test_the_embedded_index_goes_with_its_collection():
    pool = make_full("goes")
    for slug in ("goes", "other"):
        (settings.INDEX_DIR / slug).mkdir(parents=True)
    delete_collection(collection=pool.collection)
    assert [folder.name for folder in settings.INDEX_DIR.iterdir()] == ["other"]


def test_djangos_own_delete_takes_reranked_runs_with_their_parents():
    pool = make_full("goes")
    pool.collection.delete()
    assert not Run.objects.exists()


def test_deleting_takes_the_same_number_of_statements_whatever_the_size(django_assert_max_num_queries):
    small = make_full("small")
    big = make_collection("big", documents=[f"d{n}" for n in range(60)], queries=[f"q{n}" for n in range(4)])
    make_pool(big, name="big", depth=50)
    with django_assert_max_num_queries(60) as of_small:
        delete_collection(collection=small.collection)
    with django_assert_max_num_queries(60) as of_big:
        delete_collection(collection=big)
    assert len(of_small) == len(of_big)
