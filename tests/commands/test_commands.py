"""Every step from the shell: the whole path on a tiny collection, and what a command says of itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class

from judging.formats.beir import read_qrels
from judging.management.base import StepCommand
from judging.models import Collection, Judgment, Pool, Run
from judging.steps import serve
from judging.steps.judgments import Said
from tests.factories import make_llm, make_person

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted(name for name, app in get_commands().items() if app == "judging")


def manage(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "annotator.settings", "COLUMNS": "120", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# --- Help -------------------------------------------------------------------------------------------------------------


def test_there_is_a_command_for_each_arrow():
    assert {*OURS} >= {
        "agreement", "evaluate", "export_qrels", "import_beir", "import_judgments", "import_run", "index", "judge_rate",
        "open_pool", "prefill_llm", "rerank", "retrieve",
    }  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_help_says_what_the_command_does_and_shows_an_example(name, capsys):
    command = load_command_class("judging", name)
    assert isinstance(command, StepCommand)
    parser = command.create_parser("manage.py", name)
    text = parser.format_help()
    assert " ".join(command.help.split())[:40] in " ".join(text.split())
    assert text.rstrip().endswith(f"example:\n  python manage.py {command.example}")


@pytest.mark.parametrize("name", OURS)
def test_the_example_in_the_help_can_be_parsed(name):
    command = load_command_class("judging", name)
    words = re.findall(r'"[^"]*"|\S+', command.example)
    assert words[0] == name
    command.create_parser("manage.py", name).parse_args(words[1:])


def test_help_runs_from_the_shell(tmp_path):
    done = manage("import_beir", "--help", VAR_DIR=str(tmp_path))
    assert done.returncode == 0
    assert "python manage.py import_beir datasets/nfcorpus.zip --split test" in done.stdout


# --- The whole path ---------------------------------------------------------------------------------------------------


def labels(path: Path, grades: dict[tuple[str, str], int]) -> Path:
    path.write_text("".join(json.dumps({"query": q, "document": d, "grade": g}) + "\n" for (q, d), g in grades.items()))
    return path


def whole_path(run, beir: Path, tmp_path: Path, second: tuple[object, ...], runs: list[str]) -> Path:
    assert "cran: 6 documents, 3 queries" in run("import_beir", beir)
    assert "index of 6 documents is built" in run("index", "cran")
    assert "of 3 queries" in run("retrieve", "cran")
    assert runs[1] in run(*second)
    table = run("judge_rate", "cran")
    assert [line.split()[0] for line in table.splitlines()] == ["run", *runs]
    opened = run("open_pool", "cran", *[part for name in runs for part in ("--run", name)], "--depth", 2)
    assert "cran-holes:" in opened
    assert "passed over, duplicate of a judged document: " in opened
    pool = Pool.objects.get()
    pairs = list(pool.pairs.values_list("query__qid", "document__docid"))
    assert len(pairs) > 2
    by_person = labels(tmp_path / "ada.jsonl", {pair: number % 2 for number, pair in enumerate(pairs)})
    by_llm = labels(tmp_path / "llm.jsonl", dict.fromkeys(pairs, 1))
    assert f"{len(pairs)} judgments stored" in run(
        "import_judgments", "cran", by_person, "--judge", "ada", "--kind", "person"
    )
    assert f"{len(pairs)} judgments stored" in run(
        "import_judgments", "cran", by_llm, "--judge", "gpt", "--kind", "llm"
    )
    agreed = run("agreement", "cran-holes")
    assert f"{len(pairs)} of {len(pairs)} pairs judged by people" in agreed
    assert "raw agreement" in agreed
    assert f"cran: 3 original judgments, {3 + len(pairs) + 2} augmented" in run("evaluate", "cran")
    out = tmp_path / "out" / "augmented"
    assert f"{3 + len(pairs) + 2} judgments" in run("export_qrels", "cran", "--out", out)
    return out


def check_export(out: Path) -> None:
    warnings: list[str] = []
    qrels = {
        (row.query, row.document): row.grade
        for row in read_qrels(out / "qrels" / "augmented.tsv", warn=warnings.append)
    }
    assert not warnings
    assert {("q1", "d1"): 1, ("q2", "d2"): 1, ("q3", "d3"): 1}.items() <= qrels.items()
    assert qrels["q2", "d5"] == qrels["q2", "d2"]  # the same text
    assert qrels["q3", "d5"] == qrels["q3", "d2"]
    for judgment in Judgment.objects.by_people().select_related("query", "document"):
        assert qrels[judgment.query.qid, judgment.document.docid] == judgment.grade
    assert json.loads((out / "manifest.json").read_text())["counts"].keys() == {"qrels", "people", "duplicate"}


def test_the_whole_path_with_an_imported_run(run, beir, tmp_path):
    ranking = tmp_path / "mine.txt"
    ranking.write_text("q1 Q0 d4 1 2 me\nq1 Q0 d6 2 1 me\nq2 Q0 d5 1 2 me\nq2 Q0 d6 2 1 me\nq3 Q0 d4 1 1 me\n")
    out = whole_path(run, beir, tmp_path, ("import_run", "cran", ranking), ["bm25", "mine"])
    check_export(out)


@pytest.mark.models
def test_the_whole_path_with_the_reranker_that_is_installed_along(run, beir, tmp_path):
    name = "sentence-transformers/all-MiniLM-L6-v2"
    out = whole_path(run, beir, tmp_path, ("rerank", "cran", "--model", "embedded"), ["bm25", name])
    check_export(out)


def test_given_again_no_command_changes_anything(run, beir, tmp_path):
    from tests.commands.conftest import everything

    ranking = tmp_path / "mine.txt"
    ranking.write_text("q1 Q0 d4 1 2 me\n")
    theirs = labels(tmp_path / "ada.jsonl", {("q1", "d4"): 1})
    commands: list[tuple[object, ...]] = [
        ("import_beir", beir),
        ("index", "cran"),
        ("retrieve", "cran"),
        ("import_run", "cran", ranking),
        ("import_judgments", "cran", theirs, "--judge", "ada", "--kind", "person"),
        ("export_qrels", "cran", "--out", tmp_path / "out"),
    ]
    for command in commands:
        run(*command)
    before, files = everything(), {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    said = [run(*command) for command in commands]
    assert everything() == before
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == files
    assert ["nothing was changed" in text or "is there already" in text for text in said] == [True] * 5 + [False]


def test_an_export_may_take_an_llm_where_nobody_judged(run, beir, tmp_path):
    run("import_beir", beir)
    for name in ("first", "second"):
        run(
            "import_judgments",
            "cran",
            labels(tmp_path / f"{name}.jsonl", {("q1", "d4"): 1}),
            "--judge",
            name,
            "--kind",
            "llm",
        )
    policy = ("--llm", "second", "--format", "trec", "--no-expand-duplicates")
    said = run("export_qrels", "cran", "--out", tmp_path / "out", *policy)
    assert "llm: grade 1 × 1" in said
    assert (tmp_path / "out" / "qrels.trec").exists()
    assert not (tmp_path / "out" / "qrels").exists()


def test_the_same_run_named_twice_is_pooled_once(run, beir):
    run("import_beir", beir)
    run("index", "cran")
    run("retrieve", "cran")
    run("open_pool", "cran", "--run", "bm25", "--run", "bm25")
    assert list(Pool.objects.get().runs.values_list("name", flat=True)) == ["bm25"]


def test_options_reach_their_step(run, beir, tmp_path):
    scale = "0=Off, 1=Spot on"
    run(
        "import_beir",
        beir,
        "--name",
        "mine",
        "--scale",
        scale,
        "--relevant-from",
        1,
        "--language",
        "fr",
        "--exclude-self",
    )
    collection = Collection.objects.get()
    assert (collection.slug, collection.language, collection.exclude_self) == ("mine", "fr", True)
    assert [grade.word for grade in collection.scale] == ["Off", "Spot on"]
    run("index", "mine", "--engine", "tantivy", "--rebuild")
    run("retrieve", "mine", "--top", 1, "--name", "best")
    assert Run.objects.get().name == "best"
    assert not Run.objects.get().hits.filter(rank__gt=1).exists()
    guidelines = tmp_path / "guidelines.md"
    guidelines.write_text("Look twice.")
    (tmp_path / "more.txt").write_text("".join(f"q{n} Q0 d{6 - n} 1 1 x\n" for n in (1, 2, 3)))
    run("import_run", "mine", tmp_path / "more.txt", "--name", "more")
    run(
        "open_pool", "mine", "--run", "more", "--mode", "holes", "--depth", 1, "--queries", 2, "--seed", 7,
        "--people", 3, "--name", "my pool", "--guidelines", guidelines, "--hide-known",
    )  # fmt: skip
    pool = Pool.objects.get()
    assert (pool.slug, pool.mode, pool.depth, pool.seed, pool.people) == ("my-pool", "holes", 1, 7, 3)
    assert (pool.guidelines, pool.show_known, pool.queries_sampled) == ("Look twice.", False, 2)


def test_a_pool_may_begin_with_training_and_ask_again_or_reveal(run, beir, tmp_path):
    run("import_beir", beir)
    (tmp_path / "mine.txt").write_text("q1 Q0 d4 1 2.5 me\nq1 Q0 d6 2 1.5 me\n")
    run("import_run", "cran", tmp_path / "mine.txt")
    training = tmp_path / "training.jsonl"
    training.write_text('{"query": "q1", "document": "d4", "grade": 1, "explanation": "On flutter."}\n')
    said = run("open_pool", "cran", "--run", "mine", "--training", training, "--probe-share", 0.05)
    assert "before these, 1 training pair" in said
    assert "each person is asked 5% of their own answers again" in said
    assert "passed over, shown in the training: 1" in said
    asking = Pool.objects.get()
    assert (asking.probe_share, asking.reveal) == (0.05, False)
    assert list(asking.training.values_list("document__docid", "grade", "explanation")) == [("d4", 1, "On flutter.")]
    run("open_pool", "cran", "--run", "mine", "--reveal", "--name", "open")
    assert Pool.objects.get(slug="open").reveal is True


def test_a_pool_without_any_judgment_has_an_agreement_that_is_undefined(run, beir):
    run("import_beir", beir)
    run("index", "cran")
    run("retrieve", "cran")
    run("open_pool", "cran", "--run", "bm25")
    said = run("agreement", "cran-holes")
    assert "0 of" in said
    assert "undefined" in said
    assert "python manage.py prefill_llm cran-holes" in said
    assert "nan" not in said


def test_agreement_of_people_with_people_is_told(run, beir):
    run("import_beir", beir)
    run("index", "cran")
    run("retrieve", "cran")
    run("open_pool", "cran", "--run", "bm25", "--people", 2)
    pool = Pool.objects.get()
    for grade in (1, 0):
        pair = pool.pairs.first()
        serve.answer(pair=pair, annotator=make_person(), said=Said(outcome="graded", grade=grade))
    assert "People with people: 1 pair judged by two or more" in run("agreement", "cran-holes")


# --- The shell --------------------------------------------------------------------------------------------------------


def test_a_database_that_was_not_set_up_is_said_with_the_command_that_does(tmp_path):
    done = manage("index", "cran", VAR_DIR=str(tmp_path), DATABASE_URL="")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "CommandError: The database is not set up for this version: python manage.py migrate\n"


def test_a_database_that_does_not_answer_is_said_with_its_variable(tmp_path):
    done = manage("index", "cran", VAR_DIR=str(tmp_path), DATABASE_URL="postgresql://ann@127.0.0.1:1/unjudged")
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The database does not answer; DATABASE_URL says which one is used.")
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_is_named(run, beir, tmp_path):
    run("import_beir", beir)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CommandError, match=r"out cannot be written: .*Choose another --out"):
        run("export_qrels", "cran", "--out", tmp_path / "file" / "out")


def test_a_command_that_is_stopped_says_that_what_was_finished_is_kept(run, beir, monkeypatch):
    def stopped(**_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("judging.management.commands.import_beir.import_beir", stopped)
    with pytest.raises(CommandError, match="What was finished is kept; give the command again to go on") as caught:
        run("import_beir", beir)
    assert caught.value.returncode == 130


def test_two_judges_of_one_name_are_told_apart_by_their_fingerprint(run, beir, tmp_path):
    run("import_beir", beir)
    judges = [make_llm("gpt"), make_llm("gpt")]
    for judge, fingerprint in zip(judges, ("a" * 64, "b" * 64), strict=True):
        judge.fingerprint = fingerprint
        judge.save()
    with pytest.raises(
        CommandError, match=r"Several LLM judges are called 'gpt'.*Name one by its fingerprint"
    ) as caught:
        run("export_qrels", "cran", "--out", tmp_path / "out", "--llm", "gpt")
    assert all(judge.label in str(caught.value) for judge in judges)
    run("export_qrels", "cran", "--out", tmp_path / "out", "--llm", judges[0].label)
