"""Servers that tests talk to, started for the time of a test run and stopped after it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest


class ServiceMissingError(Exception):
    """The service is not installed here; the message says what would install it."""


def require_services() -> bool:
    """Whether a missing service is a failure rather than a reason to skip."""
    return os.environ.get("REQUIRE_SERVICES") == "1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _postgres_binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: path.parent.parent.name)
    on_path = shutil.which("initdb")
    if not found and not on_path:
        raise ServiceMissingError("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return Path(on_path).parent if on_path else found[-1].parent


def skip_or_fail(missing: ServiceMissingError) -> NoReturn:
    """For fixtures: a test that needs a service which is not there is skipped with the reason, or fails in CI."""
    if require_services():
        pytest.fail(str(missing))
    pytest.skip(str(missing))


@contextmanager
def elasticsearch_server() -> Iterator[str]:
    """A new, empty Elasticsearch-compatible server (the package noida-db) on a free port; its address."""
    binary = Path(sys.executable).with_name("noida-db")
    if not binary.exists():
        skip_or_fail(ServiceMissingError("noida-db is not installed (pip install -r tests/requirements.txt)"))
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="unjudged-elasticsearch-") as folder:
        command = [binary, "start", "--only", "elasticsearch", "--elasticsearch-port", str(port), "--data-dir", folder]
        # A group of its own, to be stopped as a whole: the command starts the server as its child.
        server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True
        )
        url = f"http://127.0.0.1:{port}"
        try:
            if not _answers(port, server):
                skip_or_fail(ServiceMissingError(f"noida-db did not start: {' '.join(map(str, command))}"))
            yield url
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=20)


def _answers(port: int, server: subprocess.Popen[bytes], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.05)
    return False


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[str]:
    """A new, empty PostgreSQL cluster on a free port; its address as a DATABASE_URL.

    Tests can lose what it holds; ``durable`` leaves PostgreSQL's own settings, which keep it.
    """
    binaries = _postgres_binaries()
    port = free_port()
    # PostgreSQL does not start as root; Debian's package makes the user for it.
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="unjudged-postgres-") as folder:
        data = Path(folder) / "data"
        if user:
            account = pwd.getpwnam(user)
            os.chown(folder, account.pw_uid, account.pw_gid)
        run = _runner(user, Path(folder))
        run(binaries / "initdb", "-D", data, "-U", "unjudged", "--auth=trust", "--encoding=UTF8", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
        if not durable:
            options += " -c fsync=off -c full_page_writes=off"
        run(binaries / "pg_ctl", "-D", data, "-o", options, "-l", Path(folder) / "log", "-w", "start")
        try:
            yield f"postgresql://unjudged@127.0.0.1:{port}/postgres"
        finally:
            run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _runner(user: str | None, folder: Path):  # type: ignore[no-untyped-def]
    def run(*command: object) -> None:
        subprocess.run(
            [str(part) for part in command], check=True, stdout=subprocess.DEVNULL, cwd=folder, user=user, group=user
        )

    return run
