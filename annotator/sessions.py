"""Django's sessions in the database, read by a statement that is made once: every request reads one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from judging.models.compiled import Compiled


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Any:
        found = _session.first(key=self.session_key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found


_session = Compiled(
    lambda key, now: SessionStore.get_model_class().objects.filter(session_key=key, expire_date__gt=now),
    key=str,
    now=datetime,
)
