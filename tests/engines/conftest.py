"""Tiny models, made once a session. The hub is switched off before anything can import its library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import tiny_models

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"


@pytest.fixture(scope="session")
def phi3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Phi-3 that answers 0 or 1."""
    return tiny_models.tiny_phi3(tmp_path_factory.mktemp("models") / "tiny-phi3")


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT classifier of one output."""
    return tiny_models.tiny_cross_encoder(tmp_path_factory.mktemp("models") / "tiny-cross-encoder")


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plain BERT encoder."""
    return tiny_models.tiny_encoder(tmp_path_factory.mktemp("models") / "tiny-encoder")
