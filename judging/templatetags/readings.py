"""Texts for the eyes of people: a ``Reading`` as HTML, queries and beginnings with their characters repaired."""

from __future__ import annotations

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from judging.steps.reading import Paragraph, repaired

register = template.Library()


@register.filter
def marked(paragraph: Paragraph) -> SafeString:
    """Words of the query as ``<mark>``, everything escaped. Done here, not in a template, whose loop takes ten times as
    long for the many pieces of a document.
    """
    parts = (
        f"<mark>{conditional_escape(piece.text)}</mark>" if piece.is_match else conditional_escape(piece.text)
        for piece in paragraph
    )
    return mark_safe("".join(parts))  # noqa: S308


register.filter("repaired", repaired)


@register.filter
def beginning(text: str, characters: int) -> str:
    """The first characters of a text, repaired; ``…`` where it goes on."""
    # What is repaired grows shorter, and a text may be long.
    return Truncator(repaired(text[: 4 * characters])).chars(characters)
