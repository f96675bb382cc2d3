"""Django's PostgreSQL, with statements that it plans once a connection, and a health check that asks nobody.

A server that has ended, or has ended this connection, closes its side or says so first: then something can be read from
a connection that waits for nothing. Only then is it asked with ``SELECT 1``, as Django does before every request.
"""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base

_PLANNING = (
    # Left to itself, PostgreSQL plans some prepared statements anew each time, for it expects more of a plan that knows
    # the values. Ours vary by keys, all alike: planning takes longer than the best plan would save.
    "plan_cache_mode = force_generic_plan",
    # What a study holds fits into memory, where the next page costs no less than any other. And a table that has few
    # rows when a statement is planned, so that reading it whole looks cheap, may have thousands a minute later.
    "random_page_cost = 1.1",
)


class DatabaseWrapper(base.DatabaseWrapper):
    def init_connection_state(self) -> None:
        super().init_connection_state()
        with self.cursor() as cursor:
            for setting in _PLANNING:
                cursor.execute(f"SET {setting}")
        if not self.get_autocommit():
            self.connection.commit()

    def bound_cursor(self) -> Any:
        """A cursor that sends the values beside the SQL, so that PostgreSQL plans it once a connection.

        Django's own cursors write them into it; ``prepare_threshold`` in the settings has no effect there.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        database: Any = self  # the stubs know of neither
        make_cursor: Any = base.ServerBindingCursor
        return database._prepare_cursor(make_cursor(database.connection))

    def is_usable(self) -> bool:
        return not self._has_word() or super().is_usable()

    def _has_word(self) -> bool:
        if self.connection is None or self.connection.closed:
            return True
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return bool(poll.poll(0))
