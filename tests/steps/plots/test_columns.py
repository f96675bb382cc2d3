"""Counts as bars side by side and as a histogram of parts."""

from __future__ import annotations

import pytest

from judging.steps import plots
from judging.steps.plots import Bar, Mark
from judging.steps.plots.charts import forest_plot
from judging.steps.plots.columns import bars_plot, histogram_plot


@pytest.fixture(autouse=True)
def _no_plot_kept(settings, tmp_path):
    settings.CACHES = settings.CACHES | {"plots": settings.CACHES["plots"] | {"LOCATION": tmp_path / "plots"}}


@pytest.fixture
def grades():
    bars = [
        Bar("Not <relevant>", "LLM", 1, 0.1),
        Bar("Not <relevant>", "people", 4, 0.4),
        Bar("Relevant", "LLM", 9, 0.9),
        Bar("Relevant", "people", 6, 0.6),
    ]
    return bars_plot("Grades", "Grades, in words.", bars, axis="share of the pairs")


@pytest.fixture
def histogram():
    bars = [Bar("", "relevant", 3, 0.0, 0.0, 0.5), Bar("", "other", 2, 0.0, 0.0, 0.5), Bar("", "other", 5, 0.0, 0.5, 1)]
    return histogram_plot("Expected", "Expected, in words.", bars, axis="expected grade", domain=(0, 1))


def test_bars_hold_their_labels_and_series_as_text(grades):
    svg = plots.as_svg(grades)
    for text in ("Not &lt;relevant&gt;", "Relevant", "LLM", "people", "share of the pairs", "100%"):
        assert text in svg


def test_every_part_of_a_bar_is_drawn_in_the_colours_of_its_theme(histogram):
    light, dark = plots.as_svg(histogram), plots.as_svg(histogram, theme="dark")
    assert light.count('fill="#2c5c4b"') >= 1
    assert "#86c2a9" in dark
    assert "#2c5c4b" not in dark
    (rows,) = plots.specification(histogram)["datasets"].values()
    assert sum(row["count"] for row in rows) == 10


@pytest.mark.parametrize("size", ["wide", "small"])
def test_they_are_as_wide_as_there_is_room(grades, histogram, size):
    for plot in (grades, histogram):
        width = float(plots.as_svg(plot, size=size).partition('width="')[2].partition('"')[0])
        assert width <= {"wide": 640, "small": 340}[size]


def test_the_csv_has_counts_and_shares(grades, histogram):
    assert plots.as_csv(grades).splitlines()[:2] == ["label,series,count,share", "Not <relevant>,LLM,1,0.1"]
    assert plots.as_csv(histogram).splitlines() == [
        "low,high,series,count", "0.0,0.5,relevant,3", "0.0,0.5,other,2", "0.5,1,other,5",
    ]  # fmt: skip


def test_a_label_that_a_spreadsheet_would_compute_stays_a_label():
    plot = bars_plot("t", "s", [Bar("=1+1", "LLM", 1, 1.0)], axis="")
    assert plots.as_csv(plot).splitlines()[1].startswith("'=1+1,")


def test_nothing_to_show_can_be_drawn():
    assert plots.as_svg(bars_plot("t", "s", [], axis="")).startswith("<svg")


@pytest.mark.parametrize("sign", ["\x07", "\x00", "\x1b", "\ud800", "\uffff"])
def test_a_label_that_no_image_may_hold_is_drawn_with_a_sign_in_its_place(sign):
    name = f"a{sign}b"
    drawn = [
        bars_plot(name, "s", [Bar(name, name, 1, 1.0)], axis=name),
        forest_plot(name, "s", [Mark(name, 0.5, 0.4, 0.6)], axis=name),
    ]
    for plot in drawn:
        assert "a\ufffdb" in plots.as_svg(plot)
        assert plots.as_png(plot).startswith(b"\x89PNG")
