"""Spans of time in words."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@register.filter
def duration(seconds: float) -> str:
    """``9480`` → ``2 h 38 min``: no more precise than an estimate is."""
    if seconds < _MINUTE:
        return _("less than a minute")
    if seconds < _HOUR:
        return _("%(minutes)s min") % {"minutes": round(seconds / _MINUTE)}
    if seconds < 2 * _DAY:
        hours, rest = divmod(round(seconds / _MINUTE), 60)
        return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest}
    days = round(seconds / _DAY)
    return ngettext("%(days)s day", "%(days)s days", days) % {"days": days}
