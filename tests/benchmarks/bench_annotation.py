"""Fifty people judging at once: "save and show the next" here, against Label Studio and doccano.

    python -m tests.benchmarks.bench_annotation [--peers FOLDER]

2,000 pairs with an overlap of 2, so 4,000 answers, by 50 people who are signed in before the clock starts. Two figures:

- How many answers a second: everybody answers at once, without a pause. That is no judging, but the most a server can
  do, and what the products are compared by. Times there are those of a queue of 50.
- How long one waits for "save and show the next": everybody reads for ``--reading`` seconds on average (2, from half to
  one and a half of it: faster than people who judge) for ``--reading-for`` seconds, on a second pool. Only ours: the
  others do not get through so many.

After both a count in the database must show every answer once, as it was sent, and no overlap exceeded.

All servers listen on this machine alone, one after the other, each with its own defaults. FOLDER holds virtual
environments ``label-studio`` and ``doccano``:

    python3.11 -m venv FOLDER/label-studio && FOLDER/label-studio/bin/pip install label-studio
    python3.10 -m venv FOLDER/doccano && FOLDER/doccano/bin/pip install doccano "marshmallow<4" "numpy<2"

(doccano 1.8.4 leaves the two open and does not start with the newest). Without FOLDER only ours is measured.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.annotation import doccano, label_studio, ours
from tests.benchmarks.annotation.load import Measured
from tests.benchmarks.annotation.texts import make_texts
from tests.services import ServiceMissingError


def main() -> None:
    # Told to end, the servers are ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))
    options = _options()
    texts = make_texts(options.pairs)
    print(
        f"{options.people} people, {options.pairs:,} pairs, overlap {options.overlap}; "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    size = {"people": options.people, "overlap": options.overlap}
    peers: dict[str, Callable[[Path], Measured]] = {
        "label-studio": lambda folder: label_studio.run(folder, texts, **size),
        "doccano": lambda folder: doccano.run(folder, texts, as_page=False, **size),
        "doccano-page": lambda folder: doccano.run(folder, texts, as_page=True, **size),
    }
    measured: dict[str, Measured] = {}
    if "unjudged" in options.only:
        try:
            measured["unjudged"], reading = ours.run(
                texts, reading=options.reading, reading_for=options.reading_for, **size
            )
        except ServiceMissingError as missing:
            sys.exit(f"Skipped: {missing}")
        waited = 1000 * reading.percentile(95)
        print(f"Unjudged: p95 of save and show the next, people reading: {waited:.0f} ms (goal: under 100 ms)")
    for name, run in peers.items():
        folder = options.peers / name.removesuffix("-page") if options.peers else None
        if name not in options.only or folder is None:
            continue
        if not folder.is_dir():
            print(f"{name}: not measured, for {folder} is not there")
            continue
        measured[name] = run(folder)
        print(measured[name], flush=True)
    if ours_measured := measured.pop("unjudged", None):
        for other in measured.values():
            ratio = ours_measured.answers_per_second / other.answers_per_second
            print(f"Unjudged: {ratio:.1f} times the answers per second of {other.what} (goal: at least 5)")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peers", type=Path, help="folder with the virtual environments label-studio and doccano")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--overlap", type=int, default=2)
    parser.add_argument("--reading", type=float, default=2.0, help="seconds that people read on average")
    parser.add_argument("--reading-for", type=float, default=60.0, help="seconds for which they do so")
    names = ["unjudged", "label-studio", "doccano", "doccano-page"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    return parser.parse_args()


if __name__ == "__main__":
    main()
