"""An index on disk that is replaced as a whole.

Each build has a subfolder of its own; ``index.json`` beside them names the one that serves. It is written last and
replaced atomically, so a reader sees the old index or the new one, and a killed build leaves nothing that looks whole.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judging.errors import UserError

_MANIFEST = "index.json"
_PREFIX = "build-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known of the index that serves. ``build`` is the name of its subfolder."""

    build: str
    corpus: str
    documents: int
    identity: dict[str, Any]


def serving(folder: Path) -> Manifest | None:
    """The manifest of the index that serves, or None where there is none."""
    try:
        manifest = Manifest(**json.loads((folder / _MANIFEST).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return manifest if (folder / manifest.build).is_dir() else None


@contextmanager
def new_build(folder: Path) -> Iterator[Path]:
    """An empty subfolder to build in; removed again unless it was published. One build at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        _remove_all_but_serving(folder)
        build = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
        try:
            yield build
        finally:
            _remove_all_but_serving(folder)


def publish(folder: Path, manifest: Manifest) -> None:
    """Let the build serve that the manifest names."""
    draft = folder / f"{_MANIFEST}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _MANIFEST)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    # A lock of the operating system, because it goes with the process that held it, however that ended.
    with (folder / "build.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{folder}: expected no other build of this index, found one under way. Wait until it is done."
            ) from None
        yield


def _remove_all_but_serving(folder: Path) -> None:
    manifest = serving(folder)
    for build in folder.glob(f"{_PREFIX}*"):
        if manifest is None or build.name != manifest.build:
            shutil.rmtree(build)
