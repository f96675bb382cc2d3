"""No template and no static file lies about unused, and none is asked for that is not there."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.template.loader import get_template

# Django asks for these by itself.
BY_CONVENTION = {"400.html", "403.html", "403_csrf.html", "404.html", "500.html"}

TEMPLATES = settings.BASE_DIR / "templates"
STATIC = settings.BASE_DIR / "static"
NAME = re.compile(r"""["']([\w./-]+\.(?:html|js|css|svg|png|ico))(?:#\w+)?["']""")


def referenced() -> set[str]:
    files = [
        *TEMPLATES.rglob("*.html"),
        *(settings.BASE_DIR / "judging").rglob("*.py"),
        *(settings.BASE_DIR / "annotator").rglob("*.py"),
        *STATIC.rglob("*.js"),
        *STATIC.rglob("*.css"),
    ]
    return {name for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))}


def templates() -> list[str]:
    return sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*") if path.is_file())


def test_every_template_is_used():
    assert set(templates()) - BY_CONVENTION - referenced() == set()


def test_every_static_file_is_used():
    assert {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()} - referenced() == set()


def test_every_file_that_is_named_exists():
    there = {*templates(), *(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*"))}
    assert referenced() - there == set()


@pytest.mark.parametrize("name", templates())
def test_every_template_can_be_read(name):
    assert get_template(name)
