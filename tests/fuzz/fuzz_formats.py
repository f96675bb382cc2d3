"""Damages valid files of every kind in all sorts of ways and reads them: only ``UserError`` may come out.

    python -m tests.fuzz.fuzz_formats --files 20000 --seed 1

Each damaged file is read as an import reads it, and checked. The check must not raise anything, must find errors where
the reader raised one, and none where it did not, and the first must be the reader's. A file that breaks a rule is kept,
and its name, seed and number are printed; ``--only NUMBER`` makes and reads that one again.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

from judging.errors import UserError
from judging.formats import parquet_folder
from judging.formats.beir import BeirFolder, read_documents, read_queries
from judging.formats.check import check
from judging.formats.judgments import read_all_judgments, read_judgments
from judging.formats.kind import is_parquet
from judging.formats.qrels import read_any_qrels
from judging.formats.topics import read_topics
from judging.formats.trec import read_run
from tests.fuzz.seeds import SEEDS, Seed, packed

HUGE = [
    b"9" * 30,
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"0.5",
    b"nan",
    b"inf",
    b"1_0",
    b"",
    b"-32769",
    b"\xd9\xa3",
]
BYTES = [
    b"\0",
    b"\xff",
    b"\xe9",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\\u0000",
    b"\\ud800",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b'"',
    b"'",
    b",",
    b"{",
    b"}",
    b"<top>",
    b"</top>",
    b"<num>",
    b"\x0c",
    "\u2028".encode(),
    "\x85".encode(),
    b"null",
    b"[]",
]
SEPARATORS = [b"\t", b" ", b",", b";", b"\n", b"\r\n", b"\r", b":", b'"', b"  "]


def flip_bits(data: bytes, random: Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def truncate(data: bytes, random: Random) -> bytes:
    cut = random.randrange(len(data))
    return data[:cut] if random.random() < 0.8 else data[cut:]


def insert(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(BYTES) + data[at + random.choice((0, 0, 1)) :]


def change_lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    change = random.randrange(5)
    if change == 0:
        del lines[at]
    elif change == 1:
        lines.insert(other, lines[at])
    elif change == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif change == 3:
        lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
    else:
        lines[at] += lines[other]
    return b"\n".join(lines)


def change_numbers(data: bytes, random: Random) -> bytes:
    numbers = list(re.finditer(rb"[0-9]+", data))
    if not numbers:
        return data + b"1"
    found = random.choice(numbers)
    return data[: found.start()] + random.choice(HUGE) + data[found.end() :]


def change_separators(data: bytes, random: Random) -> bytes:
    old, new = random.sample(SEPARATORS, 2)
    return data.replace(old, new, random.choice((1, 2, -1)))


def recode(data: bytes, random: Random) -> bytes:
    text = data.decode(errors="replace")
    encoding = random.choice(("utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-7", "cp1252"))
    return text.encode(encoding, errors="replace")


def swap_bytes(data: bytes, random: Random) -> bytes:
    """Of the pieces of a binary file: what stands in one place is copied over another."""
    size = random.choice((1, 4, 16))
    at, other = random.randrange(len(data)), random.randrange(len(data))
    return data[:at] + data[other : other + size] + data[at + size :]


ANY = [flip_bits, truncate, insert, swap_bytes]
TEXT = [*ANY, change_lines, change_lines, change_numbers, change_numbers, change_separators, recode]


def damaged(seed: Seed, random: Random) -> bytes:
    """The seed's bytes after one to three changes; of packed files, before or after packing."""
    data = seed.data
    if seed.pack and random.random() < 0.5:
        return random.choice(ANY)(packed(data, seed.pack), random)
    for _ in range(random.choice((1, 1, 2, 3))):
        data = random.choice(TEXT if seed.is_text else ANY)(data, random) or b"x"
    return packed(data, seed.pack)


def _drop(text: str) -> None:
    """A warning."""


def read_all(path: Path, kind: str | None) -> None:
    """As an import reads it: UserError at the first mistake."""
    if kind is None:
        folder = BeirFolder(path)
        for split in folder.splits():
            collections.deque(folder.qrels(split, warn=_drop), maxlen=0)
        collections.deque(folder.documents(), maxlen=0)
        collections.deque(folder.queries(), maxlen=0)
        return
    collections.deque(READERS[kind, is_parquet(path)](path), maxlen=0)


READERS: dict[tuple[str, bool], Callable[[Path], collections.abc.Iterator[object]]] = {
    ("corpus", False): read_documents,
    ("queries", False): read_queries,
    ("topics", False): read_topics,
    ("qrels", False): lambda path: read_any_qrels(path, warn=_drop),
    ("run", False): read_run,
    ("judgments", False): lambda path: read_all_judgments(path, warn=_drop),
    ("corpus", True): lambda path: parquet_folder.read_documents([path]),
    ("queries", True): lambda path: parquet_folder.read_queries([path]),
    ("qrels", True): lambda path: parquet_folder.read_qrels([path], warn=_drop),
    ("judgments", True): lambda path: read_all_judgments(path, warn=_drop),
}


def fault(path: Path, kind: str | None) -> str:
    """What rule the file breaks; empty where all is well."""
    raised = ""
    try:
        read_all(path, kind)
    except UserError as error:
        raised = str(error)
    except Exception:  # noqa: BLE001 (what else comes out is what is looked for)
        return f"the reader raised\n{traceback.format_exc()}"
    try:
        report = check(path, kind=kind)
        check(path)
        if kind == "judgments":
            collections.deque(read_judgments(path, warn=_drop, on_error=lambda _: None), maxlen=0)
    except UserError:
        return "" if kind == "judgments" and raised else f"the check raised\n{traceback.format_exc()}"
    except Exception:  # noqa: BLE001
        return f"the check raised\n{traceback.format_exc()}"
    first = report.problems[0].message if report.problems else ""
    if bool(raised) != bool(report.errors) or (kind and raised != first):
        return f"the reader said {raised!r}, the check {report.errors} errors, first {first!r}"
    return ""


def fuzz(files: int, seed: int, folder: Path, *, only: int | None = None) -> tuple[collections.Counter[str], list[str]]:
    """How many files of each kind were read with and without an error, and the faults found."""
    outcomes: collections.Counter[str] = collections.Counter()
    faults = []
    for number in range(files) if only is None else [only]:
        random = Random(f"{seed} {number}")
        kind = SEEDS[number % len(SEEDS)]
        path = folder / kind.name
        path.write_bytes(damaged(kind, random))
        found = fault(path, kind.kind)
        outcomes["fault" if found else "read"] += 1
        if found:
            kept = path.with_name(f"{number}-{kind.name}")
            path.rename(kept)
            faults.append(f"file {number} ({kept}): {found}")
    return outcomes, faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-formats-"))
    start = time.perf_counter()
    outcomes, faults = fuzz(options.files, options.seed, folder, only=options.only)
    for text in faults[:20]:
        print(text)
    took = time.perf_counter() - start
    print(f"{sum(outcomes.values()):,} files of {len(SEEDS)} kinds in {took:.0f} s: {len(faults)} faults ({folder})")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
