"""Plots are rendered here, without a browser or a network, and say in words what they show."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from django.utils import translation

from judging.steps import plots
from judging.steps.plots.charts import Bin, Mark, forest_plot, reliability_plot

NAN = math.nan


@pytest.fixture
def forest():
    marks = [
        Mark("Raw agreement", 0.81, 0.75, 0.88),
        Mark("Cohen's kappa", 0.61, 0.48, 0.74, 0.57, 0.68),
        Mark("Nothing & <none>", NAN),
    ]
    return forest_plot("Coefficients", "Coefficients, in words.", marks)


@pytest.fixture(autouse=True)
def _no_plot_kept(settings, tmp_path):
    settings.CACHES = settings.CACHES | {"plots": settings.CACHES["plots"] | {"LOCATION": tmp_path / "plots"}}


def test_a_forest_as_svg_holds_its_labels_as_text_on_a_transparent_ground(forest):
    svg = plots.as_svg(forest)
    assert svg.startswith("<svg")
    assert "Cohen's kappa" in svg
    assert "Nothing &amp; &lt;none&gt;" in svg
    assert "undefined" in svg
    assert 'fill="white"' not in svg
    assert "<script" not in svg


def test_light_and_dark_differ_in_colour_and_wide_and_small_in_width(forest):
    def width(svg):
        return float(svg.partition('width="')[2].partition('"')[0])

    light, dark, small = (
        plots.as_svg(forest), plots.as_svg(forest, theme="dark"), plots.as_svg(forest, size="small"),
    )  # fmt: skip
    assert "#2c5c4b" in light
    assert "#86c2a9" in dark
    assert "#2c5c4b" not in dark
    assert width(small) <= 328 < width(light) <= 630


def test_a_png_is_a_picture_of_it(forest):
    assert plots.as_png(forest).startswith(b"\x89PNG\r\n\x1a\n")


def test_the_csv_has_the_numbers_an_empty_field_where_one_is_undefined_and_no_formula():
    plot = forest_plot("t", "s", [Mark("=1+1", 0.5, 0.25, 0.75, note="3 pairs"), Mark("b", NAN)])
    assert plots.as_csv(plot).splitlines() == [
        "label,value,low,high,band_low,band_high,note", "'=1+1,0.5,0.25,0.75,,,3 pairs", "b,,,,,,",
    ]  # fmt: skip


def test_the_axis_reaches_below_nought_where_a_value_does(forest):
    assert forest.domain == (0, 1)
    assert forest_plot("t", "s", [Mark("a", -0.1, -0.3, 0.2)]).domain == (-0.5, 1)


def test_an_empty_plot_can_be_drawn():
    assert plots.as_svg(forest_plot("t", "s", [])).startswith("<svg")
    assert plots.as_svg(reliability_plot("t", "s", [])).startswith("<svg")


def test_a_reliability_diagram_leaves_out_bins_without_a_share():
    plot = reliability_plot("t", "s", [Bin(0.1, 0.2, 0.1, 0.3, 30), Bin(0.5, NAN, NAN, NAN, 0)])
    specification = plots.specification(plot)
    data = [layer["data"]["values"] for layer in specification["layer"] if "values" in layer.get("data", {})]
    rows = {row["said"] for values in (*data, specification.get("data", {}).get("values", [])) for row in (
        values if isinstance(values, list) else [values]
    )}  # fmt: skip
    assert 0.5 not in rows
    assert plots.as_svg(plot).startswith("<svg")


def test_what_was_rendered_is_kept_by_its_content(forest, monkeypatch):
    first = plots.as_svg(forest)
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_args, **_kwargs: "rendered again")
    assert plots.as_svg(forest) == first
    assert plots.as_svg(forest, theme="dark") == "rendered again"


def test_neither_altair_nor_pandas_is_imported_before_a_plot_is_asked_for():
    code = (
        "import os, sys, tempfile; os.environ.update(DJANGO_SETTINGS_MODULE='annotator.settings', "
        "VAR_DIR=tempfile.mkdtemp()); import django; django.setup(); import judging.views.urls; "
        "print(sorted({'altair', 'vl_convert', 'torch', 'pandas'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_two_rows_of_one_name_are_two_rows():
    twice = forest_plot("Judges", "says", [Mark("llm", 0.2, 0.1, 0.3), Mark("llm", 0.7, 0.6, 0.8)])
    assert plots.as_svg(twice).count(">llm<") == 2


def test_a_plot_is_kept_for_each_language(monkeypatch):
    plot = forest_plot("Judges", "says", [Mark("llm", NAN)])
    monkeypatch.setattr("judging.steps.plots.charts._", lambda text: f"{translation.get_language()}: {text}")
    for language in ("en", "fr", "en"):
        with translation.override(language):
            assert f"{language}: undefined" in plots.as_svg(plot)
