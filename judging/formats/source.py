"""A BEIR folder, or a zip of one: two places that hold the same files under the same names."""

from __future__ import annotations

import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePath
from typing import IO

from judging.errors import FileError, UserError
from judging.formats.lines import open_file

QRELS = "qrels"
EXPECTED = "corpus.jsonl[.gz|.zst], queries.jsonl[.gz|.zst] and qrels/<split>.tsv[.gz|.zst]"

# What zipfile raises of bytes that are no zip, or no longer.
DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError, struct.error)


class Source(ABC):
    """Files by name. Names are relative and use ``/``; folders other than ``qrels`` are listed as ``name/`` only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def names(self) -> list[str]:
        """The names that ``open`` takes, and folders as ``name/``, sorted."""

    @abstractmethod
    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """The bytes of one file. FileError where they cannot be read."""

    @abstractmethod
    def size(self, name: str) -> int:
        """The bytes that reading the file once takes."""

    @abstractmethod
    def label(self, name: str) -> str:
        """The name for people: ``nfcorpus/qrels/test.tsv``, ``nfcorpus.zip!qrels/test.tsv``."""


def open_source(path: str | PurePath) -> Source:
    """The folder or zip at ``path``; a UserError that says what was expected for anything else."""
    path = Path(path)
    if path.is_dir():
        return FolderSource(path)
    if not path.exists():
        raise FileError(path, None, f"expected a folder or a zip file with {EXPECTED}; found nothing of that name.")
    with open_file(path):
        if zipfile.is_zipfile(path):
            return ZipSource(path)
    raise UserError(
        f"{path}: expected a folder or a zip file with {EXPECTED}; found a file that is not a whole zip file. "
        "Unpack it, or fetch it again."
    )


class FolderSource(Source):
    def names(self) -> list[str]:
        found = []
        for entry in self._entries(self.path):
            if not entry.is_dir():
                found.append(entry.name)
            elif entry.name == QRELS:
                found += [f"{QRELS}/{inner.name}" for inner in self._entries(entry) if not inner.is_dir()]
            else:
                found.append(f"{entry.name}/")
        return sorted(found)

    def _entries(self, folder: Path) -> list[Path]:
        try:
            return [entry for entry in folder.iterdir() if not _is_hidden(entry.name)]
        except OSError as error:
            raise FileError(folder, None, f"expected a readable folder, found: {error.strerror}.") from None

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        return open_file(self.path / name)

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size

    def label(self, name: str) -> str:
        return str(self.path / name)


class ZipSource(Source):
    """A zip that holds the files at its top, or all of them in one folder, as the official BEIR zips do."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            with zipfile.ZipFile(path) as archive:
                entries = [info for info in archive.infolist() if info.filename and info.filename[-1] != "/"]
        except DAMAGED as error:
            raise FileError(path, None, f"expected an intact zip file, found: {error}. Fetch it again.") from None
        members = {info.filename.replace("\\", "/").removeprefix("./"): info.filename for info in entries}
        members = {name: member for name, member in members.items() if not any(map(_is_hidden, name.split("/")))}
        top = _only_folder(members)
        self._members = {name.removeprefix(top): member for name, member in members.items()}
        self._sizes = {info.filename: info.file_size for info in entries}

    def names(self) -> list[str]:
        return sorted({_listed(name) for name in self._members})

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        label = self.label(name)
        if name not in self._members:
            raise FileError(label, None, "expected a file of this name in the zip, found none.")
        try:
            archive = zipfile.ZipFile(self.path)
        except DAMAGED as error:
            raise FileError(self.path, None, f"expected an intact zip file, found: {error}. Fetch it again.") from None
        with archive:
            try:
                if archive.getinfo(self._members[name]).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise NotImplementedError("another compression")
                member = archive.open(self._members[name])
            except (RuntimeError, KeyError, *DAMAGED) as error:
                problem = f"expected a plain or deflated file in the zip, found: {error}. Unpack it and use the folder."
                raise FileError(label, None, problem) from None
            with member:
                yield member

    def size(self, name: str) -> int:
        return self._sizes[self._members[name]]

    def label(self, name: str) -> str:
        return f"{self.path}!{name}"


def _is_hidden(part: str) -> bool:
    """What operating systems leave behind."""
    return part.startswith(".") or part == "__MACOSX"


def _listed(name: str) -> str:
    folder, slash, rest = name.partition("/")
    return name if not slash or (folder == QRELS and "/" not in rest) else f"{folder}/"


def _only_folder(names: dict[str, str]) -> str:
    """The one folder that wraps all names, with its slash; empty where there is none."""
    tops = {name.partition("/")[0] for name in names}
    if len(tops) != 1 or any("/" not in name for name in names) or tops == {QRELS}:
        return ""
    return f"{tops.pop()}/"
