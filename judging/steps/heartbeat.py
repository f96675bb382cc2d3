"""Signs of life while a long call has the main thread: what a worker holds stays its own as long as it lives."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connections

_log = logging.getLogger(__name__)


@contextmanager
def beating(beat: Callable[[], object], *, every: float) -> Iterator[None]:
    """Call ``beat`` each so many seconds, from a thread with a database connection of its own, until the block ends.

    A beat that the database refuses is left out; the next one may come through before the lease has run out.
    """
    ended = threading.Event()

    def run() -> None:
        try:
            while not ended.wait(every):
                try:
                    beat()
                except DatabaseError as error:
                    _log.warning("no sign of life: %s", error)
                    connections.close_all()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
