"""Imports tell how far they are, in bytes and in records, to who sits at a terminal and to nobody else."""

from __future__ import annotations

import functools
import gzip
import io
import sys
import zipfile

import pytest
from tqdm import tqdm

from judging.formats.collection import open_collection_files
from judging.management import base
from judging.management.base import StepCommand


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def sit_down(monkeypatch):
    """Called in the test itself, for pytest puts its own stderr in place before that."""

    def sit(terminal: io.StringIO) -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", terminal)
        # Every report is shown, as those of a long file would be.
        monkeypatch.setattr(base, "tqdm", functools.partial(tqdm, mininterval=0))
        return terminal

    return sit


def reading(tell):
    for number in range(3):
        yield number
        tell(1_000)


def test_a_terminal_sees_bytes_of_all_bytes_and_records(sit_down):
    terminal = sit_down(Terminal())
    assert list(StepCommand().meter(reading, 3_000, "documents")) == [0, 1, 2]
    shown = terminal.getvalue()
    assert "2.00k/3.00k" in shown
    assert "2 documents]" in shown
    assert "3 documents]" in shown


def test_of_records_without_bytes_the_records_are_counted(sit_down):
    terminal = sit_down(Terminal())
    assert list(StepCommand().meter(reading, 0, "documents")) == [0, 1, 2]
    assert "documents: 3it" in terminal.getvalue()


def test_nobody_else_sees_anything(sit_down):
    pipe = sit_down(io.StringIO())
    assert list(StepCommand().meter(reading, 3_000, "documents")) == [0, 1, 2]
    assert pipe.getvalue() == ""


@pytest.mark.django_db
def test_an_import_at_a_terminal_shows_its_documents(sit_down, run, beir):
    terminal = sit_down(Terminal())
    run("import_beir", beir)
    size = (beir / "corpus.jsonl").stat().st_size
    assert f"{size}/{size}" in terminal.getvalue().replace(".00", "")
    assert " documents]" in terminal.getvalue()


@pytest.mark.parametrize("form", ["plain", "gz", "zip"])
def test_the_bytes_told_are_all_bytes_of_the_corpus(beir, tmp_path, form):
    corpus = beir / "corpus.jsonl"
    path = beir
    if form == "gz":
        (beir / "corpus.jsonl.gz").write_bytes(gzip.compress(corpus.read_bytes()))
        corpus.unlink()
    elif form == "zip":
        path = tmp_path / "cran.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in ("corpus.jsonl", "queries.jsonl"):
                archive.write(beir / file, file)
    files = open_collection_files(path)
    told: list[int] = []
    assert len(list(files.documents(progress=told.append))) == 6
    assert sum(told) == files.corpus_size() > 0
