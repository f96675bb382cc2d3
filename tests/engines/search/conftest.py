from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services import elasticsearch_server


@pytest.fixture(scope="session")
def elasticsearch_url() -> Iterator[str]:
    with elasticsearch_server() as url:
        yield url
