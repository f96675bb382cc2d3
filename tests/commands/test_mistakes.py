"""What a user gets wrong is answered with where it is and what to do, and nothing is left half done."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from judging.engines.llm import prompt_names
from judging.models import Pool

RUN = "q1 Q0 d4 1 2.5 me\nq1 Q0 d6 2 1.5 me\n"
LABELS = '{"query": "q1", "document": "d4", "grade": 1}\n'


@pytest.fixture
def loaded(run, beir):
    run("import_beir", beir)


@pytest.fixture
def ranked(run, loaded, tmp_path):
    (tmp_path / "mine.txt").write_text(RUN)
    run("import_run", "cran", tmp_path / "mine.txt")


# --- Files ------------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there(refused, tmp_path):
    message = refused("import_beir", tmp_path / "nowhere")
    assert message.startswith(f"{tmp_path / 'nowhere'}: expected a folder or a zip file with corpus.jsonl")
    assert message.endswith("found nothing of that name.")


@pytest.mark.parametrize("missing", ["corpus.jsonl", "queries.jsonl"])
def test_a_folder_that_lacks_a_file(refused, beir, missing):
    (beir / missing).unlink()
    message = refused("import_beir", beir)
    assert str(beir) in message
    assert missing.partition(".")[0] in message


def test_a_split_that_is_not_there(refused, beir):
    assert refused("import_beir", beir, "--split", "dev") == "cran has no qrels/dev.tsv. Its splits: test."


BAD_LINES = [
    ("corpus.jsonl", '{"_id": "d7", "title": "no text"', 7),
    ("corpus.jsonl", '{"title": "no id", "text": "x"}', 7),
    ("corpus.jsonl", '{"_id": "d1", "text": "again"}', 7),
    ("queries.jsonl", '["q4", "text"]', 4),
    ("queries.jsonl", '{"_id": "q1", "text": "again"}', 4),
    ("qrels/test.tsv", "q1\td2\tvery", 5),
    ("qrels/test.tsv", "q1\td2", 5),
    ("qrels/test.tsv", "q1\td1\t0", 5),
    ("qrels/test.tsv", "q1\td2\t0.5", 5),
]


@pytest.mark.parametrize(("name", "line", "number"), BAD_LINES)
def test_a_bad_line_of_a_collection_is_named_and_nothing_is_kept(refused, beir, name, line, number):
    with (beir / name).open("a") as file:
        file.write(line + "\n")
    message = refused("import_beir", beir)
    assert message.startswith(f"{beir / name}:{number}: "), message
    assert re.search("found|got|graded", message)


def test_a_bad_line_inside_a_compressed_file_is_named_too(refused, beir):
    plain = (beir / "corpus.jsonl").read_bytes()
    (beir / "corpus.jsonl").unlink()
    (beir / "corpus.jsonl.gz").write_bytes(gzip.compress(plain + b"{}\n"))
    assert refused("import_beir", beir).startswith(f"{beir / 'corpus.jsonl.gz'}:7: ")


@pytest.mark.parametrize(
    "line", ["q1 Q0 d1 1", "q1 Q0 d1 1 high me", "q1 Q0 d1 1 nan me", "q1 Q0 d4 9 0.5 me", "q1 Q0 d1 first 1 me"]
)
def test_a_bad_line_of_a_run_is_named_and_nothing_is_kept(refused, loaded, tmp_path, line):
    (tmp_path / "bad.txt").write_text(RUN + line + "\n")
    assert refused("import_run", "cran", tmp_path / "bad.txt").startswith(f"{tmp_path / 'bad.txt'}:3: expected ")


def test_a_run_of_another_collection(refused, loaded, tmp_path):
    (tmp_path / "other.txt").write_text("51 Q0 d1 1 1 me\n")
    message = refused("import_run", "cran", tmp_path / "other.txt")
    assert "expected queries of cran (such as 'q1'), found none of them, but '51' and others." in message


@pytest.mark.parametrize(
    "line",
    [
        '{"query": "q1", "document": "d6"}',
        '{"query": "q1", "document": "d6", "grade": "high"}',
        '{"query": "q1", "document": "d6", "outcome": "perhaps"}',
        '{"query": "q1", "document": "d4", "grade": 0}',
        '{"query": "q1", "document": "d6", "grade": 1',
    ],
)
def test_a_bad_line_of_labels_is_named_and_nothing_is_kept(refused, loaded, tmp_path, line):
    (tmp_path / "bad.jsonl").write_text(LABELS + line + "\n")
    message = refused("import_judgments", "cran", tmp_path / "bad.jsonl", "--judge", "ada", "--kind", "person")
    assert message.startswith(f"{tmp_path / 'bad.jsonl'}:2: "), message


@pytest.mark.parametrize(
    "command", [("import_run", "cran"), ("import_judgments", "cran", "--judge", "ada", "--kind", "person")]
)
def test_a_file_that_is_not_there(refused, loaded, tmp_path, command):
    assert refused(*command, tmp_path / "nowhere.txt").startswith(
        f"{tmp_path / 'nowhere.txt'}: expected a file, found "
    )


def test_a_configuration_that_is_no_json_object(refused, loaded, tmp_path):
    (tmp_path / "labels.jsonl").write_text(LABELS)
    for content, found in (("[]", "found list"), ("{", "expected a JSON object")):
        (tmp_path / "configuration.json").write_text(content)
        message = refused(
            "import_judgments", "cran", tmp_path / "labels.jsonl", "--judge", "gpt", "--kind", "llm",
            "--configuration", tmp_path / "configuration.json",
        )  # fmt: skip
        assert message.startswith(f"{tmp_path / 'configuration.json'}: ")
        assert found in message


def test_labels_that_contradict_those_of_the_same_judge(run, refused, loaded, tmp_path):
    (tmp_path / "labels.jsonl").write_text(LABELS)
    command = ("import_judgments", "cran", tmp_path / "labels.jsonl", "--judge", "ada", "--kind", "person")
    run(*command)
    (tmp_path / "labels.jsonl").write_text(LABELS.replace("1}", "0}"))
    assert "Give --replace to take the file's, or another --judge to keep both." in refused(*command)


def test_files_that_have_changed_since(refused, loaded, beir):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d7", "text": "new"}\n')
    message = refused("import_beir", beir)
    assert "The collection 'cran' exists and its files have changed: corpus.jsonl differs." in message
    assert "--replace" in message


def test_guidelines_that_are_not_there(refused, ranked, tmp_path):
    message = refused("open_pool", "cran", "--run", "mine", "--guidelines", tmp_path / "nowhere.md")
    assert message.startswith(f"{tmp_path / 'nowhere.md'}: expected a Markdown file in UTF-8; ")


def test_training_of_another_collection_is_refused_with_its_line(refused, ranked, tmp_path):
    (tmp_path / "training.tsv").write_text("query\tdocument\tgrade\texplanation\nq1\td4\t1\t\nq1\td99\t1\t\n")
    message = refused("open_pool", "cran", "--run", "mine", "--training", tmp_path / "training.tsv")
    assert message == f"{tmp_path / 'training.tsv'}:3: expected a document of cran that has a text, found 'd99'."


@pytest.mark.parametrize("share", ["-0.1", "1.1", "nan"])
def test_a_share_that_is_none(refused, ranked, share):
    message = refused("open_pool", "cran", "--run", "mine", f"--probe-share={share}")
    assert message == f"--probe-share: expected a share from 0 to 1, found {float(share):g}."


def test_a_pool_does_not_reveal_what_it_asks_again(refused, ranked):
    message = refused("open_pool", "cran", "--run", "mine", "--reveal", "--probe-share", "0.1")
    assert message.startswith("A pool either reveals LLM labels or asks pairs again")


# --- Names ------------------------------------------------------------------------------------------------------------

OF_A_COLLECTION = [
    ("index", "nowhere"),
    ("retrieve", "nowhere"),
    ("rerank", "nowhere"),
    ("judge_rate", "nowhere"),
    ("open_pool", "nowhere", "--run", "bm25"),
    ("import_run", "nowhere", "file"),
    ("import_judgments", "nowhere", "file", "--judge", "ada", "--kind", "person"),
    ("evaluate", "nowhere"),
    ("export_qrels", "nowhere", "--out", "/nowhere/out"),
]


@pytest.mark.parametrize("command", OF_A_COLLECTION, ids=lambda command: command[0])
def test_a_collection_that_does_not_exist(refused, loaded, command):
    assert refused(*command) == "There is no collection 'nowhere'. There are: cran."


def test_a_collection_where_there_is_none_yet(refused):
    message = "There is no collection 'cran'. None is loaded yet: python manage.py import_beir DIR_OR_ZIP"
    assert refused("index", "cran") == message


@pytest.mark.parametrize("command", [("open_pool", "cran", "--run", "bm52"), ("rerank", "cran", "--run", "bm52")])
def test_a_run_that_does_not_exist(refused, ranked, command):
    assert refused(*command) == "There is no run of cran 'bm52'. There are: mine."


@pytest.mark.parametrize("command", [("open_pool", "cran", "--run", "bm25"), ("rerank", "cran")])
def test_a_run_where_there_is_none_yet(refused, loaded, command):
    assert refused(*command) == "There is no run of cran 'bm25'. None is there yet: python manage.py retrieve cran"


@pytest.mark.parametrize("command", ["agreement", "prefill_llm"])
def test_a_pool_that_does_not_exist(run, refused, ranked, command):
    hint = "None is open yet: python manage.py open_pool COLLECTION --run RUN"
    assert refused(command, "holes") == f"There is no pool 'holes'. {hint}"
    run("open_pool", "cran", "--run", "mine")
    assert refused(command, "holes") == "There is no pool 'holes'. There are: cran-holes."


@pytest.mark.models
@pytest.mark.parametrize("model", ["./no-such-folder", "nobody/no-such-model"])
def test_a_reranker_that_does_not_exist(refused, ranked, model):
    message = refused("rerank", "cran", "--run", "mine", "--model", model)
    assert model in message
    assert '"embedded" (sentence-transformers/all-MiniLM-L6-v2) is installed with this program.' in message


@pytest.mark.models
@pytest.mark.parametrize("model", ["./no-such-folder", "nobody/no-such-model", "./no-such-file.gguf"])
def test_an_llm_that_does_not_exist(run, refused, ranked, model):
    run("open_pool", "cran", "--run", "mine")
    assert model in refused("prefill_llm", "cran-holes", "--judge", model)


def test_a_prompt_that_does_not_exist(run, refused, ranked):
    run("open_pool", "cran", "--run", "mine")
    message = refused("prefill_llm", "cran-holes", "--prompt", "poetic")
    assert message.startswith(f"There is no prompt 'poetic': expected one of {', '.join(prompt_names())}, or the path")


def test_a_prompt_for_another_scale(run, refused, ranked, tmp_path):
    run("open_pool", "cran", "--run", "mine")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(
        "name: four\nmode: score\nfields: query, document\nscale: 0, 1, 2, 3\n---\n{query} {document} {scale}\n"
    )
    message = refused("prefill_llm", "cran-holes", "--prompt", prompt)
    assert "The prompt 'four' is written for the scale '0, 1, 2, 3'; this collection has the grades 0, 1." in message


@pytest.mark.parametrize("command", [("export_qrels", "cran", "--out", "unused"), ("evaluate", "cran")])
def test_an_llm_judge_that_does_not_exist(run, refused, ranked, tmp_path, command):
    hint = "None has judged yet: python manage.py prefill_llm POOL"
    assert refused(*command, "--llm", "gpt") == f"There is no LLM judge 'gpt'. {hint}"
    (tmp_path / "labels.jsonl").write_text(LABELS)
    run("import_judgments", "cran", tmp_path / "labels.jsonl", "--judge", "phi", "--kind", "llm")
    assert refused(*command, "--llm", "gpt").startswith("There is no LLM judge 'gpt'. There are: phi · ")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["nDGC@10"], "'nDGC@10' cannot be computed: no measure of that name. There are (numbers are examples): nDCG,"),
        (["P"], "'P' cannot be computed: P needs a cut-off of at least 1."),
        (["nDCG@10", "Bpref@5"], "'Bpref@5' cannot be computed: Bpref takes no cut-off."),
        (["RBP(p=2)"], "'RBP(p=2)' cannot be computed: p must lie between 0 and 1, found 2."),
    ],
)
def test_a_measure_that_does_not_exist(refused, ranked, names, reason):
    assert refused("evaluate", "cran", "--measures", *names).startswith(reason)


@pytest.mark.parametrize(
    "command",
    [
        ("judge_rate", "cran", "--k"),
        ("retrieve", "cran", "--top"),
        ("rerank", "cran", "--top"),
        ("open_pool", "cran", "--run", "mine", "--depth"),
        ("open_pool", "cran", "--run", "mine", "--people"),
        ("open_pool", "cran", "--run", "mine", "--queries"),
        ("prefill_llm", "cran-holes", "--limit"),
    ],
)
@pytest.mark.parametrize("number", ["0", "-5", "many", "1.5"])
def test_a_number_that_makes_no_sense(refused, ranked, command, number):
    message = f"argument {command[-1]}: expected a whole number of at least 1, found '{number}'"
    assert message in refused(*command, number)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("index", "cran", "--engine", "lucene"), "argument --engine: invalid choice: 'lucene'"),
        (("open_pool", "cran"), "the following arguments are required: --run"),
        (("export_qrels", "cran"), "the following arguments are required: --out"),
        (("import_judgments", "cran", "file", "--judge", "ada"), "the following arguments are required: --kind"),
    ],
)
def test_an_option_that_is_missing_or_does_not_exist(refused, ranked, command, message):
    assert message in refused(*command)


def test_a_scale_that_cannot_be_read_or_lacks_a_grade(refused, beir):
    assert refused("import_beir", beir, "--scale", "bad, good").startswith('A scale is written as "0=Not relevant, 1=')
    message = refused("import_beir", beir, "--scale", "0=Off, 2=On")
    assert "The qrels hold grades that the scale lacks: [1]; the scale has [0, 2]." in message


# --- Order ------------------------------------------------------------------------------------------------------------


def test_retrieving_before_indexing(refused, loaded):
    assert refused("retrieve", "cran") == "cran has no index yet: python manage.py index cran"


def test_retrieving_with_the_index_of_another_corpus(run, refused, loaded, beir):
    run("index", "cran")
    with (beir / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d7", "text": "new"}\n')
    run("import_beir", beir, "--replace")
    message = refused("retrieve", "cran")
    assert message == "The index of cran is of another corpus than the one loaded now: python manage.py index cran"


@pytest.mark.parametrize("command", ["judge_rate", "evaluate"])
def test_measuring_before_there_is_a_run(refused, loaded, command):
    message = "cran has no run yet: python manage.py retrieve cran, or python manage.py import_run cran FILE"
    assert refused(command, "cran") == message


@pytest.mark.parametrize("command", ["judge_rate", "evaluate"])
def test_measuring_without_qrels(run, refused, beir, tmp_path, command):
    (beir / "qrels" / "test.tsv").unlink()
    (beir / "qrels").rmdir()
    run("import_beir", beir)
    (tmp_path / "mine.txt").write_text(RUN)
    run("import_run", "cran", tmp_path / "mine.txt")
    assert refused(command, "cran") == "cran has no original qrels: nothing can be measured against them."


def test_a_pool_that_would_be_empty(run, refused, loaded, tmp_path):
    (tmp_path / "judged.txt").write_text("q1 Q0 d1 1 1 me\nq2 Q0 d5 1 1 me\n")
    run("import_run", "cran", tmp_path / "judged.txt")
    message = refused("open_pool", "cran", "--run", "judged")
    assert message.startswith("Nothing to judge: no hole within depth 5 of judged over 2 queries")
    assert "1 duplicate of a judged document" in message


def test_a_pool_whose_name_is_taken(run, refused, ranked):
    run("open_pool", "cran", "--run", "mine")
    message = "A pool 'cran-holes' is there already: give this one another --name."
    assert refused("open_pool", "cran", "--run", "mine") == message
    assert Pool.objects.count() == 1


def test_a_run_whose_name_is_taken(run, refused, ranked, tmp_path):
    (tmp_path / "mine.txt").write_text(RUN + "q2 Q0 d6 1 1 me\n")
    message = refused("import_run", "cran", tmp_path / "mine.txt")
    assert "cran has a run 'mine' of another making" in message
    assert "--replace to make it anew, or --name to keep both" in message
    run("open_pool", "cran", "--run", "mine")
    message = refused("import_run", "cran", tmp_path / "mine.txt", "--replace")
    assert message == "The run 'mine' is used by the pool cran-holes: give the new one another --name."


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_an_export_into_a_place_that_is_in_use(refused, loaded, tmp_path, kind):
    out = tmp_path / "out"
    kept: Path = out if kind == "file" else out / "thesis.tex"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("years of work")
    message = refused("export_qrels", "cran", "--out", out)
    assert message == f"{out} holds other things than an earlier export: choose another --out, or empty it."
    assert kept.read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cran", "out"]


def test_an_export_of_an_id_that_trec_cannot_hold(run, refused, beir, tmp_path):
    for name, lines in {
        "queries.jsonl": '{"_id": "q 4", "text": "blank"}\n',
        "qrels/test.tsv": "q 4\td1\t1\n",
    }.items():
        with (beir / name).open("a") as file:
            file.write(lines)
    run("import_beir", beir)
    out = tmp_path / "out"
    assert "'q 4'" in refused("export_qrels", "cran", "--out", out)
    assert not out.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cran"]
    run("export_qrels", "cran", "--out", out, "--format", "beir")
