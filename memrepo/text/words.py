"""Split text into words, tokens and search terms.

Indexed texts and questions are split in the same way. Case, compatibility forms (NFKC) and accents
are folded. Search terms are stems by the rules of the text's language (Snowball). Irregular English
forms are replaced by their base form. Text in scripts without blanks (Han, Kana, Thai, ...) is
split into overlapping pairs of characters. So is Hangul, which appends particles to words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from sys import intern
from typing import NamedTuple, cast

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex, wide
from memrepo.core.times import MONTHS
from memrepo.text.languages import (
    ENGLISH,
    SURE,
    bare,
    fold,
    language_asked,
    language_of,
    small_words,
    stop_words,
    table,
)

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
IS_SPACELESS = wide(f"[{SPACELESS}]")
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
    """Return the words of a text in order, folded."""
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


_NAMES = regex(r"\b(?!(?:The|An|Our|My|In|On|At|When|If) )[A-Z][a-z]+(?: [A-Z][a-z]+){2,5}\b")
_CAMEL = regex(r"\b[A-Za-z]?[a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
"""A name that joins several words, as in programs: `getUserProfile`."""
_HUMP = regex(r"[A-Z]?[a-z0-9]+")
_KANA = regex("[\u3040-\u30ff]")


def _accented(text: str) -> list[str]:
    """Return the words of a text with their accents, as needed for stemming."""
    return [word for word in cut_folded(normalise(text)) if bare(word)]


MAX_PER_FUNCTION_WORD = 8
"""A text of a language has a function word of it among this many distinct words."""


class IndexTerms(NamedTuple):
    """The terms under which to index a text, and the language whose rules made them."""

    terms: list[str]
    language: str


def index_terms(text: str) -> IndexTerms:
    """Return the terms under which to index a text, including alternative search terms.

    These are single characters of scripts without blanks, initials of names of several words, and
    the words of joined names.
    """
    found = words(text)
    distinct = {*found}
    language = language_of(distinct, text, max(SURE, len(distinct) // MAX_PER_FUNCTION_WORD))
    written = found if language == ENGLISH else _accented(text)
    return IndexTerms([*stems(written, language), *_alternatives(text)], language)


def _alternatives(text: str) -> list[str]:
    joined = _joined(text)
    initials = ["".join(w[0] for w in run.split()).lower() for run in _NAMES.findall(text)]
    initials += stems(joined) if joined else []
    if text.isascii():
        return initials
    runs = (run for run in RUN.findall(fold(text)) if IS_SPACELESS.match(run) and len(run) > 1)
    return [*initials, *(character for run in runs for character in run)]


def _joined(text: str) -> list[str]:
    """Return the individual words within camel-case names."""
    return [w.lower() for run in _CAMEL.findall(text) for w in _HUMP.findall(run)]


def faint_pairs(found: Sequence[str]) -> frozenset[str]:
    """Return the pairs of characters in a question that include a Chinese particle."""
    if any(_KANA.search(word) for word in found):
        return frozenset()
    particles = frozenset(table("chinese", "language")["particles"])
    pairs = (word for word in found if is_spaceless(word) and len(word) > 1)
    return frozenset(pair for pair in pairs if not particles.isdisjoint(pair))


def english_rows(key: str) -> list[tuple[str, list[str]]]:
    """Return the rows of a table of English words: text before the colon, and words after it.

    `forms` lists irregular forms of a word. `abbreviations` lists the words of each abbreviation,
    without function words.
    """
    rows = re.split(r"\n(?! )", table(ENGLISH, "terms")[key].strip())
    return [(base, words.split()) for base, _, words in (row.partition(":") for row in rows)]


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Callable[[list[str]], list[str]] | None:
    """Return the Snowball stemmer of a language, or None if the language has no stemmer."""
    import Stemmer

    if language not in Stemmer.algorithms():
        return None
    return cast("Callable[[list[str]], list[str]]", Stemmer.Stemmer(language).stemWords)


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    """Map the stem of each irregular form (`went`) to the stem of the base form (`go`)."""
    known = {form: base for base, found in english_rows("forms") for form in found}
    return dict(zip(_english(list(known)), _english(list(known.values())), strict=True))


def _english(found: list[str]) -> list[str]:
    stem = _stemmer(ENGLISH)
    return stem(found) if stem else found


def stems(found: list[str], language: str = ENGLISH) -> list[str]:
    """Return the stems of words by the rules of a language. Accents are removed."""
    if language == ENGLISH:
        bases = _bases()
        plain = [word if word.isascii() else bare(word) or word for word in found]
        return [bases.get(stem, stem) for stem in _english(plain)]
    stem = _stemmer(language)
    return [bare(one) or one for one in (stem(found) if stem else found)]


def terms(text: str) -> list[str]:
    """Return the search terms of a text by the rules of its language, in order, with repeats."""
    found = words(text)
    language = language_of(found, text)
    return stems(found if language == ENGLISH else _accented(text), language)


def query_terms(text: str) -> tuple[str, ...]:
    """Return the search terms of a question without duplicates."""
    return tuple(term for term, _ in asked_terms(text))


def asked_terms(text: str, languages: Collection[str] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """Return the terms of a question without duplicates, each with alternative terms in texts.

    Alternatives are abbreviations or their words, the unstemmed word (`Anne`), and the stems by the
    rules of English, which apply to texts of unknown language, and of all `languages` of the texts.
    """
    written = words(text)
    language = language_asked(written, text)
    if language != ENGLISH:
        written = _accented(text)
    sure = language_of(words(text), text)  # one function word may be a content word elsewhere
    small = small_words().get(sure, stop_words())
    content = [word for word in written if bare(word) not in small] or written
    rivals = [stems(content, rival) for rival in sorted({*languages} - {language, ENGLISH})]
    found: dict[str, tuple[str, ...]] = {}
    for n, (word, term) in enumerate(zip(content, stems(content, language), strict=True)):
        others = _abbreviated().get(term, ())
        others += () if language == ENGLISH else tuple(stems([word]))
        others += (bare(word), *(rival[n] for rival in rivals))
        others += () if language not in _UMLAUTS else tuple(stems(_respelled(word), language))
        found.setdefault(
            term,
            tuple(dict.fromkeys(o for o in others if o and o != term and o not in stop_words())),
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
    """Return other spellings of a word in which umlauts are written as one or two letters."""
    two, one = word, word
    for umlaut, letters in _SPELLED.items():
        two, one = two.replace(umlaut, letters), one.replace(letters, umlaut)
    return [other for other in (two, one) if other != word]


@lru_cache(maxsize=1)
def _abbreviated() -> dict[str, tuple[str, ...]]:
    """Map the term of each abbreviation to the terms of the words it stands for."""
    found = english_rows("abbreviations")
    longs = iter(stems([word for _, long in found for word in long]))
    shorts = stems([short for short, _ in found])
    return {
        short: tuple(islice(longs, len(long)))
        for short, (_, long) in zip(shorts, found, strict=True)
    }


def telling_words(text: str) -> list[str]:
    """Return those words of a question, as written, that produce search terms."""
    asked = set(query_terms(text))
    language = language_asked(words(text), text)
    return [
        word
        for word in text.split()
        if not asked.isdisjoint(stems(cut_folded(normalise(word)), language))
    ]


def date_words(captured: str) -> str:
    """Format the day of an RFC 3339 date as written in questions, such as `8 may 2023`."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", captured)
    if not match or not 1 <= int(match[2]) <= len(MONTHS):
        return ""
    return f"{int(match[3])} {MONTHS[int(match[2]) - 1]} {match[1]}"
