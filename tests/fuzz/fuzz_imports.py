"""Imports damaged files of every kind: only ``UserError`` may come out, and then not a row may have changed.

    python -m tests.fuzz.fuzz_imports --files 20000 --seed 1

The files are those of ``fuzz_formats``, each in the place where an import takes it: as a part of a collection that is
new or replaces another, as a run, as judgments. On SQLite in a temporary folder, or where ``DATABASE_URL`` says
(``python -m tests.with_postgres python -m tests.fuzz.fuzz_imports``).
"""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

from judging.errors import UserError
from tests.fuzz.fuzz_formats import damaged
from tests.fuzz.seeds import CORPUS, CORPUS_PARQUET, QRELS, QRELS_PARQUET, QUERIES, QUERIES_PARQUET, SEEDS, Seed

IMPORTED = [seed for seed in SEEDS if seed.kind != "topics"]
SOUND = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS.encode()}
SOUND_PARQUET = {
    "corpus/test.parquet": CORPUS_PARQUET,
    "queries/test.parquet": QUERIES_PARQUET,
    "default/test.parquet": QRELS_PARQUET,
}
PLACES = {"corpus": "corpus/", "queries": "queries/", "qrels": "default/"}


def put(seed: Seed, data: bytes, folder: Path) -> Path:
    """The path to import: of a part of a collection the whole, in which all else is sound."""
    shutil.rmtree(folder, ignore_errors=True)
    if seed.kind not in PLACES or seed.name == "qrels.txt":
        files = {seed.name: data}
    elif seed.name.endswith(".parquet"):
        files = SOUND_PARQUET | {f"{PLACES[seed.kind]}test.parquet": data}
    else:
        own = "qrels/test.tsv" if seed.kind == "qrels" else seed.name
        files = {name: content for name, content in SOUND.items() if not own.startswith(name)} | {own: data}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / seed.name if len(files) == 1 else folder


def bring_in(seed: Seed, path: Path, number: int) -> None:
    """Import as its command does; every other collection replaces the one that is there."""
    from judging.models import Collection
    from judging.steps.import_collection import import_beir
    from judging.steps.import_judgments import import_judgments
    from judging.steps.import_run import import_run

    there = Collection.objects.get(slug="there")
    if seed.kind == "run":
        import_run(collection=there, path=path)
    elif seed.kind == "judgments" or seed.name == "qrels.txt":
        import_judgments(collection=there, path=path, judge="phi", kind="llm")
    else:
        replaces = number % 2 == 0
        import_beir(path=path, name="there" if replaces else "new", replace=replaces)


def everything() -> dict[str, list[tuple[object, ...]]]:
    from judging import models

    kept = (models.Collection, models.Document, models.Query, models.Judge, models.Judgment, models.JudgmentEvent)
    return {
        model.__name__: list(model.objects.order_by("pk").values_list()) for model in (*kept, models.Run, models.Hit)
    }


class _UndoneError(Exception):
    """Takes back what was imported."""


def fault(seed: Seed, path: Path, number: int, before: object) -> str:
    """What rule the file breaks; empty where all is well. What it brought in is taken back."""
    from django.db import transaction

    try:
        with transaction.atomic():
            try:
                bring_in(seed, path, number)
            except UserError as error:
                if everything() != before:
                    return f"something changed, though: {error}"
            raise _UndoneError
    except _UndoneError:
        return ""
    except Exception:  # noqa: BLE001 (what else comes out is what is looked for)
        return traceback.format_exc()


def fuzz(
    files: int, seed: int, folder: Path, *, tell: Callable[[str], None] = print
) -> tuple[collections.Counter[str], list[str]]:
    """How many files of each kind were imported, and the faults found."""
    from judging.steps.import_collection import import_beir

    import_beir(path=put(IMPORTED[0], CORPUS, folder / "sound"), name="there")
    before = everything()
    counts: collections.Counter[str] = collections.Counter()
    faults = []
    for number in range(files):
        kind = IMPORTED[number % len(IMPORTED)]
        path = put(kind, damaged(kind, Random(f"{seed} {number}")), folder / "damaged")
        counts[kind.name] += 1
        if found := fault(kind, path, number, before):
            kept = folder / f"{number}-{kind.name}"
            shutil.move(path, kept)
            faults.append(f"file {number} ({kept}): {found}")
            tell(faults[-1])
    return counts, faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-imports-"))
    os.environ["VAR_DIR"] = str(folder / "var")
    os.environ["DJANGO_SETTINGS_MODULE"] = "annotator.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    start = time.perf_counter()
    counts, faults = fuzz(options.files, options.seed, folder)
    took = time.perf_counter() - start
    print(f"{counts.total():,} files of {len(counts)} kinds in {took:.0f} s: {len(faults)} faults ({folder})")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
