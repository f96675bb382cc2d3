"""Pairs that an LLM called non-relevant, asked again with words put into them; never a judgment."""

from __future__ import annotations

import pytest

from judging.engines.llm import open_llm
from judging.engines.llm.base import Answer
from judging.errors import UserError
from judging.models import GullibilityProbe, Judgment, JudgmentEvent
from judging.steps.delete import delete_pool
from judging.steps.gullibility import ProbeOptions, probe
from judging.steps.prefill import judge_pool
from judging.steps.quality.gullible import gullible
from judging.steps.quality.stuffing import other_words, stuffed, words_of
from tests import tiny_models
from tests.factories import make_collection, make_judgment, make_person, make_pool, make_run

QUERIES = {"q1": "who was robert gray", "q2": "what makes lift", "q3": "how tall is it", "q4": "when did sails end"}
DOCUMENTS = {f"d{n}": f"Text {n} begins. It goes on, at length!" for n in range(6)}


class Gullible:
    """Calls a document relevant that holds all words of its query."""

    name = "gullible pointwise"

    def __init__(self, *, fails=0):
        self.asked, self.fails = [], fails

    def identity(self):
        return {"model": "gullible"}

    def judge(self, questions):
        self.asked += questions
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        if self.fails:
            self.fails -= 1
            return Answer("failed", raw="timeout")
        holds = question.query.text in question.document.text
        return Answer("graded", int(holds), {0: 0.1, 1: 0.8} if holds else {0: 0.7, 1: 0.2})


@pytest.fixture
def pool(db):
    collection = make_collection(documents=DOCUMENTS, queries=QUERIES)
    return make_pool(collection, make_run(collection, {qid: list(DOCUMENTS) for qid in QUERIES}), depth=6)


@pytest.fixture
def judged(pool):
    judge_pool(llm=Gullible(), pool=pool)
    return pool


def test_words_are_put_before_the_text_or_after_each_sentence():
    text = "One is 3.5 long. Two?  Three"
    assert stuffed(text, "a b", "start") == "a b One is 3.5 long. Two?  Three"
    assert stuffed(text, "a b", "sentences") == "One is 3.5 long. a b Two? a b Three a b"


def test_as_many_other_words_are_drawn_never_the_querys_and_always_the_same():
    query = "What's the lift of a wing?"
    drawn = other_words(query, ["wing", "the", "ship", "sail"], seed="1 q d")
    assert len(words_of(drawn)) == len(words_of(query)) == 6
    assert set(words_of(drawn)) <= {"ship", "sail"}
    assert drawn == other_words(query, ["wing", "the", "ship", "sail"], seed="1 q d")
    assert other_words(query, ["wing", "lift"], seed="1") == ""


def test_every_pair_is_asked_with_the_querys_words_and_with_others_and_none_becomes_a_judgment(judged):
    before = [list(rows.order_by("pk").values_list()) for rows in (Judgment.objects, JudgmentEvent.objects)]
    llm = Gullible()
    made = probe(pool=judged, llm=llm, options=ProbeOptions(pairs=10))

    assert len(llm.asked) == 20
    found = gullible(made, judged.collection.scale)
    assert (found.pairs, found.flips, found.control_flips, found.only_stuffed) == (10, 10, 0, 10)
    assert found.is_alarming
    assert found.stuffed.interval.low == pytest.approx(0.722, abs=1e-3)  # Wilson
    assert found.means == pytest.approx((2 / 9, 8 / 9, 2 / 9), abs=1e-5)
    assert before == [list(rows.order_by("pk").values_list()) for rows in (Judgment.objects, JudgmentEvent.objects)]


def test_the_words_stand_in_the_text_and_the_title_stays(judged):
    llm = Gullible()
    probe(pool=judged, llm=llm, options=ProbeOptions(pairs=8))
    with_query, with_others = llm.asked[:8], llm.asked[8:16]
    for question in with_query:
        assert question.document.text == f"{question.query.text} {DOCUMENTS[question.document.id]}"
    for question, control in zip(with_query, with_others, strict=True):
        assert (question.query, question.document.id) == (control.query, control.document.id)
        extra = control.document.text.removesuffix(DOCUMENTS[control.document.id])
        assert len(words_of(extra)) == len(words_of(control.query.text))
        assert not set(words_of(extra)) & set(words_of(control.query.text))


