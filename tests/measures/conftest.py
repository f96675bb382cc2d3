from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

DATA = Path(os.environ.get("UNJUDGED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@dataclass(frozen=True)
class LLMJudge:
    """4,423 pairs of 25 queries, graded by people and by 33 LLM runs."""

    folder: Path
    pairs: list[tuple[str, str]]
    people: np.ndarray

    @property
    def queries(self) -> list[str]:
        return [query for query, _ in self.pairs]

    @property
    def runs(self) -> list[str]:
        return sorted(path.name.removesuffix(".txt.gz") for path in (self.folder / "llm").glob("*.txt.gz"))

    def llm(self, run: str) -> np.ndarray:
        with gzip.open(self.folder / "llm" / f"{run}.txt.gz", "rt", encoding="utf-8") as lines:
            fields = [line.split() for line in lines]
        grades = {(query, document): float(grade) for query, _, document, grade in fields}
        return np.array([grades.get(pair, np.nan) for pair in self.pairs])


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"the collection {name} is not in {DATA} (set UNJUDGED_DATA)")
    return DATA / name


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def load_llmjudge(llmjudge: Path) -> LLMJudge:
    qrels = read_qrels(llmjudge / "qrels" / "test.tsv")
    graded = {(query, document): grade for query, grades in qrels.items() for document, grade in grades.items()}
    return LLMJudge(llmjudge, list(graded), np.array(list(graded.values()), dtype=float))


@pytest.fixture(scope="session")
def llmjudge() -> LLMJudge:
    return load_llmjudge(folder("llmjudge"))


@pytest.fixture(scope="session")
def dl19() -> Path:
    return folder("dl19")
