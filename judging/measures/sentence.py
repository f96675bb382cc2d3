"""Sentences with numbers in them, which remember both: so that whoever shows one can say it in another language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Sentence(str):
    """``template % values`` as a string of its own; words among the values are constants of ours or names of data."""

    __slots__ = ("template", "values")
    template: str
    values: Mapping[str, str]

    def __new__(cls, template: str, **values: object) -> Sentence:
        texts = {name: str(value) for name, value in values.items()}
        sentence = super().__new__(cls, template % texts)
        sentence.template, sentence.values = template, texts
        return sentence

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (self.template,), dict(self.values)

    def __deepcopy__(self, _memo: dict[int, Any]) -> Sentence:
        return self
