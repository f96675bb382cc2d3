from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from judging.models import Collection, Document, Hit, Judge, Judgment, JudgmentEvent, Pair, Pool, Query, Run

CORPUS = {
    "d1": ("Wing flutter", "Flutter of a thin wing in supersonic flow."),
    "d2": ("", "Heat transfer at the nose of a blunt body."),
    "d3": ("Boundary layers", "The boundary layer on a flat plate, laminar and turbulent."),
    "d4": ("Flutter again", "Panel flutter, measured in a wind tunnel."),
    "d5": ("", "Heat transfer at the nose of a blunt body."),
    "d6": ("Nothing", "Cooking with gas."),
}
QUERIES = {"q1": "wing flutter", "q2": "heat transfer of a blunt body", "q3": "boundary layer flow over a body"}
QRELS = {("q1", "d1"): 1, ("q2", "d2"): 1, ("q3", "d3"): 1}


def write_beir(folder: Path) -> Path:
    """A collection of six documents and three queries in BEIR's layout."""
    (folder / "qrels").mkdir(parents=True)
    documents = ({"_id": docid, "title": title, "text": text} for docid, (title, text) in CORPUS.items())
    queries = ({"_id": qid, "text": text} for qid, text in QUERIES.items())
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [
        "query-id\tcorpus-id\tscore",
        *(f"{query}\t{document}\t{grade}" for (query, document), grade in QRELS.items()),
    ]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    return write_beir(tmp_path / "cran")


@pytest.fixture
def run(db: None) -> Callable[..., str]:
    """Give a command as in the shell; what it says."""

    def give(*command: object) -> str:
        said = io.StringIO()
        call_command(*map(str, command), stdout=said, stderr=said)
        return said.getvalue()

    return give


@pytest.fixture
def refused(run: Callable[..., str]) -> Callable[..., str]:
    """Give a command that a user mistook; its message. Nothing of it may be left in the database."""

    def give(*command: object) -> str:
        before = everything()
        with pytest.raises(CommandError) as caught:
            run(*command)
        assert everything() == before
        return str(caught.value)

    return give


def everything() -> dict[str, list[tuple[object, ...]]]:
    models = (Collection, Document, Query, Run, Hit, Judge, Judgment, JudgmentEvent, Pool, Pair)
    return {model.__name__: list(model.objects.order_by("pk").values_list()) for model in models}
