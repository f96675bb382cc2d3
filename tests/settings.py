"""The application's settings, with what would only slow tests down taken out."""

import os
import tempfile
from pathlib import Path

# Before the settings are read: nothing of a test lands in the checkout's own var/.
os.environ["VAR_DIR"] = tempfile.mkdtemp(prefix="unjudged-tests-")
os.environ.setdefault("SECRET_KEY", "a key for tests, long enough to pass for one: 0123456789 0123456789")

from annotator.settings import *
from annotator.settings import DATABASES, STORAGES, VAR_DIR

STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
(Path(VAR_DIR) / "static").mkdir()

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # In a file, as in real use: in memory, threads would share one connection and so one transaction.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
