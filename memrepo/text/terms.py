"""Cut text into search terms: folded, stemmed words, and character pairs where no blanks stand.

The same cut serves what is indexed and what is asked. Case, compatibility forms (NFKC) and accents
are folded; words are stemmed by the rules of the text's language (Snowball), and irregular English
forms led back to their word.
Scripts that set no blanks between words (Han, Kana, Thai, ...) and Hangul, which joins particles to
words, are cut into overlapping pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import cast

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.core.times import MONTHS
from memrepo.text.languages import (
    bare,
    fold,
    language_asked,
    language_of,
    rivals_asked,
    small_words,
)
from memrepo.text.tables import ENGLISH, table
from memrepo.text.tokens import IS_SPACELESS, RUN, cut_folded, is_spaceless, words

_NAMES = regex(r"\b(?!(?:The|An|Our|My|In|On|At|When|If) )[A-Z][a-z]+(?: [A-Z][a-z]+){2,5}\b")
_CAMEL = regex(r"\b[A-Za-z]?[a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
"""A name of several words in one, as programs have them: `getUserProfile`."""
_HUMP = regex(r"[A-Z]?[a-z0-9]+")
_KANA = regex("[\u3040-\u30ff]")
STOP_WORDS = small_words()[ENGLISH]
"""Words that ask and join; a question is asked without them unless it has no others."""


def _accented(text: str) -> list[str]:
    """Return the words of a text with their accents, by which languages stem; no accent alone."""
    return [word for word in cut_folded(normalise(text)) if bare(word)]


def index_terms(text: str) -> list[str]:
    """Return the terms of a text that is indexed: with what people ask for in their place.

    The single characters that a pair hides, the initials of a name of several words, and the words
    of one that a program joins.
    """
    joined = _joined(text)
    initials = ["".join(w[0] for w in run.split()).lower() for run in _NAMES.findall(text)]
    initials += stems(joined) if joined else []
    if text.isascii():
        return [*terms(text), *initials]
    runs = (run for run in RUN.findall(fold(text)) if IS_SPACELESS.match(run) and len(run) > 1)
    return [*terms(text), *initials, *(character for run in runs for character in run)]


def joined_terms(text: str) -> dict[str, frozenset[str]]:
    """Return by the term of a name that a program joins those of its words."""
    names = [(run, _HUMP.findall(run)) for run in _CAMEL.findall(text)]
    return {
        stems([run.lower()])[0]: frozenset(stems([word.lower() for word in parts]))
        for run, parts in names
    }


def _joined(text: str) -> list[str]:
    """Return the words of names that a program joins."""
    return [w.lower() for run in _CAMEL.findall(text) for w in _HUMP.findall(run)]


def faint_pairs(found: Sequence[str]) -> frozenset[str]:
    """Return those pairs of characters of a question that tell little, by its cut words.

    One of the two joins, asks or points, so the pair says how a thing is put and not what it is.
    Japanese, which shows by its kana, writes the same characters in words of their own.
    """
    if any(_KANA.search(word) for word in found):
        return frozenset()
    particles = frozenset(table("chinese", "language")["particles"])
    pairs = (word for word in found if is_spaceless(word) and len(word) > 1)
    return frozenset(pair for pair in pairs if not particles.isdisjoint(pair))


def english_rows(key: str) -> list[tuple[str, list[str]]]:
    """Return the rows of a table of English words: what is before a colon, and the words after.

    `forms`: the forms of one word that a stemmer leaves apart. `abbreviations`: what each is short
    for, small words left out.
    """
    rows = re.split(r"\n(?! )", table(ENGLISH, "terms")[key].strip())
    return [(base, words.split()) for base, _, words in (row.partition(":") for row in rows)]


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Callable[[list[str]], list[str]] | None:
    """Return the Snowball stemmer of a language, where there is one."""
    import Stemmer

    if language not in Stemmer.algorithms():
        return None
    return cast("Callable[[list[str]], list[str]]", Stemmer.Stemmer(language).stemWords)


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    """Return by the stem of a form that no rule leads back (went) the stem of its word (go)."""
    known = {form: base for base, found in english_rows("forms") for form in found}
    return dict(zip(_english(list(known)), _english(list(known.values())), strict=True))


def _english(found: list[str]) -> list[str]:
    stem = _stemmer(ENGLISH)
    return stem(found) if stem else found


def stems(found: list[str], language: str = ENGLISH) -> list[str]:
    """Return the stem of each word by the rules of a language, without accents."""
    if language == ENGLISH:
        bases = _bases()
        plain = [word if word.isascii() else bare(word) or word for word in found]
        return [bases.get(stem, stem) for stem in _english(plain)]
    stem = _stemmer(language)
    return [bare(one) or one for one in (stem(found) if stem else found)]


@lru_cache(maxsize=8)
def stop_stems(language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the words that ask and join."""
    found = small_words().get(language, frozenset()) | STOP_WORDS
    return frozenset((*stems(sorted(found), language), *stems(sorted(STOP_WORDS))))


