"""Being asked to stop: SIGTERM, as containers and service managers send it, is what Ctrl-C is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt inside the block, so that what is in hand is given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    # Said once is enough: a second one would break off the giving back.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt
