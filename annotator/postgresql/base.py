"""Django's PostgreSQL, with a health check of a kept connection that asks nobody.

A server that has ended, or has ended this connection, closes its side or says so first: then something can be read from
a connection that waits for nothing. Only then is it asked with ``SELECT 1``, as Django does before every request.
"""

from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        return not self._has_word() or super().is_usable()

    def _has_word(self) -> bool:
        if self.connection is None or self.connection.closed:
            return True
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return bool(poll.poll(0))
