"""What the database itself refuses, whoever writes to it. Every constraint of the models has a row here."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from judging.models import (
    Assignment,
    Document,
    GullibilityProbe,
    Hit,
    Invitation,
    Judge,
    Judgment,
    JudgmentEvent,
    Pair,
    Pool,
    PrefillJob,
    PrefillTask,
    Probe,
    Query,
    Run,
    Skip,
    TrainingAnswer,
    TrainingPair,
)
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db


class World:
    """One valid row of each kind, to be written a second time or otherwise."""

    def __init__(self) -> None:
        self.collection = make_collection(documents=["d1", "d2"], queries=["q1"], qrels={("q1", "d2"): 1})
        self.document = self.collection.documents.get(docid="d1")
        self.query = self.collection.queries.get()
        self.run = make_run(self.collection, {"q1": ["d1"]})
        self.pool = make_pool(self.collection, self.run)
        self.pair = self.pool.pairs.get()
        self.person = make_person("ada")
        self.llm = make_llm()
        self.judgment = make_judgment(self.person, self.collection, "q1", "d1", 1)

    def new_run(self, **fields: object) -> Run:
        return Run.objects.create(collection=self.collection, **{"name": "other", "kind": "imported", **fields})

    def new_hit(self, **fields: object) -> Hit:
        plain = {"query": self.query, "document": self.collection.documents.get(docid="d2"), "rank": 2, "score": 1.0}
        return Hit.objects.create(run=self.run, **plain | fields)

    def new_judgment(self, **fields: object) -> Judgment:
        return Judgment.objects.create(judge=self.llm, query=self.query, document=self.document, **fields)

    def new_event(self, **fields: object) -> JudgmentEvent:
        return JudgmentEvent.objects.create(judgment=self.judgment, **{"outcome": "graded", "grade": 1, **fields})

    def new_invitation(self, **fields: object) -> Invitation:
        plain = {"pool": self.new_pool(), "token_hash": "0" * 64, "seats": 1, "expires_at": NOW}
        return Invitation.objects.create(**plain | fields)

    def new_pool(self, **fields: object) -> Pool:
        plain = {"slug": "other", "name": "other", "depth": 1, "queries_sampled": 1, "queries_available": 1}
        return Pool.objects.create(collection=self.collection, **plain | fields)

    def new_pair(self, **fields: object) -> Pair:
        plain = {
            "document": self.collection.documents.get(docid="d2"), "query_position": 0, "best_rank": 2,
        }  # fmt: skip
        return Pair.objects.create(pool=self.pool, query=self.query, **plain | fields)

    def new_slot(self, **fields: object) -> Assignment:
        return Assignment.objects.create(pair=self.pair, **{"slot": 2, **fields})

    def new_probe(self, **fields: object) -> Probe:
        return Probe.objects.create(pair=self.pair, annotator=self.person, **{"after": 1, **fields})

    def new_training_pair(self, **fields: object) -> TrainingPair:
        plain = {"position": 0, "query": self.query, "document": self.document, "grade": 1}
        return TrainingPair.objects.create(pool=self.pool, **plain | fields)

    def new_training_answer(self, **fields: object) -> TrainingAnswer:
        pair = TrainingPair.objects.first() or self.new_training_pair()
        return TrainingAnswer.objects.create(
            pair=pair, annotator=self.person, **{"outcome": "graded", "grade": 1, **fields}
        )

    def new_job(self, **fields: object) -> PrefillJob:
        return PrefillJob.objects.create(pool=self.pool, key="0" * 64, options={}, **fields)

    def new_task(self, **fields: object) -> PrefillTask:
        return PrefillTask.objects.create(judge=self.llm, pair=self.pair, **fields)

    def new_gullibility(self, **fields: object) -> GullibilityProbe:
        return GullibilityProbe.objects.create(pool=self.pool, judge=self.llm, **{"wanted": 1, **fields})


NOW = timezone.now()
KEY = UUID(int=1)

# Constraint → what breaks it.
REFUSED: list[tuple[str, Callable[[World], object]]] = [
    ("document_id_once", lambda w: Document.objects.create(collection=w.collection, docid="d1", digest=b"")),
    ("query_id_once", lambda w: Query.objects.create(collection=w.collection, qid="q1")),
    ("run_name_once", lambda w: w.new_run(name="bm25")),
    ("run_parent_iff_reranked", lambda w: w.new_run(kind="reranked")),
    ("run_parent_iff_reranked", lambda w: w.new_run(kind="imported", parent=w.run)),
    ("run_parent_iff_reranked", lambda w: w.new_run(kind="retrieved", parent=w.run)),
    ("hit_rank_once", lambda w: w.new_hit(rank=1)),
    ("hit_document_once", lambda w: w.new_hit(document=w.document)),
    ("hit_rank_from_1", lambda w: w.new_hit(rank=0)),
    ("judge_collection_iff_qrels", lambda w: Judge.objects.create(kind="qrels", name="qrels/dev")),
    (
        "judge_collection_iff_qrels",
        lambda w: Judge.objects.create(kind="person", name="eve", collection=w.collection),
    ),
    (
        "judge_user_only_person",
        lambda w: Judge.objects.create(kind="llm", name="x", user=User.objects.create_user("x")),
    ),
    ("judge_qrels_once", lambda w: Judge.objects.create(kind="qrels", name="qrels/test", collection=w.collection)),
    ("judge_name_once", lambda w: Judge.objects.create(kind="person", name="ada")),
    ("judge_name_once", lambda w: Judge.objects.create(kind="llm", name="llm", fingerprint=w.llm.fingerprint)),
    ("judgment_once", lambda w: make_judgment(w.person, w.collection, "q1", "d1", 0)),
    ("judgment_grade_iff_graded", lambda w: w.new_judgment(outcome="graded")),
    *(
        ("judgment_grade_iff_graded", lambda w, outcome=outcome: w.new_judgment(outcome=outcome, grade=0))
        for outcome in ("cannot_judge", "out_of_scale", "unparsed", "failed")
    ),
    ("event_grade_iff_graded", lambda w: w.new_event(grade=None)),
    ("event_grade_iff_graded", lambda w: w.new_event(outcome="unparsed")),
    ("pool_depth_from_1", lambda w: w.new_pool(depth=0)),
    ("pool_people_from_1", lambda w: w.new_pool(people=0)),
    ("pool_probe_share", lambda w: w.new_pool(probe_share=-0.01)),
    ("pool_probe_share", lambda w: w.new_pool(probe_share=1.01)),
    ("pool_reveals_or_probes", lambda w: w.new_pool(probe_share=0.05, reveal=True)),
    ("pair_once", lambda w: w.new_pair(document=w.document)),
    ("pair_probability", lambda w: w.new_pair(inclusion_probability=0.0)),
    ("pair_probability", lambda w: w.new_pair(inclusion_probability=1.01)),
    ("assignment_slot_once", lambda w: w.new_slot(slot=1)),
    (
        "assignment_annotator_once",
        lambda w: [w.new_slot(slot=n, state="leased", annotator=w.person, leased_until=NOW) for n in (2, 3)],
    ),
    ("assignment_state", lambda w: w.new_slot(state="free", annotator=w.person)),
    ("assignment_state", lambda w: w.new_slot(state="free", leased_until=NOW)),
    ("assignment_state", lambda w: w.new_slot(state="leased", leased_until=NOW)),
    ("assignment_state", lambda w: w.new_slot(state="leased", annotator=w.person)),
    ("assignment_state", lambda w: w.new_slot(state="done", annotator=w.person)),
    ("assignment_state", lambda w: w.new_slot(state="done", answered_at=NOW)),
    (
        "assignment_state",
        lambda w: w.new_slot(state="done", annotator=w.person, answered_at=NOW, leased_until=NOW),
    ),
    ("assignment_state", lambda w: w.new_slot(state="asleep")),
    ("skip_once", lambda w: [Skip.objects.create(pair=w.pair, annotator=w.person) for _ in range(2)]),
    ("probe_once", lambda w: [w.new_probe() for _ in range(2)]),
    ("probe_grade_iff_answered", lambda w: w.new_probe(outcome="graded", grade=1, first_outcome="graded")),
    ("probe_grade_iff_answered", lambda w: w.new_probe(outcome="graded", grade=1, answered_at=NOW)),
    ("probe_grade_iff_answered", lambda w: w.new_probe(outcome="graded", first_outcome="graded", answered_at=NOW)),
    (
        "probe_grade_iff_answered",
        lambda w: w.new_probe(outcome="cannot_judge", grade=1, first_outcome="graded", answered_at=NOW),
    ),
    ("probe_grade_iff_answered", lambda w: w.new_probe(grade=1)),
    ("invitation_seats_from_1", lambda w: w.new_invitation(seats=0)),
    ("invitation_uses_within_seats", lambda w: w.new_invitation(seats=1, uses=2)),
    ("training_once", lambda w: [w.new_training_pair(position=n) for n in range(2)]),
    (
        "training_position_once",
        lambda w: [w.new_training_pair(document=document) for document in w.collection.documents.all()],
    ),
    ("training_answer_once", lambda w: [w.new_training_answer() for _ in range(2)]),
    ("training_answer_grade_iff_graded", lambda w: w.new_training_answer(grade=None)),
    ("training_answer_grade_iff_graded", lambda w: w.new_training_answer(outcome="cannot_judge")),
    ("training_answer_grade_iff_graded", lambda w: w.new_training_answer(outcome="unparsed", grade=None)),
    ("prefill_job_once", lambda w: [w.new_job() for _ in range(2)]),
    ("prefill_job_finished", lambda w: w.new_job(state="done")),
    ("prefill_job_finished", lambda w: w.new_job(state="running", finished_at=NOW)),
    ("prefill_job_finished", lambda w: w.new_job(state="asleep", finished_at=NOW)),
    ("prefill_job_error_iff_failed", lambda w: w.new_job(state="stopped", finished_at=NOW, error="no")),
    ("prefill_once", lambda w: [w.new_task() for _ in range(2)]),
    ("prefill_state", lambda w: w.new_task(state="leased")),
    ("prefill_state", lambda w: w.new_task(state="free", leased_until=NOW)),
    ("prefill_state", lambda w: w.new_task(state="done", leased_until=NOW)),
    ("gullibility_once", lambda w: [w.new_gullibility() for _ in range(2)]),
    ("gullibility_wanted_from_1", lambda w: w.new_gullibility(wanted=0)),
]


@pytest.mark.parametrize(("constraint", "write"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_the_database_refuses(constraint, write):
    world = World()
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        write(world)
    # SQLite names the columns of a uniqueness that was broken, PostgreSQL the constraint.
    assert constraint in str(refusal.value) or any(columns in str(refusal.value) for columns in _columns(constraint))


def _constraints() -> dict[str, tuple[type[models.Model], models.BaseConstraint]]:
    return {
        constraint.name: (model, constraint)
        for model in apps.get_app_config("judging").get_models()
        for constraint in model._meta.constraints
    }


def _columns(name: str) -> list[str]:
    model, constraint = _constraints()[name]
    if not isinstance(constraint, models.UniqueConstraint):
        return []
    columns = [model._meta.get_field(field).column for field in constraint.fields]
    return [", ".join(f"{model._meta.db_table}.{column}" for column in columns)]


def test_every_constraint_is_tried_here():
    assert {name for name, _ in REFUSED} == set(_constraints())


def test_one_press_of_a_button_is_stored_once():
    world = World()
    world.new_event(key=KEY)
    with pytest.raises(IntegrityError), transaction.atomic():
        world.new_event(key=KEY)


def test_several_answers_without_a_key_are_several_events():
    world = World()
    assert world.new_event() != world.new_event()


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.new_slot(),
        lambda w: w.new_slot(state="leased", annotator=w.person, leased_until=NOW),
        lambda w: w.new_slot(state="done", annotator=w.person, answered_at=NOW),
        lambda w: w.new_task(state="leased", leased_until=NOW),
        lambda w: w.new_run(kind="reranked", parent=w.run),
        lambda w: w.new_pair(inclusion_probability=0.01),
        lambda w: w.new_judgment(outcome="graded", grade=-2),
        lambda w: w.new_judgment(outcome="unparsed"),
    ],
)
def test_and_takes_what_is_valid(write):
    assert write(World()).pk


def test_judges_of_one_name_live_side_by_side_where_their_configuration_differs():
    assert make_llm("phi", prompt="a") != make_llm("phi", prompt="b")


def test_each_collection_has_a_qrels_judge_of_that_name():
    for _ in range(2):
        Judge.objects.create(kind="qrels", name="qrels/test", collection=make_collection())
