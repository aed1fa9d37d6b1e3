"""Load the tables of words for each language, detect the language of a text, and fold words.

Each language has one file, `memrepo/languages/NAME.toml`. docs/languages.md describes the sections
and the syntax of entries. Sections are parsed on first use, because a search needs few of them.

A word may be a function word in one language and a content word in another (German and English
`die`). A text has the language with most of its function words, or English if no language has more.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core.ids import normalise, visible
from memrepo.core.patterns import regex, wide

FOLDER = Path(__file__).parents[1] / "languages"
ENGLISH = "english"
LANGUAGES = (
    *(ENGLISH, "german", "french", "spanish", "italian", "portuguese", "dutch", "swedish"),
    *("danish", "norwegian", "finnish", "polish", "czech", "hungarian", "romanian", "turkish"),
    *(
        "indonesian",
        "vietnamese",
        "russian",
        "ukrainian",
        "greek",
        "arabic",
        "hindi",
        "tamil",
        "armenian",
    ),
    *("chinese", "japanese", "korean"),
)
"""All languages with a file. A text that fits several languages has the first of them."""
_SECTION = regex(r"(?m)^\[(\w+)")
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_WIDE = wide(f"[{_WIDE}]")
MIN_PLAIN_LENGTH = 4
"""Shorter words are not matched without their accents, because they may be other words."""


@cache
def _sections(language: str) -> Mapping[str, str]:
    """Return the text of each section in a language's file, including subsections."""
    text = FOLDER.joinpath(f"{language}.toml").read_text("utf-8")
    found = [*_SECTION.finditer(text)]
    sections: dict[str, str] = {}
    for match, after in zip(found, [*found[1:], None], strict=True):
        part = text[match.start() : after.start() if after else len(text)]
        sections[match[1]] = sections.get(match[1], "") + part
    return sections


@cache
def table(language: str, section: str) -> Mapping[str, Any]:
    """Return a section of a language's file, or an empty mapping if the section is missing."""
    text = _sections(language).get(section, "")
    found: Mapping[str, Any] = tomllib.loads(text).get(section, {}) if text else {}
    return found


