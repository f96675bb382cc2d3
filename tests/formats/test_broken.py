"""Files that are broken in one way each, in ``broken/``; ``broken.tsv`` says which error each must give."""

from pathlib import Path

import pytest

from judging.errors import UserError
from judging.formats.check import check
from judging.formats.kind import KINDS
from tests.fuzz.fuzz_formats import read_all

FOLDER = Path(__file__).parent / "broken"
TABLE = dict(
    row.split("\t", 1) for row in (FOLDER.parent / "broken.tsv").read_text(encoding="utf-8").split("\n") if row
)


def kind_of(name: str) -> str | None:
    """What the file was meant to be, None for a whole collection."""
    kind = name.partition("-")[0]
    return None if kind == "zip" else kind if kind in KINDS else "qrels"


def test_every_broken_file_has_its_error_in_the_table():
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_broken_file_is_refused_with_place_expectation_and_finding(name, monkeypatch):
    monkeypatch.chdir(FOLDER)
    with pytest.raises(UserError) as caught:
        read_all(Path(name), kind_of(name))
    assert str(caught.value) == TABLE[name]


@pytest.mark.parametrize("name", TABLE)
def test_the_check_says_what_the_reader_says_and_splits_it(name, monkeypatch):
    monkeypatch.chdir(FOLDER)
    report = check(Path(name), kind=kind_of(name))
    assert not report.ok
    problem = report.problems[0]
    assert problem.message == TABLE[name]
    assert problem.expected
    assert problem.found
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    assert TABLE[name].startswith(f"{place}: ")
