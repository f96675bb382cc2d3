"""Typed readers of the environment. A value that is there but wrong stops the start and says what was expected."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured


def env_str(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, *, default: bool) -> bool:
    text = env_str(name).lower()
    if not text:
        return default
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name}: expected 1 or 0 (true, yes, on / false, no, off), found {text!r}.")


def env_int(name: str, *, default: int, minimum: int = 0) -> int:
    text = env_str(name)
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ImproperlyConfigured(f"{name}: expected a whole number, found {text!r}.") from None
    if value < minimum:
        raise ImproperlyConfigured(f"{name}: expected at least {minimum}, found {value}.")
    return value


def env_share(name: str, *, default: float) -> float:
    """A number above 0 and at most 1."""
    text = env_str(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise ImproperlyConfigured(f"{name}: expected a number above 0 and at most 1, found {text!r}.") from None
    if not 0 < value <= 1:
        raise ImproperlyConfigured(f"{name}: expected a number above 0 and at most 1, found {text}.")
    return value


def env_choice(name: str, *, choices: Sequence[str], default: str) -> str:
    """One of the choices; upper and lower case are alike."""
    by_lower_case = {choice.lower(): choice for choice in choices}
    text = env_str(name, default)
    if text.lower() not in by_lower_case:
        raise ImproperlyConfigured(f"{name}: expected one of {', '.join(choices)}, found {text!r}.")
    return by_lower_case[text.lower()]


def env_time_zone(name: str, default: str) -> str:
    text = env_str(name, default)
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name}: expected a time zone such as Europe/Paris, found {text!r}.") from None
    return text


def env_list(name: str, default: list[str]) -> list[str]:
    """A comma-separated list."""
    return [part.strip() for part in env_str(name).split(",") if part.strip()] or default


def env_pairs(name: str) -> dict[str, str]:
    """A comma-separated list of ``key=value``, where the value may be left out."""
    parts = (one.partition("=") for one in env_list(name, []))
    return {key.strip(): value.strip() for key, _equals, value in parts}


def env_path(name: str, default: Path) -> Path:
    return Path(env_str(name, str(default))).expanduser().resolve()


def make_folder(name: str, folder: Path) -> Path:
    """The folder, made where it is missing; ``name`` is the variable that can name another."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}: expected a folder that can be written, found {folder} ({error.strerror}); name another."
        ) from None
    return folder


def env_secret(name: str, *, file: Path) -> str:
    """The secret in the environment; else one made once and kept in ``file``, which only its owner can read."""
    if value := env_str(name):
        return value
    try:
        # O_EXCL: of two processes that start together one writes the file and both use what it wrote.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} is not set and {file} cannot be written ({error}); set one of them right."
        ) from None
    else:
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(secrets.token_urlsafe(50))
    return _read_secret(name, file)


def _read_secret(name: str, file: Path) -> str:
    # A moment's patience: another process may have made the file and not written it yet.
    for _attempt in range(20):
        try:
            value = file.read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(f"{file} cannot be read ({error}): delete it, or set {name}.") from None
        if value:
            return value
        time.sleep(0.05)
    raise ImproperlyConfigured(f"{file} is empty: delete it, or set {name}.")
