"""Importing a million short documents and exporting a million judgments, by the commands, on SQLite and PostgreSQL.

    python -m tests.benchmarks.bench_import [--documents 1000000] [--judgments 1000000] [--on sqlite postgresql]
        [--only judgments]

Each command is a process of its own, whose wall time, processor time (its own; a PostgreSQL server's is not in it) and
peak resident memory are reported. The floor is the plainest loop over ``json.loads`` that reads the same file in the
same run and keeps nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.services import postgres_server

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS_A_QUERY = 100
PARTS = ["corpus", "judgments"]
LOOP = "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    json.loads(line)"


@dataclass(frozen=True, slots=True)
class Cost:
    wall: float
    cpu: float
    peak: float
    """MiB"""


@dataclass(frozen=True, slots=True)
class Made:
    """The files to be imported; ``others`` are the labels with each grade turned."""

    documents: int
    judgments: int
    beir: Path
    labels: Path
    others: Path


def make(folder: Path, documents: int, judgments: int) -> Made:
    """A corpus of 20 to 60 words a document, queries with one judged document each, and an LLM's labels."""
    random = Random(0)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 10))) for _ in range(20_000)]
    beir = folder / "million"
    (beir / "qrels").mkdir(parents=True)
    with (beir / "corpus.jsonl").open("w") as stream:
        for number in range(documents):
            text = " ".join(random.choices(words, k=random.randint(20, 60)))
            stream.write(json.dumps({"_id": f"d{number}", "title": words[number % 20_000], "text": text}) + "\n")
    queries = max(judgments // DOCUMENTS_A_QUERY, 1)
    with (beir / "queries.jsonl").open("w") as stream:
        stream.writelines(json.dumps({"_id": f"q{n}", "text": words[n % 20_000]}) + "\n" for n in range(queries))
    with (beir / "qrels" / "test.tsv").open("w") as stream:
        stream.writelines(f"q{n}\td{random.randrange(documents)}\t1\n" for n in range(queries))
    labels, others = folder / "labels.jsonl", folder / "others.jsonl"
    for file, turn in ((labels, 0), (others, 1)):
        with file.open("w") as stream:
            stream.writelines(_label(number, (number + turn) % 2, documents) for number in range(judgments))
    return Made(documents, judgments, beir, labels, others)


def _label(number: int, grade: int, documents: int) -> str:
    query, document = number // DOCUMENTS_A_QUERY, (number * 7_919) % documents
    row = {"query": f"q{query}", "document": f"d{document}", "grade": grade, "raw": str(grade)}
    return json.dumps({**row, "probabilities": {"0": 0.25, "1": 0.75}}) + "\n"


def cost_of(command: list[object], environment: dict[str, str]) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *map(str, command)], cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def report(what: str, records: int, cost: Cost, floor: Cost) -> None:
    print(
        f"  {what:44} {records / cost.wall:10,.0f}/s {cost.wall:7.1f} s wall {cost.cpu:7.1f} s cpu "
        f"{cost.peak:6,.0f} MiB {cost.cpu / floor.cpu:6.1f} × floor (cpu)",
        flush=True,
    )


@contextmanager
def database(kind: str, folder: Path) -> Iterator[dict[str, str]]:
    if kind == "sqlite":
        yield {"DATABASE_URL": f"sqlite:///{folder / 'million.sqlite3'}"}
        return
    with postgres_server(durable=True) as url:
        yield {"DATABASE_URL": url}


def measure(kind: str, folder: Path, made: Made, *, parts: list[str]) -> None:
    print(kind, flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-var-") as var, database(kind, Path(var)) as where:
        environment = {**where, "VAR_DIR": var, "DJANGO_SETTINGS_MODULE": "annotator.settings"}
        cost_of(["manage.py", "migrate", "-v0"], environment)
        brought = cost_of(["manage.py", "import_beir", made.beir], environment)
        if "corpus" in parts:
            measure_corpus(folder / f"{kind}.zip", made, brought, environment)
        if "judgments" in parts:
            measure_judgments(folder / kind, made, environment)


def measure_corpus(file: Path, made: Made, brought: Cost, environment: dict[str, str]) -> None:
    loop = cost_of(["-c", LOOP, made.beir / "corpus.jsonl"], {})
    report("floor: json.loads over corpus.jsonl", made.documents, loop, loop)
    report("import_beir", made.documents, brought, loop)
    replaced = cost_of(["manage.py", "import_beir", made.beir, "--replace"], environment)
    report("import_beir --replace, nothing changed", made.documents, replaced, loop)
    export = cost_of(["manage.py", "export_qrels", "million", "--out", file, "--layout", "beir"], environment)
    report("export_qrels --layout beir into a zip", made.documents, export, loop)


def measure_judgments(folder: Path, made: Made, environment: dict[str, str]) -> None:
    loop = cost_of(["-c", LOOP, made.labels], {})
    report("floor: json.loads over the judgments", made.judgments, loop, loop)

    def brought(what: str, file: Path, judge: str, kind: str, *options: str) -> None:
        command = ["manage.py", "import_judgments", "million", file, "--judge", judge, "--kind", kind, *options]
        report(f"import_judgments{what}", made.judgments, cost_of(command, environment), loop)

    brought("", made.labels, "llm", "llm")
    brought(", the same again", made.labels, "llm", "llm")
    for form in ("jsonl", "csv", "parquet"):
        target = ["--out", folder / form, "--judgments", form, "--llm", "llm"]
        written = cost_of(["manage.py", "export_qrels", "million", *target], environment)
        report(f"export_qrels --llm, judgments.{form}", made.judgments, written, loop)
    for form in ("jsonl", "csv", "parquet"):
        brought(f", exported judgments.{form}", folder / form / f"judgments.{form}", form, "llm")
    brought(", a person's", made.labels, "ada", "person")
    brought(" --replace, every grade changed", made.others, "ada", "person", "--replace")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="what to measure; all unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-import-") as name:
        folder = Path(name)
        made = make(folder, options.documents, options.judgments)
        print(f"{options.documents:,} documents in {(made.beir / 'corpus.jsonl').stat().st_size / 2**20:,.0f} MiB")
        for kind in options.on:
            measure(kind, folder, made, parts=options.only)


if __name__ == "__main__":
    main()
