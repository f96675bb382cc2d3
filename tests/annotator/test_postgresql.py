"""A kept connection to PostgreSQL is looked at before each request, and statements are planned once on it."""

from __future__ import annotations

import time

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from judging.steps.serve import _first_held

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps no connection to a server"),
]


def wait_until_told() -> None:
    """What the server sends on the end of a connection takes a moment."""
    deadline = time.monotonic() + 5
    while not connection._has_word() and time.monotonic() < deadline:
        time.sleep(0.01)


def end_from_outside() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [backend])
    other.close()
    wait_until_told()


def test_a_connection_that_is_well_is_not_asked():
    connection.ensure_connection()
    with CaptureQueriesContext(connection) as queries:
        assert connection.is_usable()
    assert not queries.captured_queries


def test_a_connection_that_the_server_has_ended_is_not_usable():
    connection.ensure_connection()
    end_from_outside()
    assert not connection.is_usable()
    connection.close()


def test_a_request_after_the_server_has_ended_its_connection_gets_another(client):
    connection.ensure_connection()
    end_from_outside()
    # What Django does as a request begins, where connections are kept.
    connection.health_check_enabled, connection.health_check_done = True, False
    assert client.get("/login/").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_a_closed_connection_is_not_usable():
    connection.ensure_connection()
    connection.connection.close()
    assert not connection.is_usable()
    connection.close()


def shown(setting: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {setting}")
        (value,) = cursor.fetchone()
    return str(value)


@pytest.mark.parametrize(("setting", "value"), [("plan_cache_mode", "force_generic_plan"), ("random_page_cost", "1.1")])
def test_every_connection_plans_as_the_judging_page_needs_it(setting, value):
    connection.close()
    assert shown(setting) == value


def test_a_statement_of_the_judging_page_is_planned_once_whatever_plan_the_server_likes_better():
    with CaptureQueriesContext(connection) as queries:
        for annotator in range(20):
            _first_held.first(pool=1, annotator=annotator)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%is_known%'"
        )
        plans = cursor.fetchall()
    assert len(queries) == 20
    assert [custom for _, custom in plans] == [0]
    assert plans[0][0] >= 10
