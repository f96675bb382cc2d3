"""A pool may begin with pairs of known grade; the answers stand apart and tell the lead who is ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from judging.errors import FileError, UserError
from judging.formats.scale import default_scale
from judging.models import Judgment, Pool, TrainingAnswer
from judging.steps import serve, standing, training, turn
from judging.steps.judgments import Said
from tests.factories import make_collection, make_person, make_pool, make_run

pytestmark = pytest.mark.django_db

LINES = [("q1", "t1", 2, "It answers."), ("q2", "t2", 0, ""), ("q1", "t2", 1, "On the topic.")]


@pytest.fixture
def collection():
    documents = {f"d{n}": f"text {n}" for n in (1, 2)} | {"t1": "first", "t2": "second", "copy": "first"}
    return make_collection("col", documents=documents, queries=["q1", "q2"], scale=default_scale(2))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "training.tsv"
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in LINES))
    return path


@pytest.fixture
def pool(collection, file):
    run = make_run(collection, {"q1": ["t1", "copy", "d1", "t2"], "q2": ["d2", "t1"]})
    return make_pool(collection, run, training=training.read(collection=collection, path=file))


def work(pool, annotator, grades):
    order = []
    for grade in grades:
        asked = turn.next_turn(pool=pool, annotator=annotator)
        said = Said("cannot_judge" if grade is None else "graded", grade, comment="so", seconds=2.0)
        if asked.training:
            turn.answer_training(pair=asked.training, annotator=annotator, said=said)
        else:
            turn.answer(pair=asked.pair, annotator=annotator, said=said)
        order.append((bool(asked.training), asked.query.qid, asked.document.docid))
    return order


def test_training_pairs_come_first_in_the_order_of_the_file(pool):
    order = work(pool, make_person(), [0, 0, 0, 1])
    assert order[:3] == [(True, "q1", "t1"), (True, "q2", "t2"), (True, "q1", "t2")]
    assert order[3][0] is False


def test_nothing_is_leased_to_a_person_in_training(pool):
    person = make_person()
    turn.next_turn(pool=pool, annotator=person)
    assert serve.renew(pool=pool, annotator=person) == 0


def test_what_the_training_shows_is_none_of_the_pool_s_own_pairs_and_neither_is_a_copy_of_it(pool):
    assert set(pool.pairs.values_list("query__qid", "document__docid")) == {("q1", "d1"), ("q2", "d2"), ("q2", "t1")}
    assert pool.left_out == {"shown in the training": 3}


def test_answers_stand_apart_from_judgments_and_from_progress(pool):
    person = make_person()
    work(pool, person, [2, 1, None])
    assert not Judgment.objects.by_people().exists()
    assert standing.progress(pool=pool, annotator=person).answered == 0
    rows = TrainingAnswer.objects.order_by("pair__position")
    assert list(rows.values_list("outcome", "grade", "comment", "seconds")) == [
        ("graded", 2, "so", 2.0),
        ("graded", 1, "so", 2.0),
        ("cannot_judge", None, "so", 2.0),
    ]


def test_only_the_first_answer_counts(pool):
    person = make_person()
    first = turn.next_turn(pool=pool, annotator=person).training
    for grade in (0, 2):
        turn.answer_training(pair=first, annotator=person, said=Said("graded", grade))
    assert TrainingAnswer.objects.get().grade == 0


def test_each_person_is_trained(pool):
    work(pool, make_person(), [0, 0, 0])
    assert turn.next_turn(pool=pool, annotator=make_person()).training.position == 0


def test_a_document_that_left_the_corpus_trains_nobody_any_more(collection, pool):
    collection.documents.filter(docid="t1").update(in_corpus=False)
    assert work(pool, make_person(), [0])[0] == (True, "q2", "t2")


@pytest.mark.parametrize("status", [Pool.Status.PAUSED, Pool.Status.CLOSED])
def test_a_pool_that_is_not_open_trains_nobody(pool, status):
    pair = pool.training.first()
    Pool.objects.update(status=status)
    pair.pool.refresh_from_db()
    with pytest.raises(serve.PoolNotOpenError):
        turn.answer_training(pair=pair, annotator=make_person(), said=Said("graded", 1))


def test_a_grade_outside_the_scale_is_refused(pool):
    with pytest.raises(UserError, match="0, 1, 2"):
        turn.answer_training(pair=pool.training.first(), annotator=make_person(), said=Said("graded", 3))


def test_the_results_say_who_was_right_and_on_the_right_side(pool):
    ann, ben = make_person("ann"), make_person("ben")
    work(pool, ben, [1, 0])
    work(pool, ann, [2, None, 2])
    first, second = training.results(pool)
    assert (first.annotator, first.pairs, first.answered, first.is_finished) == (ann, 3, 3, True)
    assert (first.right, first.same_side) == (1, 2)
    assert (second.annotator, second.answered, second.is_finished) == (ben, 2, False)
    assert (second.right, second.same_side) == (1, 2)
    assert [answer.pair.position for answer in first.answers] == [0, 1, 2]


def test_without_training_there_are_no_results(collection):
    assert training.results(make_pool(collection)) == []


# --- The file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("q9\td1\t1\twhy", "expected a query of col that has a text, found 'q9'."),
        ("q1\td9\t1\twhy", "expected a document of col that has a text, found 'd9'."),
        ("q1\td1\t3\twhy", "expected one of the grades 0, 1, 2, found 3."),
    ],
)
def test_what_the_collection_does_not_have_is_refused_with_its_line(collection, file, line, found):
    with file.open("a") as more:
        more.write(line + "\n")
    with pytest.raises(FileError) as refused:
        training.read(collection=collection, path=file)
    assert str(refused.value) == f"{file}:4: {found}"


@pytest.mark.parametrize("fields", [{"in_corpus": False}, {"is_empty": True}])
def test_a_document_that_cannot_be_read_trains_nobody(collection, file, fields):
    collection.documents.filter(docid="t2").update(**fields)
    with pytest.raises(FileError, match=r":2: expected a document of col that has a text, found 't2'\."):
        training.read(collection=collection, path=file)


def test_an_empty_file_is_refused(collection, tmp_path):
    path = Path(tmp_path / "empty.tsv")
    path.write_text("\n")
    with pytest.raises(FileError, match="expected training pairs"):
        training.read(collection=collection, path=path)
