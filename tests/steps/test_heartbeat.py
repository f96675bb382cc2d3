"""What a worker holds stays its own while it lives, however long a batch takes."""

from __future__ import annotations

import time

import pytest
from django.db import OperationalError

from judging.models import PrefillTask
from judging.steps.heartbeat import beating
from judging.steps.prefill import judge_pool
from tests.factories import make_collection, make_pool
from tests.steps.test_prefill import Reader


@pytest.mark.django_db(transaction=True)
def test_a_batch_that_takes_longer_than_a_lease_is_not_taken_over(settings):
    settings.WORKER_LEASE_SECONDS = 1
    pool = make_pool(make_collection(documents=["d1"]), depth=1)
    seen = []

    def take_long():
        for _ in range(4):
            time.sleep(0.5)
            seen.append(PrefillTask.objects.all().available().count())

    assert judge_pool(llm=Reader(before=take_long), pool=pool).outcomes == {"graded": 1}
    assert seen == [0, 0, 0, 0]


def test_a_beat_that_the_database_refuses_is_left_out(caplog):
    beats = []

    def beat():
        beats.append(1)
        if len(beats) == 1:
            raise OperationalError("database is locked")

    with beating(beat, every=0.01):
        deadline = time.monotonic() + 10
        while len(beats) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(beats) >= 3
    assert "no sign of life: database is locked" in caplog.text


def test_the_beats_end_with_the_block_whatever_ends_it():
    beats = []
    with pytest.raises(KeyboardInterrupt), beating(lambda: beats.append(1), every=0.01):
        raise KeyboardInterrupt
    count = len(beats)
    time.sleep(0.05)
    assert len(beats) == count
