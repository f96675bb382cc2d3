"""French: no string is missing, no page leaves English over, figures follow, and the choice is remembered."""

from __future__ import annotations

import gettext
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from judging.formats.scale import default_scale
from judging.templatetags.figures import decimal, p_value, percent, signed
from judging.views.words import REASONS, in_language
from tests.browser.pages import addresses
from tests.services import ServiceMissingError, skip_or_fail
from tests.views.pages import Page

CATALOGUE = settings.BASE_DIR / "judging" / "locale" / "fr" / "LC_MESSAGES"
HOLE = re.compile(r"%\(\w+\)s|%%|</?\w+>")

# The same in both languages, or names of formats and measures.
SHARED = {
    *("AC1", "Alpha", "CSV", "Coefficient", "Coefficients", "Collections", "Document", "Documents", "Esc", "JSON"),
    *("Kappa", "LLM", "Markdown", "Mode", "Notes", "PNG", "Pages", "Parquet", "Pools", "Prompt", "Prompts"),
    *("Provenance", "Run", "Runs", "SVG", "Source", "Unjudged", "judged@10", "nDCG@10", "qrels", "qrels/test"),
    *(", document", "Collections · Unjudged", "Prompts · Unjudged"),
}

# What the rows of the fixture are called, and what a person or a model wrote.
DATA = re.compile(
    r"(query q\d|text number \d+|a good answer|not sure|Look|twice|copy|known|other|bm25|trec|lea|ada|ben|first|second"
    r"|people:\d/\d|[0-9a-f]{64}|\d+ min|first · trec|trec · Unjudged|(first|second) · [0-9a-f]{8})"
)

# Commands, number types, and prompts: their names, what their headers hold, their text.
PROGRAM = re.compile(
    r"(python manage\.py (worker|prefill_llm trec --prompt graded --preview)|auto|float32|bfloat16"
    r"|pointwise|graded|stepwise|stepwise · Prompts|any|score|generate|query, document(, known)?"
    r"|invented for this prompt|system|user|name: (mine|stepwise) mode: .*|You are a careful assessor .*"
    r"|Question: query q3 Document: text number 0 .*)"
)


class Message(NamedTuple):
    original: str
    plural: str
    translations: list[str]
    is_fuzzy: bool


