"""LLMJudge through the commands alone: import it, import 33 LLMs' labels, print the published figures.

Source: Rahmani et al., Judging the Judges: A Collection of LLM-Generated Relevance Judgements, 2025, tables 3 and 4.
"""

from __future__ import annotations

import csv
import io

import pytest
from django.core.management import call_command

from tests.conftest import DATA

LLMJUDGE = DATA / "llmjudge"
ON = {"kappa_4level": ("grades", "cohen_kappa"), "alpha_ordinal": ("grades", "krippendorff_alpha")} | {
    f"kappa_ge{at}": (f">={at}", "cohen_kappa") for at in (1, 2, 3)
}

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not LLMJUDGE.is_dir(), reason="LLMJudge is not there: set UNJUDGED_DATA"),
]


def run(*command: object) -> str:
    said = io.StringIO()
    call_command(*map(str, command), stdout=said, stderr=said)
    return said.getvalue()


def figures(*options: str) -> dict[str, dict[tuple[str, str], dict[str, str]]]:
    rows: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    for line in csv.DictReader(io.StringIO(run("agreement", "llmjudge", "--csv", *options))):
        rows.setdefault(line["judge"], {})[line["on"], line["coefficient"]] = line
    return rows


def test_all_33_llms_and_every_published_row_to_four_decimals():
    run("import_beir", LLMJUDGE)
    files = sorted((LLMJUDGE / "llm").iterdir())
    for file in files:
        run("import_judgments", "llmjudge", file, "--judge", file.name.removesuffix(".txt.gz"), "--kind", "llm")
    clipped = figures("--clip")
    assert len(clipped) == len(files) == 33
    with (LLMJUDGE / "published.tsv").open(encoding="utf-8") as lines:
        published = {line.pop("run"): line for line in csv.DictReader(lines, delimiter="\t")}
    assert len(published) >= 18
    ours = {
        name: {column: f"{float(clipped[name][on]['value']):.4f}" for column, on in ON.items()} for name in published
    }
    assert ours == published

    # Clipping is a choice: without it two LLMs lack the pairs whose grades are no grades of the scale.
    plain = figures()
    pairs = {name: row["grades", "cohen_kappa"]["pairs"] for name, row in plain.items()}
    short = {name: number for name, number in pairs.items() if number != "4423"}
    assert short == {"RMITIR-llama70B": "4421", "h2oloo-zeroshot2": "4422"}
    # Clustered by query: far wider than [.266, .307], which resampling pairs would give.
    golden = plain["willia-umbrela1"]["grades", "cohen_kappa"]
    assert float(golden["low"]) == pytest.approx(0.162, abs=0.005)
    assert float(golden["high"]) == pytest.approx(0.395, abs=0.006)

    printed = run("agreement", "llmjudge")
    assert "LLMs against qrels, who graded 4,423 pairs of 25 queries" in printed
    heading = next(line for line in printed.splitlines() if line.startswith("judge "))
    for column in ("kappa, 4 levels", "kappa, 0/123", "kappa, 01/23 *", "kappa, 012/3", "alpha, ordinal"):
        assert column in heading
    (row,) = [line for line in printed.splitlines() if line.startswith("willia-umbrela1 ")]
    for value in (".2863 [", ".4161 [", ".3985 [", ".3145 [", ".4918 ["):
        assert value in row
