"""Clustered bootstrap of all agreement coefficients against a loop over scikit-learn's Cohen's kappa.

    python -m tests.benchmarks.bench_bootstrap

33 LLM judges, 4,423 pairs of 25 queries, 2,000 resamples of whole queries. Ours is timed in full and computes every
coefficient on the scale and on each binarisation. The loop computes Cohen's kappa alone, for a few resamples of a few
judges, and is extrapolated in proportion.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import cohen_kappa_score

from judging.measures.agreement import panel
from tests.measures.conftest import DATA, load_llmjudge

SCALE = (0, 1, 2, 3)
RESAMPLES = 2_000
TIMED_RESAMPLES = 20
TIMED_JUDGES = 5


def seconds(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def loop(people: np.ndarray, judges: list[np.ndarray], members: list[np.ndarray]) -> None:
    random = np.random.default_rng(0)
    for llm in judges:
        for _ in range(TIMED_RESAMPLES):
            drawn = np.concatenate([members[i] for i in random.integers(0, len(members), len(members))])
            cohen_kappa_score(people[drawn], llm[drawn])


def main() -> None:
    if not (DATA / "llmjudge").is_dir():
        sys.exit(f"Skipped: the collection llmjudge is not in {DATA} (set UNJUDGED_DATA).")
    collection = load_llmjudge(DATA / "llmjudge")
    judges = [collection.llm(run) for run in collection.runs]
    queries = np.array(collection.queries)
    members = [np.flatnonzero(queries == query) for query in np.unique(queries)]

    def ours() -> None:
        for llm in judges:
            panel(collection.people, llm, grades=SCALE, clusters=queries, resamples=RESAMPLES)

    ours_took = min(seconds(ours) for _ in range(3))
    timed = seconds(lambda: loop(collection.people, judges[:TIMED_JUDGES], members))
    loop_takes = timed * (len(judges) / TIMED_JUDGES) * (RESAMPLES / TIMED_RESAMPLES)
    shown = panel(collection.people, judges[0], grades=SCALE)
    coefficients = len(shown.graded) + sum(len(binary) for binary in shown.binary.values())

    print(f"{len(judges)} judges × {len(queries):,} pairs of {len(members)} queries, {RESAMPLES:,} resamples")
    print(f"panel: {coefficients} coefficients with intervals   {ours_took:10.2f} s (measured, best of 3)")
    print(f"scikit-learn, Cohen's kappa only        {loop_takes:10.2f} s (extrapolated from {timed:.2f} s for")
    print(f"{'':51} {TIMED_JUDGES} judges × {TIMED_RESAMPLES} resamples)")
    print(f"ratio: {loop_takes / ours_took:,.0f} times as fast, with {coefficients} coefficients against 1")


if __name__ == "__main__":
    main()
