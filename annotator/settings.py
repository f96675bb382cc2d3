"""Settings, all from the environment; without any, everything lies under ``var/`` and serves this machine only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from annotator.env import (
    env_bool,
    env_choice,
    env_int,
    env_list,
    env_pairs,
    env_path,
    env_secret,
    env_share,
    env_str,
    env_time_zone,
    make_folder,
)
from judging.engines.search import ENGINES

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = make_folder("VAR_DIR", env_path("VAR_DIR", BASE_DIR / "var"))

DEBUG = env_bool("DEBUG", default=False)
SECRET_KEY = env_secret("SECRET_KEY", file=VAR_DIR / "secret_key")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "judging",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "django_htmx",
    "template_partials",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "judging.views.access.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "annotator.urls"
WSGI_APPLICATION = "annotator.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]


def _database() -> dict[str, object]:
    url = env_str("DATABASE_URL")
    if not url:
        url = f"sqlite:///{VAR_DIR / 'unjudged.sqlite3'}"
    expected = "DATABASE_URL: expected postgresql://user:password@host:5432/name or sqlite:///path"
    scheme, colon, _rest = url.partition("://")
    if scheme not in {"postgresql", "postgres", "sqlite"} or not colon:
        # Only what stands before "://" is repeated: the rest may hold a password.
        raise ImproperlyConfigured(f"{expected}, found {scheme + colon if colon else 'no address'}.")
    try:
        config = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    except ValueError as error:
        raise ImproperlyConfigured(f"{expected}; {error}.") from None
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = {
            # Writers queue up at BEGIN; a deferred transaction that turns into a writer fails at once instead.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
            "PRAGMA cache_size=-64000; PRAGMA temp_store=MEMORY;",
        }
    else:
        config["ENGINE"] = "annotator.postgresql"
        # After so many runs on a connection a statement of judging/models/compiled.py is planned no more.
        config["OPTIONS"] = {"prepare_threshold": 5, **cast(dict[str, object], config.get("OPTIONS", {}))}
    return config


DATABASES = {"default": _database()}

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Rendered plots, by the hash of what they show; shared by all workers, the oldest thrown out.
    "plots": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": VAR_DIR / "plots",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 2_000},
    },
    # Groups of near duplicates, by corpus and threshold: what the command finds, the page shows.
    "near_duplicates": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": VAR_DIR / "near_duplicates",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 100},
    },
    # What pages of agreement show, by the state of the judgments it was computed from; shared by all workers.
    "figures": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": VAR_DIR / "figures",
        "TIMEOUT": 7 * 24 * 3600,
        "OPTIONS": {"MAX_ENTRIES": 1_000},
    },
}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTHENTICATION_BACKENDS = ["judging.views.access.Accounts"]
SESSION_ENGINE = "annotator.sessions"
LOGIN_URL = "login"
CSRF_FAILURE_VIEW = "judging.views.access.session_changed"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("fr", _("French"))]
LOCALE_PATHS = [BASE_DIR / "judging" / "locale"]
# Chosen in the header, before or after signing in; remembered for a year.
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
TIME_ZONE = env_time_zone("TIME_ZONE", "UTC")
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# No inline script, no inline style, nothing from elsewhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# A plain-http demo must work; behind TLS this one switch makes cookies and redirects strict.
BEHIND_TLS = env_bool("BEHIND_TLS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SECURE_SSL_REDIRECT = BEHIND_TLS
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# What the steps use.
SEARCH_ENGINE = env_choice("SEARCH_ENGINE", choices=ENGINES, default="tantivy")
INDEX_DIR = VAR_DIR / "index"
ELASTICSEARCH_URL = env_str("ELASTICSEARCH_URL", "http://localhost:9200")
ELASTICSEARCH_ANALYZER = env_str("ELASTICSEARCH_ANALYZER")
LEASE_MINUTES = env_int("LEASE_MINUTES", default=15, minimum=1)
# From which resemblance on two texts are near duplicates, where nobody says.
NEAR_DUPLICATES = env_share("NEAR_DUPLICATES", default=0.8)
WORKER_LEASE_SECONDS = env_int("WORKER_LEASE_SECONDS", default=120, minimum=1)
# Servers of models that the pages offer, each with the environment variable that holds its key, if it has one. Whoever
# may use a page must not name others: a key would go wherever they say.
LLM_SERVERS = env_pairs("LLM_SERVERS")

LOG_LEVEL = env_choice("LOG_LEVEL", choices=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), default="WARNING")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler", "stream": sys.stderr}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
