"""The published figures of LLMJudge: 33 LLM runs against people on 4,423 pairs of 25 queries.

Source: Rahmani et al., Judging the Judges: A Collection of LLM-Generated Relevance Judgements, 2025, tables 3 and 4.
"""

import csv

import numpy as np
import pytest

from judging.measures.agreement import bias, cohen_kappa, confusion, krippendorff_alpha, panel

SCALE = (0, 1, 2, 3)
GOLDEN = "willia-umbrela1"
OUT_OF_SCALE = {"RMITIR-llama70B": 2, "h2oloo-zeroshot2": 1}


def row(judged):
    binary = [judged.binary[threshold]["cohen_kappa"].value for threshold in (1, 2, 3)]
    values = [judged.graded["cohen_kappa"].value, judged.graded["krippendorff_alpha"].value, *binary]
    return [f"{value:.4f}" for value in values]


def published(llmjudge):
    with (llmjudge.folder / "published.tsv").open(encoding="utf-8") as lines:
        for line in csv.DictReader(lines, delimiter="\t"):
            yield line.pop("run"), list(line.values())


def test_the_golden_row(llmjudge):
    judged = panel(llmjudge.people, llmjudge.llm(GOLDEN), grades=SCALE)

    assert judged.pairs == 4_423
    assert row(judged) == ["0.2863", "0.4918", "0.4161", "0.3985", "0.3145"]


def test_every_published_row_to_four_decimals_with_out_of_scale_grades_clipped_as_the_paper_did(llmjudge):
    rows = dict(published(llmjudge))

    assert len(rows) >= 18
    assert {run: row(panel(llmjudge.people, np.clip(llmjudge.llm(run), 0, 3), grades=SCALE)) for run in rows} == rows


def test_only_the_two_runs_with_grades_outside_the_scale_need_the_clipping(llmjudge):
    unclipped = {run: row(panel(llmjudge.people, llmjudge.llm(run), grades=SCALE)) for run, _ in published(llmjudge)}

    assert {run for run, values in published(llmjudge) if unclipped[run] != values} == set(OUT_OF_SCALE)


def test_grades_outside_the_scale_are_left_out_and_counted(llmjudge):
    panels = {run: panel(llmjudge.people, llmjudge.llm(run), grades=SCALE) for run in llmjudge.runs}

    assert len(panels) == 33
    assert {run: judged.out_of_scale for run, judged in panels.items() if judged.out_of_scale} == OUT_OF_SCALE
    assert all(judged.pairs + judged.out_of_scale == 4_423 for judged in panels.values())


def test_grades_outside_the_scale_taken_as_they_are_give_the_other_figures(llmjudge):
    raw = llmjudge.llm("RMITIR-llama70B")

    assert f"{cohen_kappa(llmjudge.people, raw):.4f}" == "0.2655"
    assert f"{krippendorff_alpha(llmjudge.people, raw):.4f}" == "0.4871"


def test_intervals_clustered_by_query_are_five_times_as_wide_as_plain_ones(llmjudge):
    grades = (llmjudge.people, llmjudge.llm(GOLDEN))
    clustered = panel(*grades, grades=SCALE, clusters=llmjudge.queries)
    plain = panel(*grades, grades=SCALE, clusters=range(4_423))

    assert clustered.queries == 25
    assert clustered.graded["cohen_kappa"].interval[:2] == pytest.approx((0.162, 0.395), abs=0.01)
    assert plain.graded["cohen_kappa"].interval[:2] == pytest.approx((0.266, 0.307), abs=0.002)


def test_the_confusion_matrix_holds_the_numbers_of_both_files(llmjudge):
    matrix = confusion(llmjudge.people, llmjudge.llm(GOLDEN), grades=SCALE)

    assert matrix.sum(axis=0).tolist() == [2335, 1231, 608, 249]
    assert matrix.sum(axis=1).tolist() == [(llmjudge.people == grade).sum() for grade in SCALE]
    assert bias(llmjudge.people, llmjudge.llm(GOLDEN)) == pytest.approx(
        llmjudge.llm(GOLDEN).mean() - llmjudge.people.mean()
    )
