"""Rows by the million: one stream from a generator into the table, in constant memory.

PostgreSQL takes them through COPY, SQLite through one ``executemany``; both fill a table some three times faster than
``bulk_create`` and never hold more than a row. No signals, no ``save()``; constraints and types hold as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, models, transaction


def insert_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Insert rows whose values stand in the order of ``fields`` (attribute names, ``query_id`` for a key); the count.

    Fields that are not named get their Python default, or else the database's. All or nothing.
    """
    concrete = {field.attname: field for field in model._meta.concrete_fields}
    columns = [concrete.pop(name) for name in fields]
    extra = [field for field in concrete.values() if _has_constant(field)]
    constants = [field.get_db_prep_save(field.get_default(), connection) for field in extra]
    prepare = [_preparer(column) for column in columns]
    count = 0

    def prepared() -> Iterator[tuple[Any, ...]]:
        nonlocal count
        for row in rows:
            count += 1
            yield (
                *(value if step is None else step(value) for step, value in zip(prepare, row, strict=True)),
                *constants,
            )

    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    names = ", ".join(quote(str(column.column)) for column in [*columns, *extra])
    with transaction.atomic(), connection.cursor() as cursor, connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            with cursor.cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in prepared():
                    copy.write_row(row)
        else:
            marks = ", ".join("?" * (len(columns) + len(extra)))
            # The raw connection: Django's cursor would first make a list of all rows.
            connection.connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", prepared())  # noqa: S608
    return count


def _has_constant(field: models.Field[Any, Any]) -> bool:
    """Whether Django would fill the column in: with the field's default, or with an empty text."""
    if field.primary_key or field.has_db_default():
        return False
    return field.has_default() or (field.empty_strings_allowed and not field.null)


_AS_THEY_ARE = (models.CharField, models.TextField, models.IntegerField, models.FloatField, models.BooleanField)


def _preparer(field: models.Field[Any, Any]) -> Any:
    """None where a value goes to the database as it is; else what turns it into what the driver takes."""
    if isinstance(field, (*_AS_THEY_ARE, models.ForeignKey)):
        return None
    return lambda value: field.get_db_prep_save(value, connection)
