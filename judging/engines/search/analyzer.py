"""How text becomes the terms that are indexed and searched: one definition for every engine.

For English it is what Lucene composes of its standard tokenizer, possessive filter, lower case, 33 English stop words
and the Porter2 stemmer (``english`` of Snowball; tantivy has a newer edition of it than Lucene, which keeps a few more
words apart, such as internal and intern).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

LUCENE_ENGLISH_STOP_WORDS = [
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "but",
    "by",
    "for",
    "if",
    "in",
    "into",
    "is",
    "it",
    "no",
    "not",
    "of",
    "on",
    "or",
    "such",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "was",
    "will",
    "with",
]

# The word boundaries of Unicode's annex 29, in the syntax of Rust's regex crate: letters may be joined by one of
# ' ’ . : and the like, digits by one of ' . , and the like, a connector such as _ joins anything; ideographs and
# hiragana stand alone.
_LETTER = r"[\p{Alphabetic}\p{M}\x{AD}\x{200C}\x{200D}--\p{Han}--\p{Hiragana}]"
_DIGIT = r"\p{Nd}"
_CONNECTOR = r"\p{Pc}"
_APOSTROPHE_OR_STOP = "'‘’.․﹒＇．"
_WORDS = (
    rf"\p{{Han}}|\p{{Hiragana}}|\p{{Emoji_Presentation}}"
    rf"|{_CONNECTOR}*(?:"
    rf"{_LETTER}+(?:[{_APOSTROPHE_OR_STOP}:··︓﹕：]{_LETTER}+)*{_CONNECTOR}*"
    rf"|{_DIGIT}+(?:[{_APOSTROPHE_OR_STOP},;，；]{_DIGIT}+)*{_CONNECTOR}*"
    r")+"
)

# 's at the end of a word; not in rock's.n, which is one word.
_POSSESSIVE = re.compile(rf"(?:(?<=[^\W\d_])|(?<=[\u0300-\u036f]))['’＇][sS](?!\w|[{_APOSTROPHE_OR_STOP}:·]\w)")


@dataclass(frozen=True, slots=True)
class _Language:
    """The name that Snowball's stemmer and stop word list go by, in tantivy as in Elasticsearch."""

    name: str
    has_stop_words: bool = True


_LANGUAGES = {
    "ar": _Language("arabic", has_stop_words=False),
    "da": _Language("danish"),
    "de": _Language("german"),
    "el": _Language("greek", has_stop_words=False),
    "en": _Language("english"),
    "es": _Language("spanish"),
    "fi": _Language("finnish"),
    "fr": _Language("french"),
    "hu": _Language("hungarian"),
    "it": _Language("italian"),
    "nl": _Language("dutch"),
    "no": _Language("norwegian"),
    "pt": _Language("portuguese"),
    "ro": _Language("romanian", has_stop_words=False),
    "ru": _Language("russian"),
    "sv": _Language("swedish"),
    "tr": _Language("turkish", has_stop_words=False),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A term and the characters of the text that it came from: ``text[start:end]``."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Words, lower case, and what the language adds: ``stemmer`` and ``stop_words`` are its Snowball name or None."""

    stemmer: str | None = None
    stop_words: str | None = None

    def identity(self) -> dict[str, Any]:
        return {
            "tokenizer": "uax29",
            "possessive": self._strips_possessives,
            "lowercase": True,
            "stop_words": "lucene english" if self.stop_words == "english" else self.stop_words,
            "stemmer": "porter2" if self.stemmer == "english" else self.stemmer,
        }

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in its order, repeated ones repeated."""
        terms: list[str] = _tantivy_analyzer(self).analyze(self.prepared(text))
        return terms

    def tokens(self, text: str) -> list[Token]:
        """The terms of a text with the place where each stands."""
        found = _tantivy_analyzer(self).pre_tokenize(self.prepared(text)).tokens
        return [Token(token.text, token.char_offset_from, token.char_offset_to) for token in found]

    def distinct(self, text: str) -> str:
        """The text with one word left of those that become the same term, the first of them."""
        first: dict[str, str] = {}
        for token in self.tokens(text):
            first.setdefault(token.term, text[token.start : token.end])
        return " ".join(first.values())

    def prepared(self, text: str) -> str:
        """The text as tantivy's tokenizer takes it; as long as the original, so that offsets stay true."""
        return _POSSESSIVE.sub("  ", well_formed(text)) if self._strips_possessives else well_formed(text)

    def for_tantivy(self) -> Any:
        """The ``tantivy.TextAnalyzer``, to be registered with an index and given ``prepared`` text."""
        return _tantivy_analyzer(self)

    def for_elasticsearch(self) -> dict[str, Any]:
        """The ``analysis`` settings of an Elasticsearch index, defining the analyzer ``terms`` alike."""
        filters: dict[str, dict[str, str]] = {}
        chain = []
        if self._strips_possessives:
            filters["possessive"] = {"type": "stemmer", "language": "possessive_english"}
            chain.append("possessive")
        chain.append("lowercase")
        if self.stop_words:
            filters["stop_words"] = {"type": "stop", "stopwords": f"_{self.stop_words}_"}
            chain.append("stop_words")
        if self.stemmer:
            language = "porter2" if self.stemmer == "english" else self.stemmer
            filters["stemmer"] = {"type": "stemmer", "language": language}
            chain.append("stemmer")
        return {"filter": filters, "analyzer": {"terms": {"type": "custom", "tokenizer": "standard", "filter": chain}}}

    @property
    def _strips_possessives(self) -> bool:
        return self.stemmer == "english"


def analyzer_for(language: str) -> Analyzer:
    """The analyzer of a language given by its code (``en``, ``en-GB``); of an unknown one, words in lower case."""
    known = _LANGUAGES.get(re.split(r"[-_]", language.strip().lower())[0])
    if known is None:
        return Analyzer()
    return Analyzer(stemmer=known.name, stop_words=known.name if known.has_stop_words else None)


def well_formed(text: str) -> str:
    """The text with a question mark for every lone surrogate, which cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _tantivy_analyzer(analyzer: Analyzer) -> Any:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORDS)).filter(tantivy.Filter.lowercase())
    if analyzer.stop_words == "english":
        builder = builder.filter(tantivy.Filter.custom_stopword(LUCENE_ENGLISH_STOP_WORDS))
    elif analyzer.stop_words:
        builder = builder.filter(tantivy.Filter.stopword(analyzer.stop_words))
    if analyzer.stemmer:
        builder = builder.filter(tantivy.Filter.stemmer(analyzer.stemmer))
    return builder.build()
