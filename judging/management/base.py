"""What every command shares: errors that guide, a progress bar, numbers and tables that line up."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from tqdm import tqdm

from judging.errors import UserError
from judging.formats.lines import Progress
from judging.measures.intervals import Interval

T = TypeVar("T")


class StepCommand(BaseCommand):
    """A thin face of one step. Subclasses give ``help``, ``example`` and ``run``."""

    example = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Django's own formatter would fold the example into one line.
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = f"example:\n  python manage.py {self.example}"
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        raise NotImplementedError

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except UserError as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            if advice := _advice_on_database(error):
                raise CommandError(advice) from error
            raise
        except OSError as error:
            if error.filename is None:
                raise
            raise CommandError(f"{error.filename}: {error.strerror}.") from error
        except KeyboardInterrupt:
            self._end_undisturbed()
            raise CommandError(
                "Stopped. What was finished is kept; give the command again to go on.", returncode=130
            ) from None

    def _end_undisturbed(self) -> None:
        """A second Ctrl-C while the process ends would only show where it was just then."""
        if getattr(self, "_called_from_command_line", False) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def run(self, **options: Any) -> None:
        raise NotImplementedError

    def track(self, items: Iterable[T], total: int | None, what: str) -> Iterable[T]:
        """A progress bar on a terminal, nothing in a file or a pipe."""
        return tqdm(items, total=total, desc=what, disable=None, file=sys.stderr, dynamic_ncols=True, leave=False)

    def meter(self, read: Callable[[Progress], Iterable[T]], size: int, what: str) -> Iterable[T]:
        """The same of a file: bytes of all its bytes, and how many records they were."""
        if not size:
            yield from self.track(read(lambda _more: None), None, what)
            return
        count = 0
        with tqdm(
            total=size, unit="B", unit_scale=True, disable=None, file=sys.stderr, dynamic_ncols=True, leave=False
        ) as bar:

            def tell(more: int) -> None:
                bar.set_postfix_str(f"{count:,} {what}", refresh=False)
                bar.update(more)

            for item in read(tell):
                count += 1
                yield item

    @contextmanager
    def bytes_bar(self, what: str) -> Iterator[Callable[[int, int | None], None]]:
        """The same for a transfer: what is to be told how many more bytes came, and how many there are in all."""
        with tqdm(
            desc=what, unit="B", unit_scale=True, disable=None, file=sys.stderr, dynamic_ncols=True, leave=False
        ) as bar:

            def tell(more: int, total: int | None) -> None:
                bar.total = total
                bar.update(more)

            yield tell

    def say(self, *lines: str) -> None:
        try:
            for line in lines:
                self.stdout.write(line)
        except BrokenPipeError:
            # Who reads, such as head, has seen enough; Python would complain once more when it closes the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(128 + signal.SIGPIPE) from None

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Columns that line up: the first to the left, the others to the right."""
        cells = [list(header), *map(list, rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
        for row in cells:
            line = [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
            self.say("  ".join(line).rstrip())


def _advice_on_database(problem: DatabaseError) -> str:
    """What a database that was not set up lacks, or that it broke off; empty where the fault is not the database's."""
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError as error:
        return f"The database does not answer; DATABASE_URL says which one is used. {str(error).strip()}"
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return "The database is not set up for this version: python manage.py migrate"
    if isinstance(problem, OperationalError | InterfaceError):
        reason = " ".join(str(problem).split()).rstrip(".")
        return (
            f"The database broke off: {reason}. What was not finished is undone, what was finished is kept; "
            "give the command again."
        )
    return ""


def at_least_1(text: str) -> int:
    """For ``add_argument(type=…)``."""
    if not text.isdecimal() or not (value := int(text)):
        raise ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return value


def number(value: float, digits: int = 3) -> str:
    """A figure, or the word ``undefined``; never a 0 that was not measured."""
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def between(interval: Interval | None, digits: int = 3) -> str:
    if interval is None or math.isnan(interval.low):
        return "undefined"
    return f"{interval.low:.{digits}f} – {interval.high:.{digits}f}"


def count(number_of: int, one: str, many: str | None = None) -> str:
    return f"{number_of:,} {one if number_of == 1 else many or one + 's'}"


def some(names: Sequence[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
