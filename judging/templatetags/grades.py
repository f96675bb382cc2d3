"""The buttons of a scale: the same under every document, so they are rendered once a scale and language."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from judging.formats.scale import Scale

register = template.Library()


@register.simple_tag
def grade_buttons(scale: Scale, label: str, chosen: int | None) -> SafeString:
    """A button a grade, in a group of that name; ``chosen`` is the grade that was given before."""
    return _buttons(scale, label, chosen, get_language())


@lru_cache(maxsize=256)
def _buttons(scale: Scale, label: str, chosen: int | None, language: str | None) -> SafeString:  # noqa: ARG001 — the words depend on it
    return render_to_string("parts/grades.html", {"scale": scale, "label": label, "chosen": chosen})