def messages(path: Path) -> list[Message]:
    """The entries of a .po file but its header and what is no longer used."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if match := re.match(r"(msg\w+(?:\[\d\])?) (?=\")", line):
                name = match[1]
                line = line.removeprefix(match[0])
            if line.startswith('"'):
                fields[name] = fields.get(name, "") + json.loads(line)
        said = [text for name, text in fields.items() if name.startswith("msgstr")]
        if fields.get("msgid"):
            is_fuzzy = "#, fuzzy" in block
            found.append(Message(fields["msgid"], fields.get("msgid_plural", ""), said, is_fuzzy))
    return found


def require(tool: str) -> str:
    path = shutil.which(tool)
    if path is None:
        skip_or_fail(ServiceMissingError(f"{tool} is not installed (Debian: apt-get install gettext)"))
    return path


@pytest.fixture(scope="module")
def catalogue() -> list[Message]:
    return messages(CATALOGUE / "django.po")


def test_every_string_of_templates_and_code_is_in_the_catalogue_and_nothing_else(catalogue, tmp_path):
    require("xgettext")
    for part in ("judging", "annotator", "templates"):
        shutil.copytree(
            settings.BASE_DIR / part, tmp_path / part, ignore=shutil.ignore_patterns("locale", "__pycache__")
        )
    (tmp_path / "locale").mkdir()
    subprocess.run(
        [sys.executable, "-m", "django", "makemessages", "--locale", "fr", "--no-location", "--verbosity", "0"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        check=True,
    )
    (made,) = tmp_path.rglob("django.po")
    there = {message.original for message in messages(made)}
    assert there - {message.original for message in catalogue} == set()
    assert {message.original for message in catalogue} - there == set()


def test_every_string_is_translated_and_none_is_a_guess(catalogue):
    assert [message for message in catalogue if message.is_fuzzy or not all(message.translations)] == []
    assert [message for message in catalogue if len(message.translations) != (2 if message.plural else 1)] == []


def test_what_is_filled_in_and_marked_up_is_the_same_in_both_languages(catalogue):
    for message in catalogue:
        wanted = [message.original, message.plural] if message.plural else [message.original]
        for original, translated in zip(wanted, message.translations, strict=True):
            assert sorted(set(HOLE.findall(translated))) == sorted(set(HOLE.findall(original))), translated


def test_signs_that_french_sets_off_have_a_space_that_does_not_break(catalogue):
    text = "\n".join(text for message in catalogue for text in message.translations)
    assert re.findall(r".{9} [;:!?»%](?![(\w])", text) == []
    assert re.findall(r"« .{9}", text) == []
    assert re.findall(r".{9}'", text) == []


def test_the_compiled_catalogue_is_what_the_source_compiles_to(tmp_path):
    subprocess.run([require("msgfmt"), "-o", tmp_path / "new.mo", CATALOGUE / "django.po"], check=True)
    with (CATALOGUE / "django.mo").open("rb") as committed, (tmp_path / "new.mo").open("rb") as new:
        assert gettext.GNUTranslations(committed)._catalog == gettext.GNUTranslations(new)._catalog  # type: ignore[attr-defined]


def texts(client: Client, address: str, language: str) -> list[str]:
    """What a page says in a language: its text, and what is read aloud."""
    response = client.get(address, headers={"accept-language": language})
    page = Page(response.content.decode())
    assert page.one("html")["lang"] == language
    spoken = [
        attributes[name]
        for _, attributes in page.elements
        for name in ("aria-label", "title", "alt")
        if name in attributes
    ]
    return [" ".join(text.split()) for text in [*page._text, *spoken]]


def is_of_a_page(text: str) -> bool:
    return text not in SHARED and not DATA.fullmatch(text) and not PROGRAM.fullmatch(text)


def test_no_page_leaves_english_over(judged_pool, lead):
    client = Client()
    client.force_login(lead.user)
    left_over = {}
    for name, address in addresses(judged_pool, lead).items():
        english = set(texts(client, address, "en"))
        same = [text for text in texts(client, address, "fr") if text in english and re.search(r"[A-Za-z]{2}", text)]
        if left := {text for text in same if is_of_a_page(text)}:
            left_over[name] = left
    assert left_over == {}


def test_the_sign_in_page_is_french_for_a_french_browser(db):
    page = Page(Client().get("/login/", headers={"accept-language": "fr"}).content.decode())
    assert page.one("html")["lang"] == "fr"
    assert "Se connecter" in page.text
    assert "Mot de passe" in page.text


@pytest.mark.django_db
def test_the_switch_works_before_sign_in_goes_back_and_is_remembered():
    client = Client()
    page = Page(client.get("/login/?next=/collections/").content.decode())
    back = page.one("input", name="next", type="hidden")["value"]
    response = client.post(reverse("set_language"), {"language": "fr", "next": back})
    assert (response.status_code, response.headers["Location"]) == (302, "/login/?next=/collections/")
    assert client.cookies[settings.LANGUAGE_COOKIE_NAME]["max-age"] == 365 * 24 * 60 * 60
    assert Page(client.get("/login/", headers={"accept-language": "en"}).content.decode()).one("html")["lang"] == "fr"


@pytest.mark.django_db
def test_the_switch_sends_nobody_elsewhere():
    response = Client().post(reverse("set_language"), {"language": "fr", "next": "https://example.org/"})
    assert response.headers["Location"] == "/"


def test_the_switch_is_in_the_header_of_every_page_and_offers_the_other_language(db, as_person):
    button = as_person.page("/").one("button", name="language")
    assert (button["value"], button["lang"]) == ("fr", "fr")
    as_person.post(reverse("set_language"), {"language": "fr"})
    button = as_person.page("/").one("button", name="language")
    assert (button["value"], button["lang"]) == ("en", "en")


def test_figures_follow_the_language():
    with translation.override("fr"):
        assert [decimal(0.8123), decimal(-0.02), decimal(1.0, 1), signed(0.02)] == ["0,812", "−0,020", "1,0", "+0,020"]
        assert percent(0.576) == "58\u00a0%"
        assert decimal(float("nan")) == "indéfini"
        assert [p_value(0.0312), p_value(0.00001)] == ["0,0312", "< 0,0001"]
    with translation.override("en"):
        assert [decimal(0.8123), percent(0.576)] == [".812", "58 %"]
        assert [p_value(0.0312), p_value(0.0001), p_value(0.00001)] == [".0312", ".0001", "< .0001"]


def test_one_and_none_are_singular_in_french():
    with translation.override("fr"):
        said = [translation.ngettext("%(days)s day", "%(days)s days", days) % {"days": days} for days in (0, 1, 2)]
    assert said == ["0 jour", "1 jour", "2 jours"]


def test_the_words_of_the_usual_scales_are_translated_and_own_words_are_not():
    with translation.override("fr"):
        words = [in_language(grade.word) for highest in (1, 2, 3) for grade in default_scale(highest)]
        assert in_language("Spot on") == "Spot on"
        assert in_language("") == ""
    assert words[:2] == ["Non pertinent", "Pertinent"]
    assert not {"Relevant", "Not relevant", "Related", "Perfect"} & set(words)


def test_the_reasons_that_measures_give_are_known_to_the_catalogue():
    """Constants of judging/measures that read as a reason are listed for translation."""
    files = (settings.BASE_DIR / "judging" / "measures").rglob("*.py")
    said = {
        text for file in files for text in re.findall(r'"(no pair [^"{]+|only one [^"{]+)"', file.read_text("utf-8"))
    }
    assert said - set(REASONS) == set()