def terms(text: str) -> list[str]:
    """Return the search terms of a text, in order, repeats included, as its language has it."""
    found = words(text)
    language = language_of(found, text)
    return stems(found if language == ENGLISH else _accented(text), language)


def query_terms(text: str) -> tuple[str, ...]:
    """Return the terms a question asks for, each once: stop words only where there is no other."""
    return tuple(term for term, _ in asked_terms(text))


def asked_terms(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the terms of a question, each once, with what the same word may be in texts.

    That is, an abbreviation or its words; the word as it stands, since what the rules of one
    language cut those of another keep (`Anne`); and what other rules make of it that the question
    may follow: those of English, since a text that shows no language is stemmed by them, and those
    of languages for which it says as much.
    """
    written = words(text)
    language = language_asked(written, text)
    if language != ENGLISH:
        written = _accented(text)
    sure = language_of(words(text), text)  # one small word alone may be content elsewhere
    small = small_words().get(sure, STOP_WORDS)
    content = [word for word in written if bare(word) not in small] or written
    rivals = [stems(content, rival) for rival in rivals_asked(words(text), text)]
    found: dict[str, tuple[str, ...]] = {}
    for n, (word, term) in enumerate(zip(content, stems(content, language), strict=True)):
        others = _abbreviated().get(term, ())
        others += () if language == ENGLISH else tuple(stems([word]))
        others += (bare(word), *(rival[n] for rival in rivals))
        others += () if language not in _UMLAUTS else tuple(stems(_respelled(word), language))
        found.setdefault(
            term, tuple(dict.fromkeys(o for o in others if o and o != term and o not in STOP_WORDS))
        )
    for word in stems(_joined(text)):
        found.setdefault(word, ())
    for short, long in _abbreviated().items():
        if found.keys() >= set(long):
            found[long[0]] += (short,)
    return [pair for pair in found.items() if pair[0]]


_UMLAUTS = frozenset((ENGLISH, "german", "swedish", "finnish"))
_SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue"}


def _respelled(word: str) -> list[str]:
    """Return a word with its umlauts as two letters, or the other way round, if it has any."""
    two, one = word, word
    for umlaut, letters in _SPELLED.items():
        two, one = two.replace(umlaut, letters), one.replace(letters, umlaut)
    return [other for other in (two, one) if other != word]


@lru_cache(maxsize=1)
def _abbreviated() -> dict[str, tuple[str, ...]]:
    """Return by the term of an abbreviation the terms of what it stands for."""
    found = english_rows("abbreviations")
    longs = iter(stems([word for _, long in found for word in long]))
    shorts = stems([short for short, _ in found])
    return {
        short: tuple(islice(longs, len(long)))
        for short, (_, long) in zip(shorts, found, strict=True)
    }


def telling_words(text: str) -> list[str]:
    """Return the words of a question that `query_terms` asks for, as they are written."""
    asked = set(query_terms(text))
    language = language_asked(words(text), text)
    return [
        word
        for word in text.split()
        if not asked.isdisjoint(stems(cut_folded(normalise(word)), language))
    ]


def date_words(captured: str) -> str:
    """Format the day of an RFC 3339 date as people ask for it: `8 may 2023`; else nothing."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", captured)
    if not match or not 1 <= int(match[2]) <= len(MONTHS):
        return ""
    return f"{int(match[3])} {MONTHS[int(match[2]) - 1]} {match[1]}"
