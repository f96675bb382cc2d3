"""Figures as they stand in tables; an undefined one is shown as undefined, never as 0 or 1."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from django import template
from django.utils.formats import get_format
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judging.formats.scale import Scale
from judging.measures.intervals import Interval
from judging.steps.agreement.tables import LEAST_P
from judging.views.words import in_language

register = template.Library()


@register.simple_block_tag
def scrolled(content: str) -> str:
    """A table that may be wider than the page: it scrolls by itself, by keys too."""
    return format_html('<div class="scroll" tabindex="0" role="group" aria-label="{}">{}</div>', _("Table"), content)


@register.filter
def source_in_words(source: str) -> str:
    """Who found a grade: ``people:2/3`` is 2 of 3 people; other sources are words already."""
    match source.removeprefix("people:").partition("/"):
        case agreed, "/", asked if agreed == asked:
            return ngettext("%(count)s person", "%(count)s people", int(asked)) % {"count": asked}
        case agreed, "/", asked:
            return _("%(agreed)s of %(asked)s people") % {"agreed": agreed, "asked": asked}
    return in_language(source)


@register.filter
def decimal(value: float, digits: int = 3) -> str:
    """``0.8123`` → ``.812``; ``-0.02`` → ``−.020``; where the comma is used, ``0,812``."""
    if math.isnan(value):
        return _("undefined")
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) else ""
    point = get_format("DECIMAL_SEPARATOR")
    return sign + (text.removeprefix("0") or "0" if point == "." else text.replace(".", point))


@register.filter
def signed(value: float, digits: int = 3) -> str:
    """``0.02`` → ``+.020``: a difference, whose direction is half of what it says."""
    text = decimal(value, digits)
    return f"+{text}" if value > 0 and float(f"{value:.{digits}f}") else text


@register.filter
def p_value(p: float) -> str:
    """``.0312``; ``< .0001`` for what would be read as none at all."""
    return f"< {decimal(LEAST_P, 4)}" if p < LEAST_P else decimal(p, 4)


@register.filter
def absolute(value: float) -> float:
    return abs(value)


@register.filter
def percent(value: float) -> str:
    return _("undefined") if math.isnan(value) else _("%(number)s %%") % {"number": f"{100 * value:.0f}"}


@register.filter
def whole_percent(value: float) -> str:
    """The number alone, for a sentence that says "to" between two of them."""
    return _("undefined") if math.isnan(value) else f"{100 * value:.0f}"


@register.filter
def between(interval: Interval | None, digits: int = 3) -> str:
    """Both ends, or the reason why there are none."""
    if interval is None:
        return ""
    if math.isnan(interval.low):
        return in_language(interval.reason) or _("undefined")
    return f"{decimal(interval.low, digits)} – {decimal(interval.high, digits)}"


@register.filter
def ends(interval: Interval | None, digits: int = 3) -> str:
    """Both ends, or ``none``: for tables that say below them why an interval may be missing."""
    if interval is None or math.isnan(interval.low):
        return _("none")
    return between(interval, digits)


@register.filter
def count_of(counts: Mapping[str, int], name: str) -> int:
    """A count; what did not occur was counted 0 times."""
    return counts.get(name, 0)


@register.filter
def lookup(mapping: dict[object, object], key: object) -> object:
    return mapping[key]


@register.filter
def word_of(scale: Scale, grade: int) -> str:
    return in_language(scale.word(grade))


@register.filter
def translated(text: str) -> str:
    """Words of ours that steps and measures give in English; others stay as they are."""
    return in_language(text)


@register.filter
def as_json(value: object) -> str:
    """A configuration in one line."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


@register.filter
def as_attribute(value: float) -> str:
    """A number as HTML reads it, whatever the language of the page."""
    return f"{value:.4f}"
