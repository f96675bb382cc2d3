"""What every test may use: the real collections where they are, quiet static files, and rows made in a line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.utils import translation

DATA = Path(os.environ.get("UNJUDGED_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
SAMPLE = Path(__file__).resolve().parent.parent / "fixtures" / "sample"

# Models and data sets come from folders; nothing may be looked up on a hub.
os.environ["HF_HUB_OFFLINE"] = "1"
# Playwright runs a loop of its own beside Django's, which refuses to touch the database from it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use the database say so, for they run once more on PostgreSQL."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if item.get_closest_marker("django_db") or {"db", "transactional_db", "live_server"} & set(fixtures):
            item.add_marker("database")
        if "browser" in item.nodeid.split("/")[1:2]:
            item.add_marker("browser")


@pytest.fixture(autouse=True)
def _own_folders(settings, tmp_path):
    """Search indexes lie in a folder of the test's own."""
    settings.INDEX_DIR = tmp_path / "index"


@pytest.fixture(autouse=True)
def _own_language():
    """A page that a test asked for in French leaves its thread in French, which the next test must not find."""
    yield
    translation.deactivate()
