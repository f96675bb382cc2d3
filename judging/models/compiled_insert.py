"""One row written by SQL that is made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import connection, models
from django.db.models.constants import OnConflict
from django.db.models.fields import NOT_PROVIDED
from django.db.models.sql import InsertQuery

from judging.models.compiled import Converters, run

M = TypeVar("M", bound=models.Model)


class CompiledInsert(Generic[M]):
    """A new row; with ``unique``, in place of the row that has the same there already.

    ``replaced`` are the fields that change in that row. Other fields with a default of the database get it.
    """

    def __init__(self, model: type[M], *, unique: Sequence[str] = (), replaced: Sequence[str] = ()) -> None:
        self._model = model
        self._unique = unique
        self._replaced = replaced

    def store(self, row: M) -> M:
        """The same object, with its primary key and what the database filled in."""
        sql, given, filled, converters = self._compiled
        params = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in given]
        with run(sql, params) as cursor:
            (values,) = converters.rows([cursor.fetchone()])
        for field, value in zip(filled, values, strict=True):
            setattr(row, field.attname, value)
        row._state.adding, row._state.db = False, connection.alias
        return row

    @cached_property
    def _compiled(self) -> tuple[str, list[Any], list[Any], Converters]:
        meta: Any = self._model._meta
        fields = [field for field in meta.concrete_fields if not field.primary_key]
        given = [field for field in fields if field.db_default is NOT_PROVIDED or field.name in self._replaced]
        blank = self._model(**{field.attname: None for field in given})
        query: Any = InsertQuery(
            self._model,
            on_conflict=OnConflict.UPDATE if self._unique else None,
            unique_fields=[meta.get_field(name) for name in self._unique],
            update_fields=[meta.get_field(name) for name in self._replaced],
        )
        query.insert_values(fields, [blank])
        compiler = query.get_compiler(connection=connection)
        compiler.returning_fields = filled = meta.db_returning_fields
        ((sql, params),) = compiler.as_sql()
        if list(params) != [None] * len(given):
            raise TypeError(f"Expected {len(given)} values that are passed to the database, found {sql}")
        return sql, given, filled, Converters(compiler, [field.get_col(meta.db_table) for field in filled])
