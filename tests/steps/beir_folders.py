"""Small BEIR folders, and what became of them."""

from __future__ import annotations

import json
from pathlib import Path

from judging.models import Judgment

CORPUS = {"d1": "wings", "d2": "floors", "d3": "captains"}
QUERIES = {"q1": "who flew", "q2": "what cost"}
QRELS = {"test": ["q1\td1\t1", "q2\td2\t1"]}


def write(folder: Path, *, corpus=CORPUS, queries=QUERIES, qrels=QRELS) -> Path:
    """A BEIR folder; a value of ``corpus`` or ``queries`` is a text or a whole row, a list is lines as they are."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text(_lines(corpus), encoding="utf-8")
    (folder / "queries.jsonl").write_text(_lines(queries), encoding="utf-8")
    for split, lines in qrels.items():
        (folder / f"qrels/{split}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]) + "\n")
    return folder


def _lines(rows) -> str:
    if isinstance(rows, list):
        return "".join(f"{line}\n" for line in rows)
    whole = ({"_id": key, **(row if isinstance(row, dict) else {"text": row})} for key, row in rows.items())
    return "".join(json.dumps(row) + "\n" for row in whole)


def texts(collection):
    return dict(collection.documents.values_list("docid", "text"))


def original(collection):
    rows = Judgment.objects.original(collection)
    return {(q, d): grade for q, d, grade in rows.values_list("query__qid", "document__docid", "grade")}
