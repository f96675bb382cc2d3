"""The colours of a plot on light and on dark paper, and its widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Theme:
    paper: str
    ink: str
    muted: str
    line: str
    accent: str
    band: str


LIGHT = Theme("#fbfaf6", "#1c1c21", "#5d5d66", "#dfddd4", "#2c5c4b", "#c6d6cd")
DARK = Theme("#17181a", "#e9e7e1", "#a5a49e", "#37393b", "#86c2a9", "#2a4438")
THEMES = {"light": LIGHT, "dark": DARK}

# Pixels in all, by the room there is: an image is never scaled down to unreadable letters.
WIDTHS = {"wide": 620, "small": 328}


def configured(theme: Theme) -> dict[str, Any]:
    """The ``config`` of a specification; the paper shows through."""
    labels = {"labelColor": theme.muted, "titleColor": theme.muted, "labelFontSize": 12, "titleFontSize": 12}
    plain = {"domain": False, "ticks": False, "titleFontWeight": "normal", "labelFontWeight": "normal"}
    return {
        "background": "transparent",
        "font": "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif",
        "view": {"stroke": None},
        "axis": labels | plain | {"gridColor": theme.line, "labelPadding": 8},
        "text": {"color": theme.ink},
    }