def test_the_same_seed_draws_the_same_pairs_and_another_seed_others(judged):
    one, same, other = (
        probe(pool=judged, llm=Gullible(), options=ProbeOptions(pairs=6, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == same
    assert one.rows != other.rows
    assert GullibilityProbe.objects.count() == 2


def test_a_finished_probe_asks_nothing_more(judged):
    first = probe(pool=judged, llm=Gullible(), options=ProbeOptions(pairs=6))
    llm = Gullible()
    assert probe(pool=judged, llm=llm, options=ProbeOptions(pairs=6)).rows == first.rows
    assert llm.asked == []


def test_a_probe_that_was_stopped_goes_on_where_it_was(judged):
    class Interrupted(Gullible):
        def judge(self, questions):
            if self.asked:
                raise KeyboardInterrupt
            return super().judge(questions)

    with pytest.raises(KeyboardInterrupt):
        probe(pool=judged, llm=Interrupted(), options=ProbeOptions(pairs=20))
    kept = GullibilityProbe.objects.get()
    assert sum("stuffed" in row for row in kept.rows) == 8
    assert kept.finished_at is None

    rest = Gullible()
    made = probe(pool=judged, llm=rest, options=ProbeOptions(pairs=20))
    assert len(rest.asked) == 24
    assert made.finished_at is not None
    whole = Gullible()
    GullibilityProbe.objects.all().delete()
    assert probe(pool=judged, llm=whole, options=ProbeOptions(pairs=20)).rows == made.rows


def test_what_failed_is_counted_beside_and_asked_again(judged):
    made = probe(pool=judged, llm=Gullible(fails=3), options=ProbeOptions(pairs=8))
    found = gullible(made, judged.collection.scale)
    assert (found.pairs, found.unread, found.unasked) == (5, 3, 0)

    again = Gullible()
    made = probe(pool=judged, llm=again, options=ProbeOptions(pairs=8))
    assert len(again.asked) == 6
    assert gullible(made, judged.collection.scale).pairs == 8


def test_pairs_that_people_call_relevant_are_not_asked(judged):
    ada = make_person("ada")
    for qid, docid in judged.pairs.values_list("query__qid", "document__docid")[:20]:
        make_judgment(ada, judged.collection, qid, docid, 1)
    assert len(probe(pool=judged, llm=Gullible()).rows) == 4


def test_a_judge_that_judged_nothing_is_told_what_to_do_first(pool):
    with pytest.raises(UserError, match=r"has judged nothing.*python manage.py prefill_llm holes"):
        probe(pool=pool, llm=Gullible())


def test_a_judge_of_that_name_that_is_made_otherwise_is_named_with_the_difference(judged):
    class Newer(Gullible):
        def identity(self):
            return {"model": "gullible", "dtype": "bfloat16"}

    with pytest.raises(UserError, match=r"gullible pointwise · \w{8} differs in dtype"):
        probe(pool=judged, llm=Newer())


def test_a_judge_that_called_nothing_non_relevant_has_nothing_to_be_shaken(judged):
    Judgment.objects.filter(judge__kind="llm").update(grade=1)
    with pytest.raises(UserError, match="called no pair of holes non-relevant"):
        probe(pool=judged, llm=Gullible())


@pytest.mark.parametrize("options", [ProbeOptions(pairs=0), ProbeOptions(way="end")])
def test_what_cannot_be_done_is_refused(judged, options):
    with pytest.raises(UserError, match="expected"):
        probe(pool=judged, llm=Gullible(), options=options)
    assert not GullibilityProbe.objects.exists()


def test_a_pool_goes_with_its_probes(judged):
    probe(pool=judged, llm=Gullible(), options=ProbeOptions(pairs=2))
    delete_pool(pool=judged)
    assert not GullibilityProbe.objects.exists()


@pytest.mark.models
def test_a_real_model_is_asked(pool, tmp_path):
    folder = tiny_models.tiny_phi3(tmp_path / "tiny", says=("0", "1"))

    def llm():
        return open_llm(str(folder), prompt="pointwise", scale=pool.collection.scale, dtype="float32")

    judge = judge_pool(llm=llm(), pool=pool).judge
    below = judge.judgments.filter(grade=0).count()
    assert below
    made = probe(pool=pool, llm=llm(), options=ProbeOptions(pairs=6, way="sentences"))

    assert made.judge == judge
    assert all(row["stuffed"][0] == row["control"][0] == "graded" for row in made.rows)
    assert len(made.rows) == min(below, 6)
    # The words were read: they move the probabilities.
    assert any(row["stuffed"][2] != row["before"][2] for row in made.rows)
    assert judge.judgments.count() == 24
