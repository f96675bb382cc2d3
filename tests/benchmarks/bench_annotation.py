"""Fifty people judging at once: "save and show the next" here, against Label Studio and doccano.

    python -m tests.benchmarks.bench_annotation [--peers FOLDER]

2,000 pairs with an overlap of 2, so 4,000 answers, by 50 people who are signed in before the clock starts and answer
without a pause (or after ``--pause`` seconds of reading). All servers listen on this machine alone, one after the other,
each with its own defaults. FOLDER holds virtual environments ``label-studio`` and ``doccano``:

    python3.11 -m venv FOLDER/label-studio && FOLDER/label-studio/bin/pip install label-studio
    python3.10 -m venv FOLDER/doccano && FOLDER/doccano/bin/pip install doccano
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.benchmarks.annotation import ours
from tests.benchmarks.annotation.load import Measured
from tests.benchmarks.annotation.texts import make_texts
from tests.services import ServiceMissing


def main() -> None:
    options = _options()
    texts = make_texts(options.pairs)
    print(
        f"{options.people} people, {options.pairs:,} pairs, overlap {options.overlap}, {options.pause:g} s of reading; "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    )
    measured: dict[str, Measured] = {}
    if "unjudged" in options.only:
        try:
            measured["unjudged"] = ours.run(texts, people=options.people, overlap=options.overlap, pause=options.pause)
        except ServiceMissing as missing:
            sys.exit(f"Skipped: {missing}")
        print(measured["unjudged"], flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peers", type=Path, help="folder with the virtual environments label-studio and doccano")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--overlap", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that people read before they answer")
    parser.add_argument(
        "--only", nargs="+", choices=["unjudged", "label-studio", "doccano"], default=["unjudged", "label-studio", "doccano"]
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
