"""Files looked at from the shell: what they hold, what is wrong with them, and what changed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.commands.test_commands import ROOT, manage


def failed(*command: object) -> tuple[str, str]:
    """What a command says before it fails, and its message."""
    said = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*map(str, command), stdout=said)
    return said.getvalue(), str(caught.value)


class TestCheckFiles:
    def test_a_sound_collection_is_described(self, run, beir):
        assert run("check_files", beir).splitlines() == [
            f"{beir}: BEIR folder",
            f"{beir}/qrels/test.tsv: qrels, 3 records of 3 queries",
            "  UTF-8, lines end in LF",
            "  grades: 1 × 3",
            f"{beir}/corpus.jsonl: corpus, 6 records",
            "  UTF-8, lines end in LF",
            "  1 document with a text that an earlier one has",
            f"{beir}/queries.jsonl: queries, 3 records",
            "  UTF-8, lines end in LF",
            "no errors",
        ]

    def test_every_bad_line_is_told_and_the_command_fails(self, beir):
        with (beir / "qrels" / "test.tsv").open("a") as file:
            file.write("q1\td2\tvery\nq1\td3\n")
        said, message = failed("check_files", beir)
        assert [line.split(": ")[1] for line in said.splitlines() if line.startswith("error: ")] == [
            f"{beir}/qrels/test.tsv:5",
            f"{beir}/qrels/test.tsv:6",
        ]
        assert message == f"{beir}: 2 errors."

    def test_no_more_errors_are_shown_than_asked_for_and_all_are_counted(self, beir):
        (beir / "corpus.jsonl").write_text("{}\n" * 5)
        said, message = failed("check_files", beir, "--show", 2)
        assert said.count("error: ") == 2
        assert "and 3 more errors" in said
        assert message.endswith(": 5 errors.")

    def test_a_run_is_held_against_a_collection(self, run, beir, tmp_path):
        (tmp_path / "run.txt").write_text("q1 Q0 d1 1 1 me\nq1 Q0 d2 2 9 me\nq9 Q0 d77 1 1 me\n")
        said = run("check_files", tmp_path / "run.txt", "--against", beir)
        assert "run, 3 records of 2 queries" in said
        assert "2 lines whose rank says other than the score" in said
        assert "1 id without document: d77" in said
        assert "1 id without query: q9" in said

    def test_a_run_is_held_against_a_loaded_collection(self, run, beir, tmp_path):
        with (beir / "qrels" / "test.tsv").open("a") as file:
            file.write("q1\tlost\t1\n")
        run("import_beir", beir)
        (tmp_path / "run.txt").write_text("q1 Q0 d1 1 1 me\nq1 Q0 lost 2 0 me\nq9 Q0 d77 1 1 me\n")
        said = run("check_files", tmp_path / "run.txt", "--against", "cran")
        assert "2 ids without document: d77, lost" in said
        assert "1 id without query: q9" in said
        assert "without" not in run("check_files", beir / "qrels" / "test.tsv", "--against", "cran").replace(
            "1 id without document: lost", ""
        )

    def test_a_collection_that_is_neither_loaded_nor_a_path(self, refused, run, beir):
        run("import_beir", beir)
        assert refused("check_files", beir / "qrels" / "test.tsv", "--against", "crane") == (
            "--against: expected a folder, a zip or a loaded collection. There is no collection 'crane'. "
            "There are: cran."
        )

    def test_a_whole_collection_has_ids_of_its_own(self, refused, run, beir):
        run("import_beir", beir)
        assert refused("check_files", beir, "--against", "cran") == (
            f"{beir}: expected a run, qrels or judgments to check against a collection, found a BEIR folder."
        )

    def test_the_exit_status_tells(self, beir, tmp_path):
        assert manage("check_files", str(beir), VAR_DIR=str(tmp_path / "var")).returncode == 0
        (beir / "queries.jsonl").write_text("{}\n")
        done = manage("check_files", str(beir), VAR_DIR=str(tmp_path / "var"))
        assert done.returncode == 1
        assert f"error: {beir}/queries.jsonl:1: " in done.stdout
        assert "Traceback" not in done.stderr

    def test_a_reader_who_has_seen_enough_is_no_error(self, beir, tmp_path):
        (beir / "corpus.jsonl").write_text("{}\n" * 20_000)
        command = f"{sys.executable} manage.py check_files {beir} --show 20000 | head -n 1"
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "annotator.settings", "VAR_DIR": str(tmp_path / "var")}
        done = subprocess.run(
            command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        assert (done.stdout, done.stderr) == (f"{beir}: BEIR folder\n", "")

    def test_what_is_not_there_is_an_error_of_the_report(self, tmp_path):
        said, message = failed("check_files", tmp_path / "nowhere")
        assert "error: " in said
        assert message == f"{tmp_path / 'nowhere'}: 1 error."


class TestDiffQrels:
    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[Path, Path]:
        before, after = tmp_path / "a.tsv", tmp_path / "b.trec"
        before.write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td1\t1\n")
        after.write_text("q1 0 d1 1\nq1 0 d2 2\nq3 0 d9 1\n")
        return before, after

    def test_changes_are_listed_by_query(self, run, files):
        assert run("diff_qrels", *files).splitlines() == [
            "query q1",
            "  ~ d2: 0 → 2",
            "query q2",
            "  - d1: 1",
            "query q3",
            "  + d9: 1",
            "1 added, 1 removed, 1 regraded in 3 queries; 1 unchanged",
        ]

    def test_the_numbers_can_be_had_alone(self, run, files):
        assert run("diff_qrels", *files, "--summary") == ("1 added, 1 removed, 1 regraded in 3 queries; 1 unchanged\n")

    def test_a_bad_line_is_named(self, refused, files):
        files[1].write_text("q1 0 d1 high\n")
        assert refused("diff_qrels", *files).startswith(f"{files[1]}:1: ")


class TestDuplicates:
    def test_groups_half_judged_and_groups_in_conflict_are_listed(self, run, beir):
        with (beir / "qrels" / "test.tsv").open("a") as file:
            file.write("q1\td2\t1\nq1\td5\t0\n")
        run("import_beir", beir)
        assert run("duplicates", "cran").splitlines() == [
            "cran: 1 group of one text, 2 documents",
            "1 group with grades that conflict:",
            "  d2, d5",
            "    query q1: d2 1, d5 0",
            "1 group of which one is judged and another is not:",
            "  d2, d5",
            "    query q2: d2 1; not judged: d5",
        ]

    def test_near_duplicates_can_be_asked_for(self, run, beir):
        run("import_beir", beir)
        said = run("duplicates", "cran", "--near", "0.9")
        assert said.startswith("cran: 1 group of texts that resemble each other by 0.9 or more, 2 documents\n")
        assert "0 groups with grades that conflict\n" in said

    def test_without_a_threshold_that_of_the_settings_holds(self, run, beir):
        run("import_beir", beir)
        assert "resemble each other by 0.8 or more" in run("duplicates", "cran", "--near")

    def test_a_threshold_that_is_none(self, run, refused, beir):
        run("import_beir", beir)
        assert "at most 1; found 2.0" in refused("duplicates", "cran", "--near", "2")


def test_an_export_holds_the_judgments_in_the_forms_asked_for(run, beir, tmp_path):
    run("import_beir", beir)
    (tmp_path / "ada.csv").write_text("query,document,grade\nq1,d4,1\n")
    run("import_judgments", "cran", tmp_path / "ada.csv", "--judge", "ada", "--kind", "person")
    run("export_qrels", "cran", "--out", tmp_path / "out", "--judgments", "csv", "--judgments", "parquet")
    assert sorted(path.name for path in (tmp_path / "out").glob("judgments.*")) == [
        "judgments.csv",
        "judgments.parquet",
    ]