def tables(section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (language, section) for each language whose file contains the section."""
    for language in LANGUAGES:
        if found := table(language, section):
            yield language, found


@cache
def entries(section: str, key: str, own: Sequence[str] = LANGUAGES) -> tuple[str, ...]:
    """Return the entries of a key for some languages. A text value is split into words."""
    values = (table(language, section).get(key, ()) for language in own)
    lists = (value.split() if isinstance(value, str) else value for value in values)
    return tuple(entry for one in lists for entry in one)


class WordPattern:
    """A pattern of many entries, which searches a text only if it has the first word of one.

    Looking up the words of a text takes a fraction of the time of a search for all entries.
    """

    def __init__(self, found: Sequence[str], *, start: bool = False, end: bool = False) -> None:
        wide = "|".join(re.escape(entry) for entry in found if _IS_WIDE.search(entry))
        self._wide = regex(wide or r"(?!)")
        self._starts = _first_words(entry for entry in found if not _IS_WIDE.search(entry))
        self._given = found, start, end

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        found, start, end = self._given
        return pattern(found, start=start, end=end)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text, or None."""
        is_possible = self._starts is None or not self._starts.isdisjoint(_starts_of(text))
        if is_possible or (not text.isascii() and self._wide.search(text)):
            return self._pattern.search(text)
        return None

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match at the beginning of a text, or None."""
        return self._pattern.match(text) if self.search(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text, or None."""
        return self._pattern.fullmatch(text) if self.search(text) else None


def _first_words(found: Iterable[str]) -> frozenset[str] | None:
    """Return how a word begins in every text with an entry, or None if that is unknown.

    A whole word ends in a blank.
    """
    starts: set[str] = set()
    for entry in found:
        for part in (part for one in {entry, _without_accents(entry)} for part in _leading(one)):
            for word in part.removesuffix("?").split("/"):
                first = _FIRST.match(word.lower())
                if first is None:
                    return None
                starts.add(first[0] if word[first.end() :][:1] in ("*", "…") else f"{first[0]} ")
    return frozenset(starts)


def _leading(entry: str) -> Iterator[str]:
    """Yield the parts of an entry with which a match may begin."""
    for part in entry.split(" "):
        yield part
        if not part.endswith("?"):
            return


_FIRST = regex(r"\w+")


@lru_cache(maxsize=256)
def _starts_of(text: str) -> frozenset[str]:
    """Return the whole words of a text, each with a blank, and all their beginnings."""
    words = {*_FIRST.findall(text.lower())}
    starts = {word[:length] for word in words for length in range(1, len(word) + 1)}
    return frozenset((*starts, *(f"{word} " for word in words)))


class PatternsByKind(dict[str, WordPattern]):
    """The patterns of a section by kind. Each is compiled when it is first used."""

    def __init__(self, section: str) -> None:
        super().__init__()
        self._section = section

    def __missing__(self, kind: str) -> WordPattern:
        found = self[kind] = WordPattern(
            entries(self._section, kind),
            start=kind in ("done", "explains", "refers"),
            end=kind == "done_end",
        )
        return found

    def every(self) -> Iterator[WordPattern]:
        """Yield the patterns of all kinds."""
        kinds = dict.fromkeys(kind for _, found in tables(self._section) for kind in found)
        return (self[kind] for kind in kinds)


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """Patterns of headings and sentences by kind, and the words for profile fields."""

    headings: PatternsByKind
    sentences: PatternsByKind
    names: frozenset[str]
    """Keys of fields for a name."""
    unset: frozenset[str]
    """Values of fields that are not filled in."""


@cache
def patterns() -> Patterns:
    """Return the patterns that recognise kinds of headings and sentences, for all languages."""
    return Patterns(
        headings=PatternsByKind("headings"),
        sentences=PatternsByKind("sentences"),
        names=frozenset(entries("profile", "name")),
        unset=frozenset(entries("profile", "unset")),
    )


def pattern(found: Iterable[str], *, start: bool = False, end: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches any of the entries, optionally only at the start or end."""
    found = tuple(found)
    wide = sorted({re.escape(entry) for entry in found if _IS_WIDE.search(entry)})
    spelled = {*found, *map(_without_accents, found)}  # often written without accents
    narrow = sorted({_entry_pattern(entry) for entry in spelled if not _IS_WIDE.search(entry)})
    any_of = "|".join(filter(None, (f"(?<!\\w)(?:{'|'.join(narrow)})" if narrow else "", *wide)))
    if start:
        any_of = rf"\A\W*(?:{any_of})"
    if end:
        any_of = rf"(?:{any_of})\W*\Z"
    return re.compile(any_of, re.IGNORECASE)


def _without_accents(entry: str) -> str:
    """Return an entry without accents if it is Latin and long enough, else the entry unchanged."""
    plain = "".join(c for c in unicodedata.normalize("NFD", entry) if not unicodedata.combining(c))
    return plain if plain.isascii() and len(plain) >= MIN_PLAIN_LENGTH else entry


def _entry_pattern(entry: str) -> str:
    """Return the pattern for an entry in a script with blanks between words."""
    spelled, blank = "", ""
    for part in entry.split(" "):
        optional = part.endswith("?")
        choice = "|".join(map(_word_pattern, part.removesuffix("?").split("/")))
        piece = f"{blank}(?:{choice})"
        if optional:
            spelled += f"(?:{piece})?" if blank else rf"(?:{piece}\s+)?"
        else:
            spelled += piece
            blank = r"\s+"
    return spelled if entry.endswith("*") else rf"{spelled}(?!\w)"


def _word_pattern(word: str) -> str:
    if word == "…":
        return r"\S+(?:\s+\S+)?"
    return re.escape(word).replace("'", "['’]").replace("…", r"\w*").replace(r"\*", r"\w*")


SURE = 2
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
    """Return the language of a question. If no word is English, one function word is sufficient."""
    return language_of(found, text, sure=1)


def language_of(found: Iterable[str], text: str, sure: int = SURE) -> str:
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
                votes[language] += SURE
        for language, script in scripts.items():
            if 2 * len(script.findall(text)) > sum(map(str.isalpha, text)):
                votes[language] += SURE
                votes[ENGLISH] = 0
                break
    return votes


@lru_cache(maxsize=1)
def small_words() -> Mapping[str, frozenset[str]]:
    """Return the folded function words by language."""
    small = {language: found.get("small", "") for language, found in tables("language")}
    return {language: frozenset(fold(text).split()) for language, text in small.items() if text}


def stop_words() -> frozenset[str]:
    """Return the English function words. Questions that have other words are searched without."""
    return small_words()[ENGLISH]


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
