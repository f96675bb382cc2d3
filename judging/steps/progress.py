"""How long steps tell how far they are, without knowing who listens.

A step wraps what it loops over in ``track(items, total, what)``, and what it reads from a file in
``meter(read, size, what)``; the shell passes tqdm bars, a test nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from judging.formats.lines import Progress

T = TypeVar("T")


class Track(Protocol):
    def __call__(self, items: Iterable[T], total: int | None, what: str) -> Iterable[T]: ...


def quiet(items: Iterable[T], total: int | None, what: str) -> Iterable[T]:  # noqa: ARG001
    return items


class Meter(Protocol):
    """Yields what ``read`` yields, which is called with what hears of the bytes read, of ``size`` in all (0: unknown).

    ``what`` names the records.
    """

    def __call__(self, read: Callable[[Progress], Iterable[T]], size: int, what: str) -> Iterable[T]: ...


def unmetered(read: Callable[[Progress], Iterable[T]], size: int, what: str) -> Iterable[T]:  # noqa: ARG001
    return read(_nobody_listens)


def _nobody_listens(more: int) -> None:
    """Where progress is told to."""
