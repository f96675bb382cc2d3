"""Queries turned into SQL once: on the judging page, building them took several times as long as running them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models.query import get_related_populators
from django.db.models.sql import UpdateQuery

R = TypeVar("R")

# A value of each kind, another for each number.
_STAND_INS: Mapping[type, Callable[[int], Any]] = {
    int: lambda number: number,
    str: lambda number: f"stand-in {number}",
    datetime: lambda number: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=number),
}


class Compiled(Generic[R]):
    """A query set in which nothing varies but values: whole numbers such as primary keys, texts, times.

    ``build`` makes it from its parameters, as any function would; it is called with stand-ins, when the first rows are
    wanted. So a query set that depends on anything else, such as the size of a number, cannot be one. ``kinds`` names
    the parameters that are no whole numbers: ``str`` or ``datetime``.
    Rows are objects, with ``select_related`` and annotations, or the tuples of ``values_list``.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, R]], **kinds: type) -> None:
        self._build = build
        self._kinds = kinds

    def all(self, **values: Any) -> list[R]:
        return list(self._rows(values))

    def first(self, **values: Any) -> R | None:
        """The first row. The query set says with ``[:1]`` that it wants no more."""
        return next(self._rows(values), None)

    def _rows(self, values: Mapping[str, Any]) -> Iterator[R]:
        statement, read = self._compiled
        with statement.run(values) as cursor:
            return read(cursor.fetchall())

    @cached_property
    def _compiled(self) -> tuple[Statement, Callable[[Iterable[Sequence[Any]]], Iterator[R]]]:
        made: list[Any] = []

        def sql(**values: Any) -> tuple[str, Sequence[Any]]:
            query_set = self._build(**values)
            compiler = query_set.query.get_compiler(connection=connection)
            made.append((query_set, compiler))
            compiled: tuple[str, Sequence[Any]] = compiler.as_sql()
            return compiled

        statement = Statement(self._build, sql, self._kinds)
        query_set, compiler = made[0]
        read: Callable[..., Iterator[Any]] = Converters(compiler, [column[0] for column in compiler.select]).rows
        if query_set.query.default_cols:
            make = _Model(compiler).object
            return statement, lambda rows: map(make, read(rows))
        return statement, read


class CompiledUpdate:
    """What ``build`` makes of its parameters: a query set, and the values that ``update`` sets; as in ``Compiled``."""

    def __init__(self, build: Callable[..., tuple[models.QuerySet[Any], Mapping[str, Any]]], **kinds: type) -> None:
        self._build = build
        self._kinds = kinds

    def run(self, **values: Any) -> int:
        """How many rows were changed."""
        with self._statement.run(values) as cursor:
            return int(cursor.rowcount)

    @cached_property
    def _statement(self) -> Statement:
        def sql(**values: Any) -> tuple[str, Sequence[Any]]:
            query_set, changes = self._build(**values)
            query: Any = query_set.query.chain(UpdateQuery)
            query.add_update_values(changes)
            updated: tuple[str, Sequence[Any]] = query.get_compiler(connection=connection).as_sql()
            return updated

        return Statement(self._build, sql, self._kinds)


class Statement:
    """SQL with the places of its values, of which ``build`` names the parameters. It belongs to no connection."""

    def __init__(
        self, build: Callable[..., Any], sql: Callable[..., tuple[str, Sequence[Any]]], kinds: Mapping[str, type]
    ) -> None:
        self._names = list(inspect.signature(build).parameters)
        stand_ins = [_STAND_INS[kinds.get(name, int)] for name in self._names]
        size = len(self._names)
        one = [make(number) for number, make in enumerate(stand_ins)]
        other = [make(number + size) for number, make in enumerate(stand_ins)]
        self._sql, params = sql(**dict(zip(self._names, one, strict=True)))
        other_sql, other_params = sql(**dict(zip(self._names, other, strict=True)))
        # Where another stand-in changes what is passed to the database, a value has its place.
        pairs = list(zip(params, other_params, strict=True))
        passed = list(zip(map(_passed, one), map(_passed, other), strict=True))
        changing = [place for place, pair in enumerate(pairs) if pair[0] != pair[1]]
        if other_sql != self._sql or {pairs[place] for place in changing} != set(passed):
            names = ", ".join(self._names)
            raise TypeError(f"Expected {names} as values that are passed to the database; found {self._sql}")
        self._params = list(params)
        self._places = [(place, self._names[passed.index(pairs[place])]) for place in changing]

    def run(self, values: Mapping[str, Any]) -> Any:
        """The cursor that has run it."""
        params = self._params.copy()
        for place, name in self._places:
            params[place] = _passed(values[name])
        return run(self._sql, params)


def run(sql: str, params: Sequence[Any]) -> Any:
    """The cursor that has run it; where the database can, the values stay beside the SQL (``annotator/postgresql``)."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    cursor = getattr(database, "bound_cursor", database.cursor)()
    cursor.execute(sql, params)
    return cursor


def _passed(value: Any) -> Any:
    """A value as a compiler passes it to the database."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


class Converters:
    """From what the database gives to what the columns' fields hold, as in a compiler's ``results_iter``.

    Those of SQLite belong to the connection that they were made on; they read nothing but its time zone.
    """

    def __init__(self, compiler: Any, columns: Sequence[Any]) -> None:
        self._converters = [(place, *found) for place, found in compiler.get_converters(columns).items()]

    def rows(self, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        return map(self._row, rows) if self._converters else iter(rows)

    def _row(self, row: Sequence[Any]) -> Sequence[Any]:
        values = list(row)
        for place, converters, column in self._converters:
            for convert in converters:
                values[place] = convert(values[place], column, connection)
        return tuple(values)


class _Model:
    """How the columns of a query become an object, as in Django's own ``ModelIterable``."""

    def __init__(self, compiler: Any) -> None:
        fields = compiler.klass_info["select_fields"]
        self._from_db = compiler.klass_info["model"].from_db
        self._columns = slice(fields[0], fields[-1] + 1)
        self._names = [column[0].target.attname for column in compiler.select[self._columns]]
        populators: Any = get_related_populators
        self._related = populators(compiler.klass_info, compiler.select, connection.alias)
        self._annotations = list((compiler.annotation_col_map or {}).items())

    def object(self, row: Sequence[Any]) -> Any:
        made = self._from_db(connection.alias, self._names, row[self._columns])
        for related in self._related:
            related.populate(row, made)
        for name, place in self._annotations:
            setattr(made, name, row[place])
        return made
