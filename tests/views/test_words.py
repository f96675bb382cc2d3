"""Whatever measures and steps say in English is listed to be translated, and is translated where it is shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

import judging
from judging.measures.agreement import estimates
from judging.measures.estimation import join
from judging.measures.sentence import Sentence
from judging.views import words
from judging.views.words import in_language

ROOT = Path(judging.__file__).parent


def calls(name: str) -> Iterator[ast.Call]:
    for folder in ("measures", "steps"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                    yield node


def test_every_sentence_with_numbers_is_listed():
    templates = {node.args[0].value for node in calls("Sentence") if isinstance(node.args[0], ast.Constant)}
    assert len(templates) > 5
    assert templates <= set(words.SENTENCES)


def test_every_reason_why_there_is_no_interval_is_listed():
    said = {
        constant.value
        for node in calls("undefined")
        for argument in node.args[:1]
        for constant in ([argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument])
        if isinstance(constant, ast.Constant)
    }
    assert "only one query" in said
    assert said <= set(words.REASONS)


def test_every_reason_of_a_coefficient_is_listed():
    said = {one.undefined_because for one in (*estimates.GRADED.values(), *estimates.BINARY.values())}
    assert said | {estimates.NO_PAIR_WITHIN, estimates.NO_WEIGHT} <= set(words.REASONS)


@pytest.mark.parametrize("people", [[0.1, 0.5, 0.9], [0.2, 0.6, 0.9], [0.9, 0.1, 0.5], [0.3]])
def test_every_gain_is_listed(people):
    size = len(people)
    says = join([*people, *[float("nan")] * 3], [0.1, 0.5, 0.9, 0.3, 0.4, 0.6][: size + 3]).gain.says
    assert says.template in words.SENTENCES if isinstance(says, Sentence) else says in words.GAINS


def test_a_sentence_is_put_together_in_the_language_of_the_page(monkeypatch):
    french = {"%(lost)s of %(all)s": "%(lost)s sur %(all)s", "only one query": "une seule requête"}
    monkeypatch.setattr("judging.steps.language.gettext", lambda text: french.get(text, text))
    with translation.override("fr"):
        assert in_language(Sentence("%(lost)s of %(all)s", lost=3, all=7)) == "3 sur 7"
        assert in_language(Sentence("because %(reason)s", reason="only one query")) == "because une seule requête"


def test_words_of_data_are_never_translated(monkeypatch):
    monkeypatch.setattr("judging.steps.language.gettext", lambda text: text.replace(" of ", " de "))
    assert in_language("a query of somebody") == "a query of somebody"
    assert in_language(Sentence("%(measure)s of %(run)s", measure="P@10", run="best of all")) == "P@10 de best of all"
