"""The specifications: a forest of coefficients with intervals, and a reliability diagram."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from judging.steps.plots.theme import Theme, configured

_ROW_HEIGHT = 30
_LABEL_SHARE = 0.42


@dataclass(frozen=True, slots=True)
class Mark:
    """A row of a forest plot: a value with its interval, nan where undefined, and the band behind it, if any."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    band_low: float = math.nan
    band_high: float = math.nan
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bin:
    """A point of a reliability diagram."""

    said: float
    found: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a series beside or on those of others. ``share`` is its length; ``low`` and ``high`` bound a bin."""

    label: str
    series: str
    count: int
    share: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Plot:
    """``kind`` is ``forest``, ``reliability``, ``bars`` or ``histogram``; ``says`` is its alternative text."""

    kind: str
    title: str
    says: str
    marks: Sequence[Mark] = ()
    bins: Sequence[Bin] = ()
    bars: Sequence[Bar] = ()
    domain: tuple[float, float] = (0.0, 1.0)
    axis: str = ""
    columns: Sequence[str] = ("label", "value", "low", "high", "band_low", "band_high", "note")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The data of the plot, one tuple a mark, in the order of ``columns``."""
        return [tuple(getattr(one, name) for name in self.columns) for one in (*self.marks, *self.bins, *self.bars)]


def forest_plot(title: str, says: str, marks: Sequence[Mark], *, axis: str = "") -> Plot:
    """Values between 0 and 1, or a wider range where something lies outside."""
    ends = [end for mark in marks for end in (mark.value, mark.low, mark.high) if not math.isnan(end)]
    low = min([0.0, *ends])
    return Plot("forest", title, says, marks, domain=(math.floor(low * 4) / 4, max([1.0, *ends])), axis=axis)


def reliability_plot(title: str, says: str, bins: Sequence[Bin]) -> Plot:
    return Plot("reliability", title, says, bins=bins, columns=("said", "found", "low", "high", "pairs"))


def forest(plot: Plot, theme: Theme, width: int) -> dict[str, Any]:
    """One line a row: the interval as a rule, the value as a point, the band as a bar behind both."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "row": number,
            **{name: _number(getattr(mark, name)) for name in ("value", "low", "high", "band_low", "band_high")},
            "undefined": _("undefined") if math.isnan(mark.value) else "",
        }
        for number, mark in enumerate(plot.marks)
    ]
    room = label_room([mark.label for mark in plot.marks], width, theme)
    low, high = plot.domain
    scale = alt.Scale(domain=[low, high], nice=False, clamp=True)
    x_axis = alt.Axis(
        values=_ticks(low, high), labelExpr=_SHORT_NUMBER, title=plot.axis or None, labelFlush=True, orient="bottom"
    )
    y = alt.Y(
        "row:O",  # Not the label: two rows may share one.
        title=None,
        axis=alt.Axis(
            labelExpr=f"{json.dumps([mark.label for mark in plot.marks])}[datum.value]",
            **room,
        ),
    )
    base = alt.Chart(alt.InlineData(values=rows))
    layers = [
        base.transform_filter("isValid(datum.band_low)")
        .mark_bar(height=18, color=theme.band)
        .encode(x=alt.X("band_low:Q", scale=scale, axis=x_axis), x2="band_high:Q", y=y),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, color=theme.accent)
        .encode(x=alt.X("low:Q", scale=scale, axis=x_axis), x2="high:Q", y=y),
        base.transform_filter("isValid(datum.value)")
        .mark_point(filled=True, size=110, opacity=1, color=theme.accent)
        .encode(x=alt.X("value:Q", scale=scale, axis=x_axis), y=y),
        base.mark_text(align="left", color=theme.muted, fontSize=12).encode(
            x=alt.value(4), y=y, text=alt.Text("undefined:N")
        ),
    ]
    chart = alt.layer(*layers).properties(width=width_beside(room, width), height=_ROW_HEIGHT * max(len(plot.marks), 1))
    return finished(chart, theme)


def reliability(plot: Plot, theme: Theme, width: int) -> dict[str, Any]:
    """What the LLM says on the one axis, what people find on the other; the diagonal is a perfect match."""
    import altair as alt

    rows = [
        {"said": b.said, "found": b.found, "low": _number(b.low), "high": _number(b.high), "pairs": b.pairs}
        for b in plot.bins
        if not math.isnan(b.found)
    ]
    side = min(width - 60, 320)
    scale = alt.Scale(domain=[0, 1], nice=False)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    x_axis = alt.Axis(values=ticks, labelExpr=_SHORT_NUMBER, title=_("probability the LLM gives"))
    y_axis = alt.Axis(values=ticks, labelExpr=_SHORT_NUMBER, title=_("share people call relevant"))
    x, y = alt.X("said:Q", scale=scale, axis=x_axis), alt.Y("found:Q", scale=scale, axis=y_axis)
    base = alt.Chart(alt.InlineData(values=rows))
    diagonal = alt.Chart(alt.InlineData(values=[{"said": 0, "found": 0}, {"said": 1, "found": 1}]))
    layers = [
        diagonal.mark_line(color=theme.muted, strokeDash=[4, 4], strokeWidth=1).encode(x=x, y=y),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, color=theme.accent)
        .encode(x=x, y=alt.Y("low:Q", scale=scale, axis=y_axis), y2="high:Q"),
        base.mark_point(filled=True, opacity=1, color=theme.accent).encode(
            x=x, y=y, size=alt.Size("pairs:Q", scale=alt.Scale(range=[40, 260]), legend=None)
        ),
    ]
    return finished(alt.layer(*layers).properties(width=side, height=side), theme)


# .25, not 0.25; 0 and 1 as they are.
_SHORT_NUMBER = (
    "replace(replace(replace(replace(format(datum.value, '.2f'), '−', '-'), /0$/, ''), /\\.0$/, ''), "
    "/^(-?)0\\./, '$1.')"
)


def _ticks(low: float, high: float) -> list[float]:
    return [number / 4 for number in range(math.floor(low * 4), math.ceil(high * 4) + 1)]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def label_room(labels: Sequence[str], width: int, theme: Theme) -> dict[str, Any]:
    """Options of an axis whose labels stand left of the plot, each from the same line on, and take what they need."""
    room = min(int(width * _LABEL_SHARE), 12 + max((7 * len(label) for label in labels), default=0))
    sizes = dict.fromkeys(("labelLimit", "labelPadding", "minExtent", "maxExtent"), room)
    return {"labelColor": theme.ink, "labelAlign": "left", **sizes}


def width_beside(room: Mapping[str, Any], width: int) -> int:
    """Of the plot beside such labels."""
    return max(width - int(room["maxExtent"]) - 24, 80)


def finished(chart: Any, theme: Theme) -> dict[str, Any]:
    """The specification of a chart in the colours of its theme."""
    specification: dict[str, Any] = chart.to_dict()
    return specification | {"config": configured(theme), "padding": 4}
