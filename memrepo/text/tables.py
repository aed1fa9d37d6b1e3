"""Load the tables of words and phrases for each language, and build patterns from the tables.

Each language has one file, `memrepo/languages/NAME.toml`. docs/languages.md describes the sections
and the syntax of entries. Sections are parsed on first use, because a search needs few of them.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core.patterns import regex

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
_IS_WIDE = regex(f"[{_WIDE}]")
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
def entries(section: str, key: str) -> tuple[str, ...]:
    """Return the entries of a key for all languages. A text value is split into words."""
    values = (found.get(key, ()) for _, found in tables(section))
    lists = (value.split() if isinstance(value, str) else value for value in values)
    return tuple(entry for one in lists for entry in one)


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """Patterns of headings and sentences by kind, and the words for profile fields."""

    headings: Mapping[str, re.Pattern[str]]
    sentences: Mapping[str, re.Pattern[str]]
    names: frozenset[str]
    """Keys of fields for a name."""
    unset: frozenset[str]
    """Values of fields that are not filled in."""


@cache
def patterns() -> Patterns:
    """Return the patterns that recognise kinds of headings and sentences, for all languages."""
    headings = dict.fromkeys(key for _, found in tables("headings") for key in found)
    sentences = dict.fromkeys(key for _, found in tables("sentences") for key in found)
    return Patterns(
        headings={kind: pattern(entries("headings", kind)) for kind in headings},
        sentences={
            kind: pattern(
                entries("sentences", kind),
                start=kind in ("done", "explains"),
                end=kind in ("done_end", "reported"),
            )
            for kind in sentences
        },
        names=frozenset(entries("profile", "name")),
        unset=frozenset(entries("profile", "unset")),
    )


def pattern(found: Iterable[str], *, start: bool = False, end: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches any of the entries, optionally only at the start or end."""
    found = tuple(found)
    wide = sorted({re.escape(entry) for entry in found if _IS_WIDE.search(entry)})
    spelled = {*found, *map(_without_accents, found)}  # often written without accents
    narrow = sorted({_spelled(entry) for entry in spelled if not _IS_WIDE.search(entry)})
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


def _spelled(entry: str) -> str:
    """Return the pattern for an entry in a script with blanks between words."""
    spelled, blank = "", ""
    for part in entry.split(" "):
        optional = part.endswith("?")
        choice = "|".join(map(_part, part.removesuffix("?").split("/")))
        piece = f"{blank}(?:{choice})"
        if optional:
            spelled += f"(?:{piece})?" if blank else rf"(?:{piece}\s+)?"
        else:
            spelled += piece
            blank = r"\s+"
    return spelled if entry.endswith("*") else rf"{spelled}(?!\w)"


def _part(word: str) -> str:
    if word == "…":
        return r"\S+(?:\s+\S+)?"
    return re.escape(word).replace("'", "['’]").replace("…", r"\w*").replace(r"\*", r"\w*")
