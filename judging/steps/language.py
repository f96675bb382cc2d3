"""What measures say with numbers in it, in the language of whoever is asked for now."""

from __future__ import annotations

from django.utils.translation import gettext

from judging.formats.scale import default_scale
from judging.measures.sentence import Sentence

_USUAL_WORDS = frozenset(grade.word for highest in (1, 2, 3) for grade in default_scale(highest))


def in_language(text: str) -> str:
    """A sentence that remembers its parts, in the language of the page; any other text as it is.

    A value called ``reason`` is a sentence of ours itself; other values are numbers and names.
    """
    if not isinstance(text, Sentence):
        return text
    return gettext(text.template) % {
        name: gettext(value) if name == "reason" else value for name, value in text.values.items()
    }


def word_in_language(word: str) -> str:
    """The word of a grade of the usual scales, in the language of the page; a collection's own word as it is."""
    return gettext(word) if word in _USUAL_WORDS else word
