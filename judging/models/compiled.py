"""Queries turned into SQL once: on the judging page, building them took several times as long as running them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import connection, models
from django.db.models.query import get_related_populators

R = TypeVar("R")


class Compiled(Generic[R]):
    """A query set in which nothing varies but whole numbers, such as primary keys.

    ``build`` makes it from its parameters, as any function would; it is called with stand-ins, when the first rows are
    wanted. So a query set that depends on anything else, such as the time or the size of a number, cannot be one.
    Rows are objects, with ``select_related`` and annotations, or the tuples of ``values_list``.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, R]]) -> None:
        self._build = build

    def all(self, **values: int) -> list[R]:
        return list(self._statement.rows([values[name] for name in self._names]))

    def first(self, **values: int) -> R | None:
        """The first row. The query set says with ``[:1]`` that it wants no more."""
        return next(self._statement.rows([values[name] for name in self._names]), None)

    @cached_property
    def _names(self) -> list[str]:
        return list(inspect.signature(self._build).parameters)

    @cached_property
    def _statement(self) -> _Statement[R]:
        return _Statement(self._build, self._names)


class _Statement(Generic[R]):
    """SQL with the places of its values, and how rows become objects. Nothing in it belongs to a connection."""

    def __init__(self, build: Callable[..., models.QuerySet[Any, R]], names: Sequence[str]) -> None:
        size = len(names)
        query_set = build(*range(size))
        self._compiler, self._sql, self._params = _compiled(query_set)
        # Where another stand-in changes what is passed to the database, a value has its place.
        _, sql, others = _compiled(build(*range(size, 2 * size)))
        pairs = list(zip(self._params, others, strict=True))
        self._places = [(place, one) for place, (one, other) in enumerate(pairs) if one != other]
        if sql != self._sql or {(pairs[place], one) for place, one in self._places} != {
            ((n, n + size), n) for n in range(size)
        }:
            raise TypeError(f"Expected {', '.join(names)} as values that are passed to the database; found {self._sql}")
        self._model = _Model(self._compiler) if query_set.query.default_cols else None

    def rows(self, values: Sequence[int]) -> Iterator[R]:
        params = self._params.copy()
        for place, number in self._places:
            params[place] = values[number]
        with _cursor() as cursor:
            cursor.execute(self._sql, params)
            found = cursor.fetchall()
        # A compiler belongs to a connection, and a connection to a thread.
        compiler = copy.copy(self._compiler)
        compiler.connection = connection
        rows = compiler.results_iter([found], tuple_expected=True)
        return map(self._model.object, rows) if self._model else rows


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


def _cursor() -> Any:
    """A cursor that leaves the values beside the SQL, so that PostgreSQL plans a statement once a connection.

    Django's own write them into it; ``prepare_threshold`` in the settings has no effect there.
    """
    if connection.vendor != "postgresql":
        return connection.cursor()
    # Imported here: who keeps rows in SQLite need not have the library of PostgreSQL loaded.
    from django.db.backends.postgresql.base import ServerBindingCursor

    database: Any = connection
    make_cursor: Any = ServerBindingCursor
    database.close_if_health_check_failed()
    database.ensure_connection()
    return database._prepare_cursor(make_cursor(database.connection))


def _compiled(query_set: models.QuerySet[Any, Any]) -> tuple[Any, str, list[Any]]:
    compiler = query_set.query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    return compiler, sql, list(params)
