"""Rows that wait in a file come back as they went in."""

from __future__ import annotations

import resource
from datetime import UTC, datetime

import pytest

from judging.errors import UserError
from judging.steps.spool import Spool


def test_rows_come_back_in_their_order_as_often_as_wanted():
    rows = [["d\u2028\n1", None, -1, 0.1 + 0.2, True, {"0": 1e-300}], [], ["二"]]
    with Spool() as spool:
        spool.fill(iter(rows))
        assert [list(spool), list(spool)] == [rows, rows]


def test_a_time_comes_back_as_text_with_its_microseconds():
    time = datetime(2020, 1, 2, 3, 4, 5, 678901, UTC)
    with Spool() as spool:
        spool.fill([[time]])
        ((text,),) = spool
    assert datetime.fromisoformat(text) == time


@pytest.fixture
def _no_room():
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("_no_room")
def test_a_folder_without_room_is_named_with_what_to_do():
    with Spool() as spool, pytest.raises(UserError, match=r"^Expected room for a working copy .* TMPDIR\.$"):
        spool.fill([["x" * 10_000]])
