"""The tables of words and phrases of each language, and patterns over all of them.

A language is one file, `memrepo/languages/NAME.toml`; docs/languages.md says what its sections are
for and how entries are written. A section is parsed when it is asked for: a search needs few.
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
"""All languages that have a file; where a text may be in two of them it is in the first."""
_SECTION = regex(r"(?m)^\[(\w+)")
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_WIDE = regex(f"[{_WIDE}]")
MIN_PLAIN_LENGTH = 4
"""A shorter word without its accents may be another word."""


@cache
def _sections(language: str) -> Mapping[str, str]:
    """Return the text of each section of a language's file, its subsections included."""
    text = FOLDER.joinpath(f"{language}.toml").read_text("utf-8")
    found = [*_SECTION.finditer(text)]
    sections: dict[str, str] = {}
    for match, after in zip(found, [*found[1:], None], strict=True):
        part = text[match.start() : after.start() if after else len(text)]
        sections[match[1]] = sections.get(match[1], "") + part
    return sections


@cache
def table(language: str, section: str) -> Mapping[str, Any]:
    """Return a section of a language's file; an empty one where it has none."""
    text = _sections(language).get(section, "")
    found: Mapping[str, Any] = tomllib.loads(text).get(section, {}) if text else {}
    return found


def tables(section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each language that has a section, with the section."""
    for language in LANGUAGES:
        if found := table(language, section):
            yield language, found


@cache
def entries(section: str, key: str) -> tuple[str, ...]:
    """Return the entries of a key in all languages: of a list its texts, of a text its words."""
    values = (found.get(key, ()) for _, found in tables(section))
    lists = (value.split() if isinstance(value, str) else value for value in values)
    return tuple(entry for one in lists for entry in one)


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """Patterns of headings and of sentences by kind, and words of profile fields."""

    headings: Mapping[str, re.Pattern[str]]
    sentences: Mapping[str, re.Pattern[str]]
    names: frozenset[str]
    """Keys of fields that give a name."""
    unset: frozenset[str]
    """Values that say that nothing is given."""


@cache
def patterns() -> Patterns:
    """Return what headings and sentences are recognised by, in all languages at once."""
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
    """Return a pattern that finds any of some entries; `start` and `end` bind it to the text's."""
    found = tuple(found)
    wide = sorted({re.escape(entry) for entry in found if _IS_WIDE.search(entry)})
    spelled = {*found, *map(_without_accents, found)}  # many write without them
    narrow = sorted({_spelled(entry) for entry in spelled if not _IS_WIDE.search(entry)})
    any_of = "|".join(filter(None, (f"(?<!\\w)(?:{'|'.join(narrow)})" if narrow else "", *wide)))
    if start:
        any_of = rf"\A\W*(?:{any_of})"
    if end:
        any_of = rf"(?:{any_of})\W*\Z"
    return re.compile(any_of, re.IGNORECASE)


def _without_accents(entry: str) -> str:
    """Return a longer entry in Latin script without its accents."""
    plain = "".join(c for c in unicodedata.normalize("NFD", entry) if not unicodedata.combining(c))
    return plain if plain.isascii() and len(plain) >= MIN_PLAIN_LENGTH else entry


def _spelled(entry: str) -> str:
    """Return the pattern of an entry of a script with blanks."""
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
