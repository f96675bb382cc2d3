"""Plots: Vega-Lite specifications written with altair, rendered to SVG and PNG without a browser or a network.

altair and vl-convert are imported when a plot is asked for, never before.
"""

from judging.steps.plots.charts import Bar, Bin, Mark, Plot, forest, reliability
from judging.steps.plots.render import as_csv, as_png, as_svg, specification

__all__ = ["Bar", "Bin", "Mark", "Plot", "as_csv", "as_png", "as_svg", "forest", "reliability", "specification"]
