"""Rows by the million: one stream from a generator into the table, in constant memory.

PostgreSQL takes them through COPY, SQLite through one ``executemany``; both fill a table some three times faster than
``bulk_create`` and never hold more than a row. No signals, no ``save()``; constraints and types hold as ever.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection, models, transaction

_MANY = 20_000


def insert_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Insert rows whose values stand in the order of ``fields`` (attribute names, ``query_id`` for a key); the count.

    Fields that are not named get their Python default, or else the database's. All or nothing.
    """
    concrete = {field.attname: field for field in model._meta.concrete_fields}
    columns = [concrete.pop(name) for name in fields]
    extra = [field for field in concrete.values() if _has_constant(field)]
    constants = [field.get_db_prep_save(field.get_default(), connection) for field in extra]
    steps = [(index, step) for index, column in enumerate(columns) if (step := _preparer(column)) is not None]
    count = 0

    def prepared() -> Iterator[Sequence[Any]]:
        nonlocal count
        for row in rows:
            count += 1
            if len(row) != len(columns):
                raise ValueError(f"expected rows of {len(columns)} values, found one of {len(row)}")
            values = [*row, *constants]
            for index, step in steps:
                values[index] = step(values[index])
            yield values

    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    names = ", ".join(quote(str(column.column)) for column in [*columns, *extra])
    with transaction.atomic(), connection.cursor() as cursor, connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            with cursor.cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in prepared():
                    copy.write_row(row)
            if count >= _MANY:
                # The planner knows nothing of rows this young, and would read the whole table for each of them.
                cursor.execute(f"ANALYZE {table}")
        else:
            marks = ", ".join("?" * (len(columns) + len(extra)))
            # The raw connection: Django's cursor would first make a list of all rows.
            connection.connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", prepared())  # noqa: S608
    return count


def refresh_statistics(*tables: type[models.Model]) -> None:
    """Once the transaction is done, have PostgreSQL look at tables that were just filled.

    Its planner knows nothing of new rows until autovacuum comes by, and by then walks through a whole pool where the
    few rows of one person are wanted. SQLite plans without.
    """
    if connection.vendor != "postgresql":
        return
    names = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in tables)

    def analyze() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {names}")

    transaction.on_commit(analyze)


def _has_constant(field: models.Field[Any, Any]) -> bool:
    """Whether Django would fill the column in: with the field's default, or with an empty text."""
    if field.primary_key or field.has_db_default():
        return False
    return field.has_default() or (field.empty_strings_allowed and not field.null)


_AS_THEY_ARE = (
    models.CharField,
    models.TextField,
    models.IntegerField,
    models.FloatField,
    models.BooleanField,
    models.BinaryField,
    models.ForeignKey,
)


def _preparer(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """None where a value goes to the database as it is; else what turns it into what the driver takes.

    JSON and times have ways of their own, for Django's take longer than all the rest of a row.
    """
    if isinstance(field, _AS_THEY_ARE):
        return None
    if isinstance(field, models.JSONField):
        return _as_json
    if isinstance(field, models.DateTimeField) and connection.vendor == "sqlite":
        return _as_text_in_utc
    return lambda value: field.get_db_prep_save(value, connection)


_encode = json.JSONEncoder().encode


def _as_json(value: Any) -> str | None:
    return None if value is None else "{}" if value == {} else _encode(value)


def _as_text_in_utc(value: datetime | None) -> str | None:
    return None if value is None else str(value.astimezone(UTC).replace(tzinfo=None))
