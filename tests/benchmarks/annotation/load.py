"""Fifty people at once, and what their waiting comes to."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

from tests.benchmarks.annotation.client import Browser
from tests.benchmarks.annotation.servers import cpu_of_tree

# After so many seconds people stop wherever they are, and the answers until then are what is measured.
LONGEST = 300.0


@dataclass(slots=True)
class Clock:
    """What one person's steps took (seconds); ``pause`` is the mean time that they read before they answer."""

    pause: float
    random: random.Random
    until: float = 0.0
    latest: float = 0.0
    took: list[float] = field(default_factory=list)

    async def read(self) -> None:
        if self.pause:
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.pause)

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def add(self, since: float) -> None:
        self.latest = time.monotonic()
        self.took.append(self.latest - since)


# Signs somebody in and returns their work, which runs until nothing is left or the clock is over.
Work = Callable[[Clock], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Measured:
    """Times in seconds, CPU times too: of the simulated people themselves, and of the product with its database.

    ``seconds`` end with the last answer: people who look in vain for more add nothing to them.
    ``load`` is the machine's load average over the minute before.
    """

    what: str
    answers: int
    requests: int
    seconds: float
    took: Sequence[float]
    people_cpu: float
    server_cpu: float
    load: float

    @property
    def answers_per_second(self) -> float:
        return self.answers / self.seconds

    @property
    def requests_per_second(self) -> float:
        return self.requests / self.seconds

    def percentile(self, percent: int) -> float:
        return quantiles(self.took, n=100, method="inclusive")[percent - 1]

    def __str__(self) -> str:
        return (
            f"{self.what}\n"
            f"  {self.answers:,} answers in {self.seconds:.1f} s: {self.answers_per_second:.1f} answers/s, "
            f"{self.requests_per_second:.1f} requests/s\n"
            f"  next and save: p50 {1000 * self.percentile(50):.0f} ms, p95 {1000 * self.percentile(95):.0f} ms\n"
            f"  CPU: {1000 * self.server_cpu / self.answers:.1f} ms an answer by the servers, "
            f"{1000 * self.people_cpu / self.answers:.1f} ms by the simulated people; "
            f"load average before: {self.load:.1f}"
        )


async def measure(
    what: str,
    *,
    browsers: Sequence[Browser],
    work: Sequence[Work],
    servers: Sequence[int],
    pause: float = 0.0,
    longest: float = LONGEST,
) -> Measured:
    """Let all people work at the same time, each with their own browser, already signed in.

    ``servers`` are the processes whose CPU time counts, each with its children.
    """
    load = os.getloadavg()[0]
    before = sum(browser.requests for browser in browsers)
    cpu, server_cpu = _cpu(), sum(map(cpu_of_tree, servers))
    start = time.monotonic()
    clocks = [Clock(pause, random.Random(number), start + longest) for number in range(len(work))]
    await asyncio.gather(*(person(clock) for person, clock in zip(work, clocks, strict=True)))
    seconds = max(clock.latest for clock in clocks) - start
    people_cpu, server_cpu = _cpu() - cpu, sum(map(cpu_of_tree, servers)) - server_cpu
    took = [one for clock in clocks for one in clock.took]
    requests = sum(browser.requests for browser in browsers) - before
    return Measured(what, len(took), requests, seconds, took, people_cpu, server_cpu, load)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
