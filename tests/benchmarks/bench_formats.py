"""Reading and writing a million records against the plainest loop over json.loads: records a second, peak memory.

    python -m tests.benchmarks.bench_formats [--records 1000000]

Each case runs in a process of its own, whose peak resident memory is what is reported. The loops are the floor, and
check nothing: no UTF-8 but json's, no ids that come twice, no columns.
"""

from __future__ import annotations

import argparse
import collections
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path

from judging.formats.beir import read_documents, read_qrels
from judging.formats.judgments import FORMS, read_judgments
from judging.formats.records import JudgmentLine
from judging.formats.trec import read_run

TEXT = "the quick brown fox jumps over the lazy dog and runs through the field to reach the river bank by noon "


def make(folder: Path, records: int) -> None:
    with (folder / "corpus.jsonl").open("w") as stream:
        for n in range(records):
            row = {"_id": f"doc-{n:09}", "title": f"Document {n}", "text": f"{TEXT * 3}{n}", "metadata": {}}
            stream.write(json.dumps(row) + "\n")
    with (folder / "qrels.tsv").open("w") as stream:
        stream.write("query-id\tcorpus-id\tscore\n")
        stream.writelines(f"q{n // 100}\tdoc-{n:09}\t{n % 4}\n" for n in range(records))
    with (folder / "run.txt").open("w") as stream:
        stream.writelines(f"q{n // 100} Q0 doc-{n:09} {n % 100 + 1} {50 - n % 100 / 7} x\n" for n in range(records))
    make_parquet(folder, records)


def make_parquet(folder: Path, records: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("_id", pa.string()), ("title", pa.string()), ("text", pa.string())])
    (folder / "corpus").mkdir()
    with parquet.ParquetWriter(folder / "corpus" / "test-00000-of-00001.parquet", schema) as writer:
        for start in range(0, records, 50_000):
            numbers = range(start, min(start + 50_000, records))
            columns = ([f"doc-{n:09}" for n in numbers], [f"Document {n}" for n in numbers])
            texts = [f"{TEXT * 3}{n}" for n in numbers]
            writer.write_table(pa.table([*columns, texts], schema=schema))


def judgments(records: int) -> Iterable[JudgmentLine]:
    now = datetime(2026, 1, 31, tzinfo=UTC)
    for n in range(records):
        yield JudgmentLine(
            f"q{n // 100}",
            f"doc-{n:09}",
            "graded",
            n % 4,
            {0: 0.25, 1: 0.75},
            raw=str(n % 4),
            seconds=1.5,
            judge="phi",
            kind="llm",
            fingerprint="f1f1f1f1",
            created_at=now,
            updated_at=now,
        )


def consume(records: Iterable[object]) -> None:
    collections.deque(records, maxlen=0)


def loop_json(folder: Path, _: int) -> None:
    with (folder / "corpus.jsonl").open() as stream:
        for line in stream:
            row = json.loads(line)
            row["_id"], row["title"], row["text"]


def loop_json_dict(folder: Path, _: int) -> None:
    """As BEIR's own loader keeps a corpus."""
    corpus = {}
    with (folder / "corpus.jsonl").open() as stream:
        for line in stream:
            row = json.loads(line)
            corpus[row["_id"]] = {"text": row["text"], "title": row["title"]}


def parquet_documents(folder: Path, _: int) -> None:
    from judging.formats.parquet_folder import read_documents as read

    consume(read(sorted((folder / "corpus").iterdir())))


def write(kind: str) -> Callable[[Path, int], None]:
    def run(folder: Path, records: int) -> None:
        with (folder / f"judgments.{kind}").open("wb") as stream:
            stream.writelines(FORMS[kind](judgments(records)))

    return run


def read(kind: str) -> Callable[[Path, int], None]:
    return lambda folder, _: consume(read_judgments(folder / f"judgments.{kind}", warn=print))


def documents_with_progress(folder: Path, _: int) -> None:
    sizes: list[int] = []
    consume(read_documents(folder / "corpus.jsonl", progress=sizes.append))
    assert sum(sizes) == (folder / "corpus.jsonl").stat().st_size


CASES: dict[str, Callable[[Path, int], None]] = {
    "corpus.jsonl, loop over json.loads": loop_json,
    "corpus.jsonl, the same kept in a dict": loop_json_dict,
    "corpus.jsonl, read_documents": lambda folder, _: consume(read_documents(folder / "corpus.jsonl")),
    "corpus.jsonl, read_documents with progress": documents_with_progress,
    "corpus/*.parquet, read_documents": parquet_documents,
    "qrels.tsv, read_qrels": lambda folder, _: consume(read_qrels(folder / "qrels.tsv", warn=print)),
    "run.txt, read_run": lambda folder, _: consume(read_run(folder / "run.txt")),
    "the judgments themselves, made only": lambda _, records: consume(judgments(records)),
    **{f"judgments.{kind}, written": write(kind) for kind in FORMS},
    **{f"judgments.{kind}, read": read(kind) for kind in FORMS},
    "nothing, with these modules loaded": lambda _, records: consume(repeat(None, records)),
}


def measure(case: str, folder: Path, records: int) -> None:
    start = time.perf_counter()
    CASES[case](folder, records)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{case:45} {records / took:12,.0f} records/s {took:7.2f} s {peak:7,.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--case")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.case:
        measure(options.case, options.folder, options.records)
        return
    with tempfile.TemporaryDirectory() as folder:
        make_in = [sys.executable, "-c"]
        code = f"from tests.benchmarks.bench_formats import *; make(Path({folder!r}), {options.records})"
        subprocess.run([*make_in, code], check=True)
        command = [sys.executable, "-m", "tests.benchmarks.bench_formats", "--records", str(options.records)]
        for case in CASES:
            subprocess.run([*command, "--folder", folder, "--case", case], check=True)


if __name__ == "__main__":
    main()
