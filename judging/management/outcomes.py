"""How far an LLM is, as it works: rate, time left and what came of the pairs, on a terminal or line by line."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tqdm import tqdm

from judging.models import Outcome

# Where nobody watches a bar, so many seconds apart.
LINE_EVERY = 60.0


class OutcomeTrack:
    """For ``track`` of steps that yield answers: a bar on a terminal, else a line a minute."""

    def __init__(self, say: Callable[[str], Any], *, every: float = LINE_EVERY) -> None:
        self._say = say
        self._every = every

    def __call__(self, items: Iterable[Any], total: int | None, what: str) -> Iterable[Any]:
        return self._bar(items, total, what) if sys.stderr.isatty() else self._lines(items, total or 0, what)

    def _bar(self, items: Iterable[Any], total: int | None, what: str) -> Iterator[Any]:
        counts: Counter[str] = Counter()
        with tqdm(total=total, desc=what, unit="pair", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
            for item in items:
                counts[item.outcome] += 1
                bar.set_postfix_str(in_words(counts), refresh=False)
                bar.update()
                yield item

    def _lines(self, items: Iterable[Any], total: int, what: str) -> Iterator[Any]:
        counts: Counter[str] = Counter()
        begun = told = time.monotonic()
        for item in items:
            counts[item.outcome] += 1
            if (now := time.monotonic()) - told >= self._every:
                told = now
                self._say(progress_line(what, counts, total, now - begun))
            yield item


def progress_line(what: str, counts: Counter[str], total: int, seconds: float) -> str:
    """``120 of 2,000 pairs judged by phi; 1.2/s; 26 min left; graded 118, failed 2``."""
    done = counts.total()
    rate = done / seconds
    left = max(0, total - done) / rate
    return f"{done:,} of {total:,} {what}; {_rate(rate)}; {duration(left)} left; {in_words(counts)}"


def in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{Outcome(outcome).label} {number:,}" for outcome, number in sorted(counts.items()))


def _rate(a_second: float) -> str:
    return f"{a_second:.1f}/s" if a_second >= 1 else f"{60 * a_second:.1f}/min"


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
