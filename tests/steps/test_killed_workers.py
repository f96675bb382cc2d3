"""Two workers, processes of their own, share a pool; one is killed in the middle, and every pair is judged once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests import tiny_models

pytestmark = [pytest.mark.database, pytest.mark.models]

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 12

SET_UP = f"""
import sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from judging.steps import jobs
from judging.steps.prefill import LlmOptions
from tests.factories import make_collection, make_pool
collection = make_collection("cran", documents=[f"d{{n}}" for n in range({PAIRS})])
jobs.ask(pool=make_pool(collection, name="cran", depth={PAIRS}), llm=LlmOptions(sys.argv[1], dtype="float32"))
"""

# After its first batch each worker waits with the next one in hand until it is told to go on.
WORKER = """
import sys, time
from pathlib import Path
import django; django.setup()
from django.core.management import call_command
from judging.engines.llm.local import TransformersModel
judge = TransformersModel.judge
batches = []
def stop_and_go(self, questions):
    batches.append(len(questions))
    while len(batches) == 2 and not Path(sys.argv[1]).exists():
        time.sleep(0.05)
    return judge(self, questions)
TransformersModel.judge = stop_and_go
call_command("worker")
"""

HELD = "SELECT count(DISTINCT worker) FROM judging_prefilltask WHERE state = 'leased'"
DONE = "SELECT count(*) FROM judging_prefilltask WHERE state = 'done'"
JUDGED = "SELECT count(*) FROM judging_judgment JOIN judging_judge ON judging_judge.id = judge_id WHERE kind = 'llm'"
STATE = "SELECT state FROM judging_prefilljob"
EVENTS = "SELECT count(*) FROM judging_judgmentevent"


@pytest.fixture(scope="module")
def phi3(tmp_path_factory):
    return tiny_models.tiny_phi3(tmp_path_factory.mktemp("models") / "tiny-phi3")


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
    return os.environ | ours | {"WORKER_LEASE_SECONDS": "5", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


@contextmanager
def python(environment: dict[str, str], code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
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


def test_a_worker_killed_in_the_middle_loses_only_what_it_had_in_hand(environment, database, phi3, tmp_path):
    _url, look = database
    with python(environment, SET_UP, phi3) as setting_up:
        assert setting_up.wait() == 0, setting_up.stdout.read()
    go = tmp_path / "go"
    with python(environment, WORKER, go) as killed, python(environment, WORKER, go) as other:
        wait_until(lambda: look(HELD) == 2 and look(JUDGED) > 0)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert 0 < look(DONE) < PAIRS
        assert look(HELD) > 0
        go.touch()
        wait_until(lambda: look(STATE) == "done")
        other.send_signal(signal.SIGTERM)
        said, _ = other.communicate(timeout=20)
        assert (other.returncode, said.splitlines()[-1]) == (0, "stopped; what was judged is kept")
    assert look(JUDGED) == look(EVENTS) == look(DONE) == PAIRS
    assert (look(HELD), look("SELECT count(*) FROM judging_judge WHERE kind = 'llm'")) == (0, 1)
