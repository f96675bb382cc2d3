"""The settings as a new process reads them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

SETTINGS = """
import json
from annotator import settings
kept = {name: value for name, value in vars(settings).items() if name.isupper() and name != "LANGUAGES"}
print(json.dumps(kept, default=str))
"""

PRAGMAS = """
import django, json
django.setup()
from django.db import connection, transaction
with connection.cursor() as cursor:
    names = ("journal_mode", "synchronous", "foreign_keys")
    found = {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
statements = []
connection.connection.set_trace_callback(statements.append)
with transaction.atomic():
    pass
print(json.dumps({**found, "begin": statements[0]}))
"""


def start(tmp_path: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new process that knows nothing but the given variables."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**kept, "DJANGO_SETTINGS_MODULE": "annotator.settings", "VAR_DIR": str(tmp_path / "var"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def answer(tmp_path: Path, code: str = SETTINGS, **environment: str) -> dict[str, Any]:
    done = start(tmp_path, code, **environment)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_without_any_variable_everything_lies_in_one_folder_and_serves_this_machine_only(tmp_path):
    settings = answer(tmp_path)
    var = tmp_path / "var"
    assert settings["DEBUG"] is False
    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert settings["DATABASES"]["default"]["NAME"] == str(var / "unjudged.sqlite3")
    assert (settings["STATIC_ROOT"], settings["INDEX_DIR"]) == (str(var / "static"), str(var / "index"))


def test_the_secret_key_is_made_once_and_read_by_its_owner_only(tmp_path):
    first = answer(tmp_path)["SECRET_KEY"]
    file = tmp_path / "var" / "secret_key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == first == answer(tmp_path)["SECRET_KEY"]


def test_a_secret_key_of_the_environment_is_used_and_not_kept(tmp_path):
    assert answer(tmp_path, SECRET_KEY="mine")["SECRET_KEY"] == "mine"
    assert not (tmp_path / "var" / "secret_key").exists()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("DEBUG", "perhaps", "DEBUG: expected 1 or 0"),
        ("BEHIND_TLS", "2", "BEHIND_TLS: expected 1 or 0"),
        ("LEASE_MINUTES", "soon", "LEASE_MINUTES: expected a whole number, found 'soon'"),
        ("LEASE_MINUTES", "0", "LEASE_MINUTES: expected at least 1, found 0"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL: expected one of DEBUG, INFO, WARNING, ERROR, CRITICAL, found 'loud'"),
        ("SEARCH_ENGINE", "lucene", "SEARCH_ENGINE: expected one of tantivy, elasticsearch, found 'lucene'"),
        ("TIME_ZONE", "Mars/Olympus", "TIME_ZONE: expected a time zone such as Europe/Paris, found 'Mars/Olympus'"),
        ("VAR_DIR", "/dev/null/var", "VAR_DIR: expected a folder that can be written, found /dev/null/var"),
        ("DATABASE_URL", "unjudged", "DATABASE_URL: expected postgresql://"),
        ("DATABASE_URL", "mysql://root@localhost/unjudged", "or sqlite:///path, found mysql://."),
        ("DATABASE_URL", "postgresql://localhost:port/unjudged", "DATABASE_URL: expected postgresql://"),
    ],
)
def test_a_wrong_value_stops_the_start_and_names_the_variable(tmp_path, variable, value, message):
    done = start(tmp_path, SETTINGS, **{variable: value})
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"django.core.exceptions.ImproperlyConfigured: {variable}: ")
    assert message in last


def test_a_wrong_database_address_does_not_show_its_password(tmp_path):
    done = start(tmp_path, SETTINGS, DATABASE_URL="postgres+ssl://ann:sesame@db/unjudged")
    assert "DATABASE_URL" in done.stderr
    assert "sesame" not in done.stderr


def test_sqlite_writes_ahead_checks_keys_and_queues_writers_at_begin(tmp_path):
    assert answer(tmp_path, PRAGMAS) == {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "begin": "BEGIN IMMEDIATE",
    }


def test_postgresql_is_chosen_by_its_address(tmp_path):
    database = answer(tmp_path, DATABASE_URL="postgresql://ann:sesame@db:5433/unjudged")["DATABASES"]["default"]
    assert database["ENGINE"] == "annotator.postgresql"
    assert (database["USER"], database["HOST"], database["PORT"], database["NAME"]) == ("ann", "db", 5433, "unjudged")


@pytest.mark.parametrize(("behind_tls", "strict"), [("0", False), ("1", True)])
def test_behind_tls_cookies_and_redirects_are_strict(tmp_path, behind_tls, strict):
    settings = answer(tmp_path, BEHIND_TLS=behind_tls)
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT")
    assert [settings[name] for name in names] == [strict] * 3
    assert bool(settings["SECURE_HSTS_SECONDS"]) is strict
