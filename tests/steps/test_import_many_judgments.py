"""More labels than are in memory together come in, and go on with their history when they are replaced."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from judging.formats.scale import default_scale
from judging.models import JudgmentEvent
from tests.factories import make_collection
from tests.steps.test_import_judgments import history, imported, label, said

pytestmark = pytest.mark.django_db

NUMBER = 12_000


@pytest.fixture
def collection():
    return make_collection(documents=["d1"], queries=["q1"], scale=default_scale(2))


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        file = tmp_path / "labels.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return file

    return write


def lines(grade, **more):
    return [label(f"x{number}", grade(number), **more) for number in range(NUMBER)]


def test_they_take_little_memory_whatever_was_said(collection, write):
    file = write(*lines(lambda number: number % 2, raw="word " * 400))
    assert file.stat().st_size > 24_000_000
    for unchanged in (False, True):
        tracemalloc.start()
        assert imported(collection, file, judge="phi", kind="llm").unchanged is unchanged
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8_000_000


def test_each_keeps_its_grade_and_goes_on_with_its_history_when_replaced(collection, write):
    judge = imported(collection, write(*lines(lambda number: number % 2))).judge
    at = "2020-01-02T03:04:05Z"
    others = lines(lambda number: number % 3)[1:]
    others[0] |= {"created_at": at}
    imported(collection, write(*others), replace=True)
    assert said(judge) == {("q1", f"x{number}"): number % 3 for number in range(1, NUMBER)}
    changed = sum(number % 3 != number % 2 for number in range(1, NUMBER))
    assert JudgmentEvent.objects.count() == NUMBER - 1 + changed
    assert [history(judge, f"x{number}") for number in (1, 2, 3)] == [[1], [0, 2], [1, 0]]
    assert judge.judgments.filter(created_at=at).count() == 1
