"""Sessions are Django's, read by a compiled statement."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotator.sessions import SessionStore

pytestmark = pytest.mark.django_db


@pytest.fixture
def key():
    session = SessionStore()
    session["who"] = "ann"
    session.save()
    return session.session_key


def test_pages_use_them():
    assert settings.SESSION_ENGINE == "annotator.sessions"


def test_what_is_kept_is_read_in_one_statement(key, django_assert_num_queries):
    SessionStore(key).load()
    session = SessionStore(key)
    with django_assert_num_queries(1):
        assert session["who"] == "ann"
    assert session.session_key == key


def test_a_session_that_ran_out_is_empty_and_loses_its_key(key):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    session = SessionStore(key)
    assert session.load() == {}
    assert session.session_key is None


def test_an_unknown_key_is_an_empty_session(key):
    session = SessionStore("x" * 32)
    assert session.load() == {}
    assert session.session_key is None
