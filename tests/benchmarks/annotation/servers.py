"""Starting a product's server for the time of a measurement, and stopping all of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def server(command: Sequence[object], *, port: int, folder: Path, env: Mapping[str, str]) -> Iterator[int]:
    """Run a server in a group of its own until the block ends; its process. Its output goes to a file in the folder."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env={**_environment(), **env},
            start_new_session=True,
        )
        try:
            _wait_for(port, process, log)
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _environment() -> dict[str, str]:
    """Ours without what tells Django which settings to take: a product made with Django has its own."""
    return {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path, *, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start: {log.read_text(errors='replace')[-2_000:]}")


def cpu_of_tree(root: int) -> float:
    """CPU seconds of a process, of its children and theirs, and of those that have ended."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(folder.name)
        children.setdefault(int(fields[1]), []).append(pid)
        ticks[pid] = sum(map(int, fields[11:15]))
    found, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        found += ticks.get(pid, 0)
        waiting += children.get(pid, [])
    return found / os.sysconf("SC_CLK_TCK")
