"""The specifications of counts: shares of each grade side by side, and a histogram whose bars are made of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from judging.steps.plots.charts import Bar, Plot, finished, label_room, width_beside
from judging.steps.plots.theme import Theme

_ROW_HEIGHT = 22
_COLUMNS = ("label", "series", "count", "share")


def bars_plot(title: str, says: str, bars: Sequence[Bar], *, axis: str) -> Plot:
    """``bars`` of each label side by side, one a series; their length is the share."""
    return Plot("bars", title, says, bars=bars, axis=axis, columns=_COLUMNS)


def histogram_plot(title: str, says: str, bars: Sequence[Bar], *, axis: str, domain: tuple[float, float]) -> Plot:
    """``bars`` of a bin on top of each other, one a series; their height is the count."""
    columns = ("low", "high", "series", "count")
    return Plot("histogram", title, says, bars=bars, axis=axis, domain=domain, columns=columns)


def bars(plot: Plot, theme: Theme, width: int) -> dict[str, Any]:
    import altair as alt

    labels = list(dict.fromkeys(bar.label for bar in plot.bars))
    series = list(dict.fromkeys(bar.series for bar in plot.bars))
    rows = [{"label": bar.label, "series": bar.series, "share": bar.share} for bar in plot.bars]
    room = label_room(labels, width, theme)
    axis = alt.Axis(**room)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("label:N", sort=labels, title=None, axis=axis, scale=alt.Scale(paddingInner=0.3)),
        yOffset=alt.YOffset("series:N", sort=series),
        x=alt.X(
            "share:Q", title=plot.axis, scale=alt.Scale(domain=[0, 1], nice=False),
            axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format="%", labelFlush=True),
        ),
    )  # fmt: skip
    chart = base.mark_bar(stroke=theme.muted, strokeWidth=0.75).encode(color=_colour(series, theme))
    rows_in_all = len(labels) * len(series)
    height = max(_ROW_HEIGHT * rows_in_all, 60)
    return finished(chart.properties(width=width_beside(room, width), height=height), theme)


def histogram(plot: Plot, theme: Theme, width: int) -> dict[str, Any]:
    import altair as alt

    series = list(dict.fromkeys(bar.series for bar in plot.bars))
    rows = [
        {"low": bar.low, "high": bar.high, "series": bar.series, "count": bar.count, "order": series.index(bar.series)}
        for bar in plot.bars
    ]
    x = alt.X(
        "low:Q", bin="binned", title=plot.axis, scale=alt.Scale(domain=list(plot.domain), nice=False),
        axis=alt.Axis(tickCount=5, labelFlush=True),
    )  # fmt: skip
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(stroke=theme.muted, strokeWidth=0.5, binSpacing=0)
        .encode(
            x=x, x2="high:Q", order="order:O",
            y=alt.Y("count:Q", stack=True, title=_("pairs"), axis=alt.Axis(tickMinStep=1, format="d")),
            color=_colour(series, theme),
        )
    )  # fmt: skip
    return finished(chart.properties(width=max(width - 60, 80), height=200), theme)


def _colour(series: Sequence[str], theme: Theme) -> Any:
    """From dark to the paper, for at most three series; bars have an outline, so that none melts into the paper."""
    import altair as alt

    colours = [theme.accent, theme.band, theme.paper][: max(len(series), 1)]
    legend = alt.Legend(
        title=None, orient="top", columns=1, labelLimit=0, labelFontSize=12, symbolType="square", labelColor=theme.ink,
        symbolStrokeColor=theme.muted,
    )  # fmt: skip
    return alt.Color("series:N", sort=list(series), scale=alt.Scale(domain=list(series), range=colours), legend=legend)
