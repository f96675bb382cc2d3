"""The export of every single judgment: as JSON lines, CSV and Parquet, and back again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pandas
import pytest

from judging.errors import FileError, UserError
from judging.formats.judgments import read_all_judgments, read_judgments
from judging.formats.scale import default_scale
from judging.models import Judge, Judgment
from judging.steps.export import export_qrels
from judging.steps.export_files import Content
from judging.steps.import_judgments import import_judgments
from tests.factories import make_collection
from tests.steps.exports import files_of, odd_collection

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return odd_collection()


def test_every_judgment_made_here_is_in_the_json_lines_and_the_original_qrels_are_not(collection, tmp_path):
    export_qrels(collection=collection, out=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "judgments.jsonl").read_bytes().splitlines()]
    times = {
        (datetime.fromisoformat(line.pop("created_at")), datetime.fromisoformat(line.pop("updated_at")))
        for line in lines
    }
    assert times == {*Judgment.objects.exclude(judge__kind="qrels").values_list("created_at", "updated_at")}
    mark = Judge.objects.get(kind="llm").fingerprint
    llm = {"judge": "phi", "kind": "llm", "fingerprint": mark}
    ada, bob = ({"judge": name, "kind": "person"} for name in ("ada", "bob"))
    d1, d2, d3 = ({"query": "q1", "document": docid} for docid in ("d1", "d2", "d3"))
    assert lines == [
        d3 | {"query": "42", "outcome": "graded", "grade": 0} | bob,
        d1 | {"outcome": "unparsed", "raw": "well"} | llm,
        d1 | {"outcome": "graded", "grade": 1, "comment": "a\nb\tc", "seconds": 1.5} | ada,
        d1 | {"outcome": "graded", "grade": 1} | bob,
        d2 | {"outcome": "graded", "grade": 0} | ada,
        d2 | {"outcome": "graded", "grade": 1} | bob,
        d3
        | {"outcome": "graded", "grade": 2, "raw": "2", "probabilities": {"0": 0.1, "2": 0.9}, "truncated": True}
        | {"prompt_tokens": 80, "completion_tokens": 1}
        | llm,
        d3 | {"outcome": "cannot_judge"} | ada,
    ]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_the_judgments_of_each_judge_can_be_brought_back(collection, tmp_path, form):
    export_qrels(collection=collection, out=tmp_path, content=Content(judgments=[form]))
    file = tmp_path / f"judgments.{form}"
    said = ("outcome", "grade", "probabilities", "raw", "comment", "seconds", "assisted", "truncated")
    said += ("prompt_tokens", "completion_tokens")
    fields = ("query__qid", "document__docid", *said)
    kept = {
        judge: list(Judgment.objects.filter(judge__name=judge).order_by("document__docid").values_list(*fields))
        for judge in ("ada", "bob", "phi")
    }
    again = make_collection("again", documents=["d1", "d2", "d3"], queries=["q1", "42"], scale=default_scale(2))
    for judge, kind in (("ada", "person"), ("bob", "person"), ("phi", "llm")):
        import_judgments(collection=again, path=file, judge=judge, kind=kind, only=judge)
        brought = Judgment.objects.of(again).filter(judge__name=judge).order_by("document__docid")
        assert list(brought.values_list(*fields)) == kept[judge]


def test_the_judgments_can_be_had_as_csv_and_parquet_too_with_the_same_bytes_each_time(collection, tmp_path):
    for name in ("one", "two"):
        export = export_qrels(
            collection=collection, out=tmp_path / name, content=Content(judgments=["jsonl", "csv", "parquet"])
        )
    files = files_of(tmp_path / "one")
    assert files == files_of(tmp_path / "two")
    assert {"judgments.jsonl", "judgments.csv", "judgments.parquet"} <= export.manifest["files"].keys()
    lines, *others = (
        [replace(line, line=0) for line in read_all_judgments(tmp_path / "one" / f"judgments.{form}", warn=[].append)]
        for form in ("jsonl", "csv", "parquet")
    )
    assert len(lines) == 8
    assert others == [lines, lines]
    frame = pandas.read_parquet(tmp_path / "one" / "judgments.parquet")
    assert list(frame["query"]) == [line.query for line in lines]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_judgments_brought_back_are_exported_with_the_same_bytes(collection, tmp_path, form):
    Judgment.objects.update(
        created_at=datetime(2020, 1, 2, 3, 4, 5, 678901, UTC), updated_at=datetime(2021, 1, 1, tzinfo=UTC)
    )
    # An LLM's configuration comes from elsewhere than this file, and its fingerprint from that.
    Judgment.objects.filter(judge__kind="llm").delete()
    export_qrels(collection=collection, out=tmp_path / "out", content=Content(judgments=[form]))
    before = (tmp_path / "out" / f"judgments.{form}").read_bytes()
    for judge in ("ada", "bob"):
        Judgment.objects.filter(judge__name=judge).delete()
        file = tmp_path / f"judgments.{form}"
        file.write_bytes(before)
        import_judgments(collection=collection, path=file, judge=judge, kind="person", only=judge)
    export_qrels(collection=collection, out=tmp_path / "out", content=Content(judgments=[form]))
    assert (tmp_path / "out" / f"judgments.{form}").read_bytes() == before


def test_a_form_of_judgments_that_there_is_not_is_refused(collection, tmp_path):
    with pytest.raises(UserError, match="--judgments: expected jsonl or csv or parquet, found xml"):
        export_qrels(collection=collection, out=tmp_path / "out", content=Content(judgments=["xml"]))


def test_a_file_of_several_judges_is_not_brought_back_as_one(collection, tmp_path):
    export_qrels(collection=collection, out=tmp_path)
    with pytest.raises(FileError, match="expected the judgments of one judge"):
        list(read_judgments(tmp_path / "judgments.jsonl", warn=[].append))
