"""Figures as they stand in tables; an undefined one is shown as undefined, never as 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Mapping

from django import template
from django.utils.translation import gettext as _

from judging.measures.agreement import Comparison
from judging.measures.intervals import Estimate, Interval

register = template.Library()


@register.filter
def decimal(value: float, digits: int = 3) -> str:
    """``0.8123`` → ``.812``; ``-0.02`` → ``−.020``."""
    if math.isnan(value):
        return _("undefined")
    text = f"{abs(value):.{digits}f}".removeprefix("0") or "0"
    return ("−" if value < 0 and float(text) else "") + text


@register.filter
def percent(value: float) -> str:
    return _("undefined") if math.isnan(value) else f"{100 * value:.0f} %"


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
        return interval.reason or _("undefined")
    return f"{decimal(interval.low, digits)} – {decimal(interval.high, digits)}"


@register.filter
def is_defined(value: float | Estimate) -> bool:
    return not math.isnan(value.value if isinstance(value, Estimate) else value)


@register.filter
def position(value: float, offset: float = 0) -> str:
    """A place on a drawing whose unit is 1,000 wide, clipped to it."""
    return f"{1000 * min(max(value + offset, 0), 1):.1f}"


@register.filter
def coefficient(compared: Comparison | None, name: str) -> Estimate | None:
    """One coefficient of a comparison; None where there was nothing to compare."""
    return compared.graded[name] if compared else None


@register.filter
def count_of(counts: Mapping[str, int], name: str) -> int:
    """A count; what did not occur was counted 0 times."""
    return counts.get(name, 0)


@register.filter
def lookup(mapping: dict[object, object], key: object) -> object:
    return mapping[key]
