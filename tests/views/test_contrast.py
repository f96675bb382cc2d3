"""Colours of both themes, from the style sheets: text has 4.5 to 1 on whatever it stands, signs have 3 to 1."""

from __future__ import annotations

import re

import pytest
from django.conf import settings

CSS = "\n".join(
    (settings.BASE_DIR / "static" / f"{name}.css").read_text(encoding="utf-8") for name in ("unjudged", "judging")
)

# Which text stands on which ground.
TEXT = {
    "ink": ["paper", "raised", "soft"],
    "muted": ["paper", "raised", "soft"],
    "accent": ["paper", "raised", "soft"],
    "problem": ["paper", "raised"],
    "on-accent": ["accent"],
    "mark-ink": ["mark"],
    "shade-ink": ["shade-1", "shade-2", "shade-3", "shade-4"],
}

# Focus rings, edges of fields, bars and lines of plots, and what lies beside them.
SIGNS = {"accent": ["paper", "raised", "line", "shade-2"], "muted": ["paper", "raised"], "problem": ["paper", "raised"]}

# Grounds on which nothing is written: empty bars.
NO_TEXT_ON = {"line"}


def tokens(selector: str) -> dict[str, str]:
    """The colours that a block of the style sheet sets."""
    start = CSS.index(selector + " {")
    block = CSS[start : CSS.index("}", start)]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


LIGHT = tokens(":root")
DARK = tokens(':root[data-theme="dark"]')


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def too_faint(theme: dict[str, str], pairs: dict[str, list[str]], least: float) -> dict[str, float]:
    ratios = {f"{over} on {under}": contrast(theme[over], theme[under]) for over in pairs for under in pairs[over]}
    return {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least}


def test_contrast_is_computed_as_wcag_does():
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(theme):
    assert too_faint(theme, TEXT, 4.5) == {}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_signs_can_be_seen(theme):
    assert too_faint(theme, SIGNS, 3) == {}


def test_dark_is_the_same_whether_the_system_or_the_switch_asks_for_it():
    assert tokens(':root:not([data-theme="light"])') == DARK


def test_both_themes_set_the_same_colours():
    assert LIGHT.keys() == DARK.keys()


def test_every_colour_that_the_style_sheet_uses_is_in_these_tables():
    texts = set(re.findall(r"(?<![\w-])color: var\(--([\w-]+)\)", CSS))
    grounds = set(re.findall(r"background(?:-color)?: var\(--([\w-]+)\)", CSS))
    assert texts - TEXT.keys() == set()
    assert grounds - {ground for under in TEXT.values() for ground in under} - NO_TEXT_ON == set()
