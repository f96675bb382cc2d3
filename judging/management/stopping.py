"""Being asked to stop: SIGTERM, as containers and service managers send it, is what Ctrl-C is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# For so many seconds after the first signal further ones are left out: they would break off the giving back.
DEAF = 5.0

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Interrupt:
    def __init__(self) -> None:
        self._heard = float("-inf")

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if (now := time.monotonic()) - self._heard < DEAF:
            return
        self._heard = now
        raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt inside the block, so that what is in hand is given back, undisturbed by a
    second Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupt = _Interrupt()
    before = [signal.signal(one, interrupt) for one in _SIGNALS]
    try:
        yield
    finally:
        for one, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(one, handler)
