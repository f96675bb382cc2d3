"""A plot on a page, and the answers at its addresses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import Http404, HttpResponse

from judging.steps import plots
from judging.steps.plots.theme import THEMES, WIDTHS
from judging.views.access import Request

TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class ShownPlot:
    """A plot on a page, and its addresses: by theme and size, and to download."""

    plot: plots.Plot
    light: str
    light_small: str
    dark: str
    dark_small: str
    svg: str
    png: str
    csv: str


def shown_plot(plot: plots.Plot, address: Callable[..., str]) -> ShownPlot:
    """``address`` makes that of a form, with the theme and size of an image of the page as keyword arguments."""
    images = [address("svg", theme=theme, size=size) for theme in THEMES for size in WIDTHS]
    return ShownPlot(plot, *images, *(address(form) for form in TYPES))


def plot_response(request: Request, plot: plots.Plot, form: str, name: str) -> HttpResponse:
    """An SVG of a theme and a size, a PNG, or the CSV of its data; ``name`` is that of the file to be kept.

    Raises: Http404 for another form.
    """
    if form not in TYPES:
        raise Http404
    theme = request.GET.get("theme", "light")
    theme = theme if theme in THEMES else "light"
    size = request.GET.get("size", "wide")
    content: str | bytes
    match form:
        case "svg":
            content = plots.as_svg(plot, theme=theme, size=size if size in WIDTHS else "wide")
        case "png":
            content = plots.as_png(plot, theme=theme)
        case _:
            content = plots.as_csv(plot)
    shown_in_page = "size" in request.GET
    disposition = {} if shown_in_page else {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return HttpResponse(content, content_type=TYPES[form], headers=disposition)
