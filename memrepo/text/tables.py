"""The words of headings and sentences, one table per language, as patterns over all of them.

The tables are `memrepo/languages/reading/*.toml`; `en.toml` says how entries are written. A text
may mix languages, so that a sign is looked for in all of them.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from memrepo.core.patterns import regex

FOLDER = Path(__file__).parents[1] / "languages" / "reading"
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_WIDE = regex(f"[{_WIDE}]")


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """Patterns by kind of headings and of sentences, and words of profile fields."""

    headings: Mapping[str, re.Pattern[str]]
    sentences: Mapping[str, re.Pattern[str]]
    names: frozenset[str]
    """Keys of fields that give a name."""
    unset: frozenset[str]
    """Values that say that nothing is given."""


@cache
def words() -> Words:
    """Load the tables of all languages."""
    headings: dict[str, list[str]] = {}
    sentences: dict[str, list[str]] = {}
    names: set[str] = set()
    unset: set[str] = set()
    for path in sorted(FOLDER.glob("*.toml")):
        table = tomllib.loads(path.read_text("utf-8"))
        names.update(table["profile"]["name"])
        unset.update(table["profile"]["unset"])
        for found, rows in ((headings, table["headings"]), (sentences, table["sentences"])):
            for kind, entries in rows.items():
                found.setdefault(kind, []).extend(entries)
    return Words(
        headings={kind: _pattern(entries) for kind, entries in headings.items()},
        sentences={
            kind: _pattern(entries, start=kind == "done", end=kind in ("done_end", "reported"))
            for kind, entries in sentences.items()
        },
        names=frozenset(names),
        unset=frozenset(unset),
    )


def _pattern(entries: list[str], *, start: bool = False, end: bool = False) -> re.Pattern[str]:
    """Return a pattern that finds any of some entries; `start` and `end` bind it to the text's."""
    wide = sorted({re.escape(entry) for entry in entries if _IS_WIDE.search(entry)})
    spelled = {*entries, *map(_without_accents, entries)}  # many write without them
    narrow = sorted({_spelled(entry) for entry in spelled if not _IS_WIDE.search(entry)})
    found = "|".join(filter(None, (f"(?<!\\w)(?:{'|'.join(narrow)})" if narrow else "", *wide)))
    if start:
        found = rf"\A\W*(?:{found})"
    if end:
        found = rf"(?:{found})\W*\Z"
    return re.compile(found, re.IGNORECASE)


def _without_accents(entry: str) -> str:
    """Return a longer entry in Latin script without its accents."""
    plain = "".join(c for c in unicodedata.normalize("NFD", entry) if not unicodedata.combining(c))
    return plain if plain.isascii() and len(plain) >= LEAST_PLAIN else entry


LEAST_PLAIN = 4
"""A shorter word without accents may be another word."""


def _spelled(entry: str) -> str:
    """Spell an entry of a script with blanks: words, `*` for an ending, `…` for words between."""
    text = re.escape(entry).replace(r"\ …\ ", r"\s+(?:\S+\s+){1,2}").replace(r"\ …", r"\s+\w*")
    text = text.replace(r"\ ", r"\s+").replace("'", "['’]")
    return text.replace(r"\*", r"\w*") if text.endswith(r"\*") else rf"{text}(?!\w)"
