"""Guidelines of a pool: Markdown in, safe HTML out."""

from __future__ import annotations

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# Without raw HTML, and without images: what is left cannot run or load anything.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


@lru_cache(maxsize=32)
def as_html(markdown: str) -> SafeString:
    html: str = _MARKDOWN.render(markdown)
    return mark_safe(html)  # noqa: S308
