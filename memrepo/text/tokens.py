"""Split text into words for search and comparison, and into tokens for finding phrases.

Text in scripts without blanks (Han, Kana, Thai, ...) is split into overlapping pairs of characters.
So is Hangul, which appends particles to words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from sys import intern

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.text.languages import fold

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Signs of Indic and Semitic scripts are part of words, but `\w` does not match them.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd"
    "\u0b82\u0bbe-\u0bcd"
)
RUN = regex(f"[{SPACELESS}]+|(?:(?![{SPACELESS}])[^\\W_]|[{_SIGNS}])+")
IS_SPACELESS = regex(f"[{SPACELESS}]")
_ASCII_RUN = regex(r"[^\W_]+", re.ASCII)
"""Equals `RUN` for ASCII texts, but compiles much faster."""
_POSSESSIVE = regex(r"(?<=\w)['\u2019]s\b")
_APOSTROPHE = regex(r"(?<=\w)['\u2019](?=\w)")
LONGEST = 64
"""Words are truncated to this many characters. Longer ones are keys, hashes or attacks."""
_JOINING = frozenset(
    "a an and are as at be been by for from in is it of on or that the this to was were"
    " with".split()
)
"""Words that two statements may share by chance."""
_TOKEN = regex(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])\w)+")
_ASCII_TOKEN = regex(r"\w+", re.ASCII)


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded.

    Scripts without blanks give pairs of characters.
    """
    return cut_folded(fold(text))


def cut_folded(folded: str) -> list[str]:
    """Return the words of a folded text without possessive endings and apostrophes."""
    if "'" in folded or "\u2019" in folded:
        folded = _APOSTROPHE.sub("", _POSSESSIVE.sub("", folded))
    if folded.isascii():
        return [run[:LONGEST] for run in _ASCII_RUN.findall(folded)]
    return list(_cut(folded))


def _cut(text: str) -> Iterator[str]:
    for run in RUN.findall(text):
        if not IS_SPACELESS.match(run):
            yield run[:LONGEST]
        elif len(run) == 1:
            yield run
        else:
            yield from (run[i : i + 2] for i in range(len(run) - 1))


def is_spaceless(term: str) -> bool:
    """Return whether a term consists of characters from a script without blanks between words."""
    return not term.isascii() and bool(IS_SPACELESS.match(term))


def tokens(text: str) -> list[str]:
    """Split a text into tokens for phrases: at apostrophes, and in scripts without blanks."""
    folded = normalise(text)
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


@lru_cache(maxsize=1 << 13)
def content_words(text: str) -> frozenset[str]:
    """Return the words for comparing statements, with accents but without function words."""
    folded = normalise(text)
    # Intern the words, because many statements contain the same ones.
    found = _ASCII_RUN.findall(folded) if folded.isascii() else _cut(folded)
    return frozenset(set(map(intern, found)) - _JOINING)
