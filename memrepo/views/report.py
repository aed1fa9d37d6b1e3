"""Words for the counts, the reasons and the codes that programs record. Files retain the codes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memrepo.core.kept import read_table
from memrepo.core.messages import counted_as
from memrepo.core.patterns import regex

WORDS: dict[str, Any] = read_table(Path(__file__).with_name("words.toml"))
COUNTS: Mapping[str, tuple[str, str]] = WORDS["counts"]
LEFT_OUT: frozenset[str] = frozenset(WORDS["warnings"]["left_out"])
"""The rules whose warnings say that a text was not read, or only in part."""


def counts_in_words(counts: Mapping[str, int]) -> list[str]:
    """Return the counts of a run as short phrases for one line, such as a commit subject."""
    return [
        counted_as(counts[key], short)
        for key, (short, _) in COUNTS.items()
        if short and counts.get(key)
    ]


def count_lines(counts: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return the counts of a run as (count, phrase) pairs for separate lines."""
    every = {**counts}
    if every.get("units", 0) <= every.get("candidates", 0):
        every.pop("candidates", None)  # all are new, or are notes: there is no "of them"
    return [
        (every[key], counted_as(every[key], words).partition(" ")[2])
        for key, (_, words) in COUNTS.items()
        if every.get(key)
    ]


_GONE = regex(r"(text_removed|source_removed|all_sources_removed): ([^;,\n]{1,400}?)(?=[;,\n]|$)")
_CODE = regex(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def in_words(reason: str) -> str:
    """Translate the codes in a reason. A reason by a person or a model remains unchanged."""
    if reason in WORDS["reasons"]:
        return str(WORDS["reasons"][reason])
    return _GONE.sub(
        lambda m: f"{m[2]} {'no longer says so' if m[1] == 'text_removed' else 'is gone'}", reason
    )


def judged_in_words(judged: str) -> str:
    """Translate the codes in a judge's disposition or reason. Unknown codes are left out."""
    known = WORDS["dispositions"] | WORDS["reasons"]
    parts = (known.get(part, "" if _is_code(part) else part) for part in judged.split(", "))
    return ", ".join(filter(None, parts))


def _is_code(text: str) -> bool:
    return "_" in text and all(map(_CODE.fullmatch, text.split(",")))
