from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import elasticsearch_server

DATA = Path(os.environ.get("UNJUDGED_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")


@pytest.fixture(scope="session")
def elasticsearch_url() -> Iterator[str]:
    with elasticsearch_server() as url:
        yield url
