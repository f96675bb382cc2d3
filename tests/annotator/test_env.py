"""Settings are read from the environment through typed helpers; a wrong value names its variable."""

from __future__ import annotations

import stat
import threading
import time
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

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

NAME = "UNJUDGED_TEST_VALUE"


@pytest.fixture
def given(monkeypatch):
    """Put a value into the environment; None takes it out."""

    def give(value: str | None) -> None:
        monkeypatch.delenv(NAME, raising=False)
        if value is not None:
            monkeypatch.setenv(NAME, value)

    give(None)
    return give


@pytest.mark.parametrize("value", [None, "", "  "])
def test_what_is_absent_or_blank_takes_the_default(given, value, tmp_path):
    given(value)
    assert env_str(NAME, "default") == "default"
    assert env_bool(NAME, default=True) is True
    assert env_int(NAME, default=7) == 7
    assert env_share(NAME, default=0.8) == 0.8
    assert env_list(NAME, ["a"]) == ["a"]
    assert env_choice(NAME, choices=("a", "b"), default="b") == "b"
    assert env_time_zone(NAME, "UTC") == "UTC"
    assert env_path(NAME, tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("1", True),
        ("true", True),
        ("YES", True),
        ("on", True),
        ("0", False),
        ("False", False),
        ("no", False),
        ("OFF", False),
    ],
)
def test_a_switch_is_on_or_off(given, value, meant):
    given(value)
    assert env_bool(NAME, default=not meant) is meant


@pytest.mark.parametrize("value", ["2", "maybe", "true!", "Tru", "-1"])
def test_a_switch_that_is_neither_is_named(given, value):
    given(value)
    with pytest.raises(ImproperlyConfigured, match=rf"^{NAME}: expected 1 or 0 .* found '{value.lower()}'"):
        env_bool(NAME, default=False)


def test_a_whole_number_is_read(given):
    given(" 15 ")
    assert env_int(NAME, default=1) == 15


@pytest.mark.parametrize("value", ["1.5", "ten", "0x10", "1 000"])
def test_a_number_that_is_not_whole_is_named(given, value):
    given(value)
    with pytest.raises(ImproperlyConfigured, match=f"^{NAME}: expected a whole number, found '{value}'"):
        env_int(NAME, default=1)


def test_a_number_below_the_smallest_is_named(given):
    given("0")
    with pytest.raises(ImproperlyConfigured, match=f"^{NAME}: expected at least 1, found 0"):
        env_int(NAME, default=15, minimum=1)


def test_a_list_is_split_at_commas_and_trimmed(given):
    given(" a.org, ,b.org ,")
    assert env_list(NAME, []) == ["a.org", "b.org"]


def test_a_choice_is_found_whatever_its_case(given):
    given("info")
    assert env_choice(NAME, choices=("INFO", "ERROR"), default="ERROR") == "INFO"


def test_a_choice_that_does_not_exist_is_named_with_those_that_do(given):
    given("loud")
    with pytest.raises(ImproperlyConfigured, match=f"^{NAME}: expected one of INFO, ERROR, found 'loud'"):
        env_choice(NAME, choices=("INFO", "ERROR"), default="ERROR")


@pytest.mark.parametrize("value", ["Mars/Olympus", "../etc/passwd", "/etc/passwd", "Europe"])
def test_a_time_zone_that_does_not_exist_is_named(given, value):
    given(value)
    with pytest.raises(ImproperlyConfigured, match=f"^{NAME}: expected a time zone such as Europe/Paris, found"):
        env_time_zone(NAME, "UTC")


def test_a_path_is_absolute_and_knows_the_home_folder(given, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    given("~/unjudged")
    assert env_path(NAME, Path("unused")) == tmp_path.resolve() / "unjudged"


def test_a_folder_that_cannot_be_made_is_named_with_its_variable(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(
        ImproperlyConfigured, match=r"^VAR_DIR: expected a folder that can be written, found .*file/var"
    ):
        make_folder("VAR_DIR", tmp_path / "file" / "var")


def test_a_secret_in_the_environment_makes_no_file(given, tmp_path):
    given("from the environment")
    assert env_secret(NAME, file=tmp_path / "secret") == "from the environment"
    assert not (tmp_path / "secret").exists()


def test_a_secret_is_made_once_for_its_owner_only(given, tmp_path):
    file = tmp_path / "secret"
    secret = env_secret(NAME, file=file)
    assert len(secret) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert env_secret(NAME, file=file) == secret


def test_processes_that_start_together_use_one_secret(given, tmp_path):
    file, found = tmp_path / "secret", []
    file.touch(0o600)  # the other process has made it and not written it yet
    reader = threading.Thread(target=lambda: found.append(env_secret(NAME, file=file)))
    reader.start()
    time.sleep(0.1)
    file.write_text("theirs")
    reader.join()
    assert found == ["theirs"]


@pytest.mark.parametrize(("content", "problem"), [(b" \n", "is empty"), ("clé".encode("latin-1"), "cannot be read")])
def test_a_secret_file_that_holds_no_secret_is_named_with_what_to_do(given, tmp_path, content, problem):
    file = tmp_path / "secret"
    file.write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match=f"{file} {problem}.*: delete it, or set {NAME}"):
        env_secret(NAME, file=file)


def test_a_secret_that_can_be_kept_nowhere_is_named_with_what_to_do(given, tmp_path):
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is not set and .*secret cannot be written"):
        env_secret(NAME, file=tmp_path / "no such folder" / "secret")


@pytest.mark.parametrize(("value", "meant"), [("0.5", 0.5), ("1", 1.0), (" .25 ", 0.25)])
def test_a_share_is_above_0_and_at_most_1(given, value, meant):
    given(value)
    assert env_share(NAME, default=0.8) == meant


@pytest.mark.parametrize("value", ["0", "1.5", "-1", "nan", "inf", "80 %"])
def test_what_is_no_share_is_refused(given, value):
    given(value)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}: expected a number above 0 and at most 1, found"):
        env_share(NAME, default=0.8)


def test_pairs_are_keys_with_or_without_a_value(monkeypatch):
    monkeypatch.setenv("LLM_SERVERS", "http://gpu:8000/v1, https://api.example.org/v1 = EXAMPLE_KEY,")
    assert env_pairs("LLM_SERVERS") == {"http://gpu:8000/v1": "", "https://api.example.org/v1": "EXAMPLE_KEY"}
    monkeypatch.delenv("LLM_SERVERS")
    assert env_pairs("LLM_SERVERS") == {}
