"""Two workers, processes of their own, share a pool; one is killed in the middle, and every pair is judged once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.engines.llm.serving import Handler, Reply, says, serving

pytestmark = pytest.mark.database

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 12

SET_UP = f"""
import sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from judging.engines.llm import Server
from judging.steps import jobs
from judging.steps.prefill import LlmOptions
from tests.factories import make_collection, make_pool
collection = make_collection("cran", documents=[f"d{{n}}" for n in range({PAIRS})])
pool = make_pool(collection, name="cran", depth={PAIRS})
jobs.ask(pool=pool, llm=LlmOptions("phi", server=Server(sys.argv[1])))
"""

HELD = "SELECT count(DISTINCT worker) FROM judging_prefilltask WHERE state = 'leased'"
LEASED = "SELECT count(*) FROM judging_prefilltask WHERE state = 'leased'"
DONE = "SELECT count(*) FROM judging_prefilltask WHERE state = 'done'"
JUDGED = "SELECT count(*) FROM judging_judgment JOIN judging_judge ON judging_judge.id = judge_id WHERE kind = 'llm'"
STATE = "SELECT state FROM judging_prefilljob"
EVENTS = "SELECT count(*) FROM judging_judgmentevent"


@pytest.fixture
def database(tmp_path) -> Iterator[tuple[str, Callable[[str], object]]]:
    """A database of the test's own, as the tests' own is: its address, and what a statement finds in it."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        with sqlite3.connect(tmp_path / "workers.sqlite3", isolation_level=None) as file:
            yield f"sqlite:///{tmp_path}/workers.sqlite3", lambda query: file.execute(query).fetchone()[0]
        file.close()
        return
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE killed_workers")
        url = f"{server.rpartition('/')[0]}/killed_workers"
        with psycopg.connect(url, autocommit=True) as own:
            yield url, lambda query: own.execute(query).fetchone()[0]
        connection.execute("DROP DATABASE killed_workers WITH (FORCE)")


@pytest.fixture
def environment(tmp_path, database) -> dict[str, str]:
    ours = {"DJANGO_SETTINGS_MODULE": "annotator.settings", "VAR_DIR": str(tmp_path), "DATABASE_URL": database[0]}
    return os.environ | ours | {"WORKER_LEASE_SECONDS": "3", "PYTHONUNBUFFERED": "1"}


@contextmanager
def python(environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def wait_until(condition: Callable[[], bool], seconds: float = 180.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.02)


def answers_the_first(go: threading.Event) -> Reply:
    """At once; those that follow wait until it is told to go on."""
    first = threading.Lock()

    def reply(handler: Handler, asked: dict[str, Any]) -> None:
        if not first.acquire(blocking=False):
            go.wait(180)
        says("1")(handler, asked)

    return reply


def test_a_worker_killed_in_the_middle_loses_only_what_it_had_in_hand(environment, database):
    _url, look = database
    go = threading.Event()
    with serving(answers_the_first(go)) as server:
        with python(environment, "-c", SET_UP, server.url) as setting_up:
            assert setting_up.wait() == 0, setting_up.stdout.read()
        worker = ["manage.py", "worker"]
        with python(environment, *worker) as killed, python(environment, *worker) as other:
            wait_until(lambda: look(HELD) == 2 and look(JUDGED) > 0)
            in_hand = look(LEASED)
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            assert 0 < look(DONE) < PAIRS
            assert look(HELD) > 0
            go.set()
            wait_until(lambda: look(STATE) == "done")
            other.send_signal(signal.SIGTERM)
            said, _ = other.communicate(timeout=20)
            assert (other.returncode, said.splitlines()[-1]) == (0, "stopped; what was judged is kept")
    assert look(JUDGED) == look(EVENTS) == look(DONE) == PAIRS
    assert (look(HELD), look("SELECT count(*) FROM judging_judge WHERE kind = 'llm'")) == (0, 1)
    assert PAIRS <= len(server.asked) < PAIRS + in_hand, "only what the killed one had in hand is asked again"
