"""Detect the language of a text by function words and letters, and fold words.

A word may be a function word in one language and a content word in another (German and English
`die`). A text has the language with most of its function words, or English if no language has more.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memrepo.core.ids import normalise, visible
from memrepo.text.tables import ENGLISH, LANGUAGES, table, tables

_SURE = 2
"""The minimum number of function words for a language. A single one may be a name."""
_ACCENT = 200
"""Combining classes from here on are accents. Lower ones are viramas and voicing marks."""


def fold(text: str) -> str:
    """Fold a text to case-folded NFKC without accents or invisible characters."""
    return visible(text).lower() if text.isascii() else bare(normalise(text))


def bare(text: str) -> str:
    """Return a text with all accents removed."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    kept = "".join(c for c in parts if unicodedata.combining(c) < _ACCENT)
    return unicodedata.normalize("NFC", kept)


def language_asked(found: Iterable[str], text: str) -> str:
    """Return the language of a question. If no word is English, one function word is sufficient.

    A wrong guess does little harm, because questions are also searched by the rules of English.
    """
    return language_of(found, text, sure=1)


def rivals_asked(found: Iterable[str], text: str) -> list[str]:
    """Return other languages that match a question equally well, such as Portuguese for `do`."""
    votes = _votes(found, text)
    best, told = max(votes.values(), default=0), language_asked(found, text)
    return [one for one in LANGUAGES if best and votes[one] == best and one != told]


def language_of(found: Iterable[str], text: str, sure: int = _SURE) -> str:
    """Return the language of a text, given as folded words and as the original `text`."""
    votes = _votes(found, text)
    best = max(votes.values(), default=0)
    if best < sure or votes[ENGLISH] == best:
        return ENGLISH
    return next(language for language in LANGUAGES if votes[language] == best)


def _votes(found: Iterable[str], text: str) -> Counter[str]:
    """Count the function words of each language in a text. A rare letter counts as two words."""
    known = _by_word()
    small = [word for word in found if word in known]
    votes = Counter([language for word in small for language in known[word]])
    if not text.isascii():
        low = frozenset(text.casefold())
        letters, scripts = _by_letter()
        for language, own in letters.items():
            if not low.isdisjoint(own):
                votes[language] += _SURE
        for language, script in scripts.items():
            if 2 * len(script.findall(text)) > sum(map(str.isalpha, text)):
                votes[language] += _SURE
                votes[ENGLISH] = 0
                break
    return votes


@lru_cache(maxsize=1)
def small_words() -> Mapping[str, frozenset[str]]:
    """Return the folded function words by language."""
    small = {language: found.get("small", "") for language, found in tables("language")}
    return {language: frozenset(fold(text).split()) for language, text in small.items() if text}


@lru_cache(maxsize=1)
def _by_word() -> Mapping[str, tuple[str, ...]]:
    """Map each function word to the languages that use it. Single ASCII letters are excluded."""
    known: dict[str, tuple[str, ...]] = {}
    for language, found in small_words().items():
        for word in found:
            if len(word) > 1 or not word.isascii():
                known[word] = (*known.get(word, ()), language)
    return known


@lru_cache(maxsize=1)
def _by_letter() -> tuple[Mapping[str, str], Mapping[str, re.Pattern[str]]]:
    """Return the rare letters of each language, and the pattern of each language's script."""
    found = dict(tables("language"))
    scripts = {one: re.compile(f"[{t['script']}]") for one, t in found.items() if "script" in t}
    return {one: t["letters"] for one, t in found.items() if "letters" in t}, scripts


def compounds(language: str) -> bool:
    """Return whether a language forms compound words."""
    return bool(table(language, "language").get("compounds"))
