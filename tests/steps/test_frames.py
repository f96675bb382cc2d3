"""Data frames for notebooks: one row an observation, with the collection's own ids."""

from __future__ import annotations

import pandas as pd
import pytest

from judging import frames
from tests.factories import make_collection, make_judgment, make_llm, make_person, make_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    collection = make_collection("web", documents=["0042", "42", "k"], queries=["q1", "q2"], qrels={("q1", "k"): 1})
    pool = make_pool(collection, depth=3)
    person, llm = make_person("ada"), make_llm("one")
    make_judgment(person, collection, "q1", "0042", 1, seconds=4.0)
    make_judgment(person, collection, "q1", "42", None, comment="torn off")
    make_judgment(llm, collection, "q1", "0042", 0, probabilities={"0": 0.8, "1": 0.2})
    return pool


def test_judgments_of_a_pool_and_of_its_collection(pool):
    frame = frames.judgments(pool=pool)
    assert frame[["judge", "kind", "query", "document", "outcome"]].values.tolist() == [
        ["ada", "person", "q1", "0042", "graded"],
        ["ada", "person", "q1", "42", "cannot_judge"],
        ["one", "llm", "q1", "0042", "graded"],
    ]
    assert frame["grade"].tolist() == [1, pd.NA, 0]
    assert str(frame["grade"].dtype) == "Int64"
    assert frame["probabilities"][2] == {"0": 0.8, "1": 0.2}
    assert len(frames.judgments(collection="web")) == 4
    assert frames.judgments(pool=pool.slug).equals(frame)


def test_a_pivot_lines_judges_up(pool):
    wide = frames.judgments(pool=pool).pivot(index=["query", "document"], columns="judge", values="grade")
    assert wide.loc[("q1", "0042")].to_dict() == {"ada": 1, "one": 0}


def test_hits_of_all_runs_or_of_one(pool):
    frame = frames.hits(collection="web")
    assert frame.columns.tolist() == ["run", "query", "document", "rank", "score"]
    assert len(frame) == 6
    assert frames.hits(collection=pool.collection, run="bm25").equals(frame)


def test_pairs_with_their_weight_and_what_people_say(pool):
    frame = frames.pairs(pool=pool).set_index(["query", "document"])
    assert len(frame) == 5
    assert frame.loc[("q1", "0042"), ["grade", "labels", "weight"]].tolist() == [1, 1, 1.0]
    assert frame.loc[("q1", "42"), "grade"] is pd.NA
    assert frame["weight"].dtype == "float64"


def test_coefficients_one_a_row_undefined_ones_with_their_reason(pool):
    frame = frames.coefficients(frames.agreement(pool=pool)).set_index(["judge", "on", "coefficient"])
    assert frame.loc[("one", "grades", "raw_agreement"), ["value", "pairs", "queries"]].tolist() == [0, 1, 1]
    assert frame.loc[("one", ">=1", "precision"), "reason"] == "the second judge called nothing relevant"
    assert pd.isna(frame.loc[("one", ">=1", "precision"), "value"])


def test_of_what_must_be_said():
    with pytest.raises(ValueError, match="Judgments are those of a pool or of a collection"):
        frames.judgments()


def test_nothing_judged_is_an_empty_frame_with_its_columns():
    make_collection("empty")
    assert len(frames.judgments(collection="empty")) == 0
    assert "grade" in frames.judgments(collection="empty").columns
    assert len(frames.hits(collection="empty")) == 0
