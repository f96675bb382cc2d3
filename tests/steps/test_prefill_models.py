"""An LLM judges the pairs of a pool, with a real model in its process."""

from __future__ import annotations

import pytest

from judging.errors import UserError
from judging.models import Judge, Judgment, PrefillTask
from judging.steps.prefill import LlmOptions, PrefillOptions, prefill
from tests import tiny_models
from tests.factories import make_collection, make_pool, make_run

pytestmark = pytest.mark.models


@pytest.fixture
def pool(db):
    collection = make_collection(
        documents={**{f"d{n}": f"text of {n}" for n in range(1, 6)}, "k": "known", "best": "the best"},
        queries={"q1": "who is robert gray", "q2": "what is lift"},
        qrels={("q1", "k"): 1, ("q1", "best"): 1, ("q2", "best"): 0},
    )
    run = make_run(collection, {"q1": ["d3", "d1", "d2", "d5", "d4"], "q2": ["d2", "d5", "d1", "d4", "d3"]})
    return make_pool(collection, run)


@pytest.fixture(scope="session")
def phi3(tmp_path_factory):
    return tiny_models.tiny_phi3(tmp_path_factory.mktemp("models") / "tiny-phi3")


def test_a_real_model_judges_the_pool_and_goes_on_where_it_stopped(pool, phi3):
    options = PrefillOptions(LlmOptions(str(phi3), dtype="float32"), limit=4)
    first = prefill(pool=pool, options=options)
    assert first.outcomes == {"graded": 4}
    second = prefill(pool=pool, options=PrefillOptions(LlmOptions(str(phi3), dtype="float32")))
    assert (second.judge, second.outcomes, second.already) == (first.judge, {"graded": 6}, 4)
    said = Judgment.objects.filter(judge__kind="llm").order_by("pk").values_list("query__qid", "document__docid")
    assert list(said) == list(pool.pairs.values_list("query__qid", "document__docid"))
    assert first.judge.name == "tiny-phi3 pointwise"
    for row in first.judge.judgments.all():
        assert row.probabilities[str(row.grade)] == max(row.probabilities.values())
        assert row.seconds > 0


def test_another_prompt_makes_another_judge(pool, phi3):
    plain, known = (
        prefill(pool=pool, options=PrefillOptions(LlmOptions(str(phi3), dtype="float32", prompt=prompt)))
        for prompt in ("pointwise", "known")
    )
    assert Judge.objects.filter(kind="llm").count() == 2
    assert (plain.judge.name, known.judge.name) == ("tiny-phi3 pointwise", "tiny-phi3 known")
    assert known.outcomes == {"graded": 5, "failed": 5}
    assert set(known.judge.judgments.filter(outcome="failed").values_list("query__qid", flat=True)) == {"q2"}


def test_a_model_that_answers_in_words_leaves_no_grade(pool, tmp_path):
    wordy = tiny_models.tiny_phi3(tmp_path / "wordy", says=["The"])
    report = prefill(pool=pool, options=PrefillOptions(LlmOptions(str(wordy), dtype="float32"), limit=2))
    assert report.outcomes == {"unparsed": 2}
    assert set(report.judge.judgments.values_list("grade", flat=True)) == {None}


def test_a_model_that_is_not_there_is_an_error_and_queues_nothing(pool, tmp_path):
    with pytest.raises(UserError, match="nowhere"):
        prefill(pool=pool, options=PrefillOptions(LlmOptions(str(tmp_path / "nowhere"))))
    assert not PrefillTask.objects.exists()
