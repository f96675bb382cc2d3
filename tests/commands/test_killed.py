"""An import that is killed, loses its database or runs out of room leaves the collection as it was.

Each import is a process of its own on a database of its own, caught in the middle of its rows.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.commands.conftest import write_beir
from tests.commands.test_commands import ROOT
from tests.services import ServiceMissingError, postgres_server, skip_or_fail

TABLES = ("collection", "document", "query", "judge", "judgment", "judgmentevent")
DOCUMENTS = 80_000

Rows = dict[str, list[tuple[object, ...]]]


def _hear_interrupts() -> None:
    """Whoever runs the tests in the background has them, and all that they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Database:
    """A database that holds the small collection, beside the test's own; and the commands that use it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "annotator.settings",
            "VAR_DIR": str(folder),
            "DATABASE_URL": url,
        }

    def start(self, *command: object, **options: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "manage.py", *map(str, command)],
            cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **{"preexec_fn": _hear_interrupts, **options},
        )  # type: ignore[call-overload]  # fmt: skip

    def run(self, *command: object) -> None:
        process = self.start(*command)
        _, errors = process.communicate()
        assert process.returncode == 0, errors

    def rows(self) -> Rows:
        raise NotImplementedError

    def is_written_to(self) -> bool:
        """Is a transaction that writes under way?"""
        raise NotImplementedError


class Sqlite(Database):
    def __init__(self, folder: Path) -> None:
        self.file = folder / "kept.sqlite3"
        super().__init__(folder, f"sqlite:///{self.file}")

    def rows(self) -> Rows:
        with closing(sqlite3.connect(self.file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return {name: connection.execute(f"SELECT * FROM judging_{name} ORDER BY id").fetchall() for name in TABLES}

    def is_written_to(self) -> bool:
        with closing(sqlite3.connect(self.file, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
            return False


class Postgres(Database):
    def tell(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[call-overload]

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement).fetchall()  # type: ignore[call-overload, no-any-return]

    def rows(self) -> Rows:
        return {name: self.ask(f"SELECT * FROM judging_{name} ORDER BY id") for name in TABLES}

    def is_written_to(self) -> bool:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        return bool(self.ask(f"SELECT 1 FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND {others}"))

    def hang_up(self) -> None:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        self.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return write_beir(tmp_path_factory.mktemp("small") / "cran")


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """The small collection under the same name, with many more documents and one of its grades changed."""
    folder = write_beir(tmp_path_factory.mktemp("large") / "cran")
    with (folder / "corpus.jsonl").open("a") as file:
        for number in range(DOCUMENTS):
            file.write(json.dumps({"_id": f"more-{number}", "text": f"some text of document {number} " * 10}) + "\n")
    (folder / "qrels" / "test.tsv").write_text("q1\td1\t0\nq2\td2\t1\nq3\tmore-1\t1\n")
    return folder


@pytest.fixture(scope="module")
def loaded_sqlite(tmp_path_factory, small) -> Path:
    made = Sqlite(tmp_path_factory.mktemp("sqlite"))
    made.run("migrate", "-v0")
    made.run("import_beir", small)
    return made.file


@pytest.fixture(scope="module")
def loaded_postgres(tmp_path_factory, small) -> Iterator[Postgres]:
    try:
        with postgres_server(durable=True) as url:
            made = Postgres(tmp_path_factory.mktemp("postgres"), url)
            made.run("migrate", "-v0")
            made.run("import_beir", small)
            yield made
    except ServiceMissingError as missing:
        skip_or_fail(missing)


@pytest.fixture
def sqlite(loaded_sqlite, tmp_path) -> Sqlite:
    shutil.copy(loaded_sqlite, tmp_path / "kept.sqlite3")
    return Sqlite(tmp_path)


@pytest.fixture
def postgres(loaded_postgres, tmp_path) -> Postgres:
    """A copy of the loaded one, made from the cluster's own template database."""
    name = f"copy_{time.monotonic_ns()}"
    server = loaded_postgres.url.rsplit("/", 1)[0]
    Postgres(tmp_path, f"{server}/template1").tell(f"CREATE DATABASE {name} TEMPLATE postgres")
    return Postgres(tmp_path, f"{server}/{name}")


@pytest.fixture(params=["sqlite", "postgres"])
def database(request) -> Database:
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def wait_for_the_middle(database: Database, process: subprocess.Popen[str], corpus: Path) -> None:
    """Until rows are being written and a part of the corpus has been read for that."""
    deadline = time.monotonic() + 60
    while not (database.is_written_to() and 0.1 < _share_read(process.pid, corpus) < 0.9):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "nothing was written"
        time.sleep(0.005)


def _share_read(pid: int, file: Path) -> float:
    """How far the process is in reading the file."""
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if entry.readlink() == file:
                position = int(Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text().split()[1])
                return position / file.stat().st_size
        except FileNotFoundError:
            continue  # closed since
    return 0.0


@pytest.mark.parametrize("options", [["--name", "other"], ["--replace"]], ids=["new", "replaced"])
def test_a_killed_import_leaves_everything_as_it_was(database, large, options):
    before = database.rows()
    process = database.start("import_beir", large, *options)
    wait_for_the_middle(database, process, large / "corpus.jsonl")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert database.rows() == before


@pytest.mark.parametrize("grade", [1, 0], ids=["new", "replaced"])
def test_a_killed_import_of_judgments_leaves_everything_as_it_was(database, tmp_path, grade):
    def labels(grade: int, number: int) -> Path:
        file = tmp_path / f"labels-{grade}-{number}.jsonl"
        rows = ({"query": "q1", "document": f"x{n}", "grade": grade} for n in range(number))
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return file

    command = ("import_judgments", "cran", "--judge", "phi", "--kind", "llm", "--configuration", tmp_path / "phi.json")
    (tmp_path / "phi.json").write_text('{"model": "phi"}')
    options = []
    if grade == 0:
        database.run(*command, labels(1, 10))
        options = ["--replace"]
    before = database.rows()
    process = database.start(*command, labels(grade, 60_000), *options)
    deadline = time.monotonic() + 60
    while not database.is_written_to():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "nothing was written"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert database.rows() == before


def test_an_interrupted_import_says_so_and_leaves_everything_as_it_was(database, large):
    before = database.rows()
    process = database.start("import_beir", large, "--replace")
    wait_for_the_middle(database, process, large / "corpus.jsonl")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Stopped." in errors
    assert "Traceback" not in errors
    assert database.rows() == before


@pytest.mark.parametrize("options", [["--name", "other"], ["--replace"]], ids=["new", "replaced"])
def test_an_import_that_loses_its_database_says_so_and_leaves_everything_as_it_was(postgres, large, options):
    before = postgres.rows()
    process = postgres.start("import_beir", large, *options)
    wait_for_the_middle(postgres, process, large / "corpus.jsonl")
    postgres.hang_up()
    _, errors = process.communicate()
    assert process.returncode == 1
    assert "The database broke off: " in errors
    assert "give the command again" in errors
    assert "Traceback" not in errors
    assert postgres.rows() == before


def test_an_import_without_room_says_so_and_leaves_everything_as_it_was(sqlite, large):
    before = sqlite.rows()

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))

    process = sqlite.start("import_beir", large, "--replace", preexec_fn=full)
    _, errors = process.communicate()
    assert process.returncode == 1
    assert "The database broke off: " in errors
    assert "Traceback" not in errors
    assert sqlite.rows() == before
