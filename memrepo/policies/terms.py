"""Cut text into search terms: folded, stemmed words, and character pairs where no blanks stand.

The same cut serves what is indexed and what is asked. Case, compatibility forms (NFKC) and accents
are folded; English words are stemmed (Snowball), and irregular forms led back to their word.
Scripts that set no blanks between words (Han, Kana, Thai, ...) and Hangul, which joins particles to
words, are cut into overlapping pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import cast

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.policies.english import forms

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Signs of Indic and Semitic scripts are no letters to `re`, and part of a word all the same.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd"
    "\u0b82\u0bbe-\u0bcd"
)
_RUN = regex(f"[{SPACELESS}]+|(?:(?![{SPACELESS}])[^\\W_]|[{_SIGNS}])+")
_IS_SPACELESS = regex(f"[{SPACELESS}]")
_ASCII_RUN = regex(r"[^\W_]+", re.ASCII)
"""What `_RUN` finds in a text of ASCII alone, and much quicker to compile."""
_POSSESSIVE = regex(r"(?<=\w)['\u2019]s\b")
_APOSTROPHE = regex(r"(?<=\w)['\u2019](?=\w)")
_ACCENT = 200
"""Canonical combining classes from here on are accents; below stand viramas and voicing marks."""
LONGEST = 64
"""Characters of a word that count; what is longer is a key, a hash or an attack."""
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at back be been before being but by can"
    " could d did do does doing down during each ever few for from get gets getting got had has"
    " have having he her here hers herself him himself his how i if in into is it its itself just"
    " kind ll m me might mine more most my myself no nor not now of off on once one only or other"
    " our ours out over own re s same shall she should so some such t than that the their theirs"
    " them themselves then there these they this those through to too under until up us ve very was"
    " we were what when where which while who whom whose why will with would you your yours".split()
)
"""Words that ask and join; a question is asked without them unless it has no others."""


def fold(text: str) -> str:
    """Return the text in one spelling: NFKC, case-folded, without accents or invisible signs."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", normalise(text))
    bare = "".join(c for c in parts if unicodedata.combining(c) < _ACCENT)
    return unicodedata.normalize("NFC", bare)


def words(text: str) -> list[str]:
    """Return the folded words of a text in order; pairs of characters of scripts without blanks."""
    folded = fold(text)
    if "'" in folded or "\u2019" in folded:
        folded = _APOSTROPHE.sub("", _POSSESSIVE.sub("", folded))
    if folded.isascii():
        return [run[:LONGEST] for run in _ASCII_RUN.findall(folded)]
    return list(_cut(folded))


def index_terms(text: str) -> list[str]:
    """Return the terms of a text that is indexed: with the single characters that a pair hides."""
    if text.isascii():
        return terms(text)
    runs = (run for run in _RUN.findall(fold(text)) if _IS_SPACELESS.match(run) and len(run) > 1)
    return [*terms(text), *(character for run in runs for character in run)]


def _cut(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if not _IS_SPACELESS.match(run):
            yield run[:LONGEST]
        elif len(run) == 1:
            yield run
        else:
            yield from (run[i : i + 2] for i in range(len(run) - 1))


@lru_cache(maxsize=1)
def _stem() -> Callable[[list[str]], list[str]]:
    import Stemmer

    return cast("Callable[[list[str]], list[str]]", Stemmer.Stemmer("english").stemWords)


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    """Return by the stem of a form that no rule leads back (went) the stem of its word (go)."""
    known = dict(forms())
    return dict(zip(_stem()(list(known)), _stem()(list(known.values())), strict=True))


def stems(found: list[str]) -> list[str]:
    """Return the stem of each word; words of other languages stay as the rules leave them."""
    bases = _bases()
    return [bases.get(stem, stem) for stem in _stem()(found)]


@lru_cache(maxsize=1)
def stop_stems() -> frozenset[str]:
    """Return the stems of the words that ask and join."""
    return frozenset(stems(sorted(STOP_WORDS)))


def terms(text: str) -> list[str]:
    """Return the search terms of a text, in order, repeats included."""
    return stems(words(text))


def query_terms(text: str) -> tuple[str, ...]:
    """Return the terms a question asks for, each once: stop words only where there is no other."""
    found = words(text)
    content = [w for w in found if w not in STOP_WORDS] or found
    return tuple(dict.fromkeys(stems(content)))


def telling_words(text: str) -> list[str]:
    """Return the words of a question that `query_terms` asks for, as they are written."""
    asked = set(query_terms(text))
    return [word for word in text.split() if not asked.isdisjoint(terms(word))]


def date_words(captured: str) -> str:
    """Spell the day of an RFC 3339 date as people ask for it: `8 may 2023`; else nothing."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", captured)
    if not match or not 1 <= int(match[2]) <= len(MONTHS):
        return ""
    return f"{int(match[3])} {MONTHS[int(match[2]) - 1]} {match[1]}"
