"""The one kind of error that a user can cause, and the only module that every room imports.

Commands print the message of a ``UserError`` without a traceback, pages show it as it is. So the message is the user's
guide: what was expected, what was found, where, and what to do about it.
"""

from __future__ import annotations

from pathlib import PurePath


class UserError(Exception):
    """A mistake that the user can mend."""


class FileError(UserError):
    """A file that is not what it should be; shown as ``file:line: expected …, found …``.

    ``line`` counts from 1 and is left out where the fault lies in the whole file.
    """

    def __init__(self, file: str | PurePath, line: int | None, problem: str) -> None:
        self.file = str(file)
        self.line = line
        self.problem = problem
        where = self.file if line is None else f"{self.file}:{line}"
        super().__init__(f"{where}: {problem}")
