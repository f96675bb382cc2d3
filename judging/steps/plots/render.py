"""Plots as SVG, PNG and CSV; what was rendered once is kept by the hash of its specification."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from hashlib import sha256
from typing import Any

from django.core.cache import caches
from django.utils.translation import get_language

from judging.steps.plots import charts, columns
from judging.steps.plots.charts import Plot
from judging.steps.plots.theme import THEMES, WIDTHS

_CHARTS = {
    "forest": charts.forest,
    "reliability": charts.reliability,
    "bars": columns.bars,
    "histogram": columns.histogram,
}


def specification(plot: Plot, *, theme: str = "light", size: str = "wide") -> dict[str, Any]:
    """The Vega-Lite specification; ``theme`` light or dark, ``size`` wide or small."""
    return _CHARTS[plot.kind](_legible(plot), THEMES[theme], WIDTHS[size])


# What an XML document may not hold (XML 1.0, section 2.2). In a label it would abort the renderer, and the process.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _legible(plot: Plot) -> Plot:
    """The same with such characters replaced in every text that is drawn."""

    def clean(text: str) -> str:
        return _NOT_XML.sub("\ufffd", text)

    return replace(
        plot,
        title=clean(plot.title),
        axis=clean(plot.axis),
        marks=[replace(mark, label=clean(mark.label)) for mark in plot.marks],
        bars=[replace(bar, label=clean(bar.label), series=clean(bar.series)) for bar in plot.bars],
    )


def as_svg(plot: Plot, *, theme: str = "light", size: str = "wide") -> str:
    """On a transparent ground, so that it stands on any paper of its theme."""

    def render(spec: str) -> str:
        import vl_convert

        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))

    return str(_kept("svg", plot, theme, size, render))


def as_png(plot: Plot, *, theme: str = "light") -> bytes:
    """At twice its size, on the paper of its theme."""

    def render(spec: str) -> bytes:
        import vl_convert

        content = json.loads(spec)
        content["config"]["background"] = THEMES[theme].paper
        return bytes(vl_convert.vegalite_to_png(json.dumps(content), scale=2, allowed_base_urls=[]))

    return bytes(_kept("png", plot, theme, "wide", render))


def as_csv(plot: Plot) -> str:
    """The data of the plot; an undefined number is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(plot.columns)
    writer.writerows([_field(value) for value in row] for row in plot.rows)
    return text.getvalue()


def _kept(form: str, plot: Plot, theme: str, size: str, render: Any) -> Any:
    # The plot itself is hashed, not what altair makes of it: a plot that is kept costs no import of altair.
    key = f"{form}:{sha256(repr((_VERSION, plot, theme, size, get_language())).encode()).hexdigest()}"
    cache = caches["plots"]
    kept = cache.get(key)
    if kept is None:
        kept = render(json.dumps(specification(plot, theme=theme, size=size), sort_keys=True))
        cache.set(key, kept, timeout=None)
    return kept


# Raised when the charts are drawn otherwise.
_VERSION = 3


def _field(value: object) -> object:
    if isinstance(value, float) and math.isnan(value):
        return ""
    # A label that a spreadsheet would compute stays a label.
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
