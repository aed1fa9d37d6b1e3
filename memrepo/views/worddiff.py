"""Which words of two wordings differ: what a reviewer looks for in a long sentence first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from memrepo.core.codec import pairs

Mark = Literal["same", "old", "new"]
_LEAST_SHARED = 0.3
"""Below this share of common words two texts are shown whole: a mosaic would explain nothing."""
_MOST_WORDS = 3000
"""Longer texts are compared by line: matching words is quadratic."""
_WIDE = (
    (0x2E80, 0xA4CF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Scripts written without blanks: each of their characters counts as a word."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of text that both wordings share, or that one of them alone has."""

    mark: Mark
    text: str


def word_diff(old: str, new: str) -> tuple[Span, ...]:
    """Return both texts as spans in reading order; of a place that changed, the old first.

    The spans that are not `new` join to the old text, those that are not `old` to the new one.
    """
    first, second = words(old), words(new)
    if len(first) > _MOST_WORDS or len(second) > _MOST_WORDS:
        first, second = old.splitlines(keepends=True), new.splitlines(keepends=True)
    spans = _spans(first, second)
    shared = sum(len(s.text.split()) for s in spans if s.mark == "same")
    most = max(len(old.split()), len(new.split()))
    if shared < _LEAST_SHARED * most:
        return _joined([Span(mark="old", text=old), Span(mark="new", text=new)])
    return _joined(_without_islands(spans))


def words(text: str) -> list[str]:
    """Cut a text into words, runs of blanks, and single other characters; none is lost."""
    found: list[str] = []
    before = ""
    for ch in text:
        kind = _kind(ch, before)
        if found and kind and kind == before:
            found[-1] += ch
        else:
            found.append(ch)
        before = kind
    return found


def _kind(ch: str, before: str) -> str:
    if ch.isspace():
        return "blank"
    if any(low <= ord(ch) <= high for low, high in _WIDE):
        return ""
    if ch.isalnum() or ch in "_'’":
        return "word"
    # A mark belongs to the letter it stands on.
    return before if before == "word" and unicodedata.category(ch).startswith("M") else ""


def _spans(first: Sequence[str], second: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    i = j = 0
    for a, b in [*sorted(pairs(first, second)), (len(first), len(second))]:
        spans.append(Span(mark="old", text="".join(first[i:a])))
        spans.append(Span(mark="new", text="".join(second[j:b])))
        spans.append(Span(mark="same", text="".join(first[a : a + 1])))
        i, j = a + 1, b + 1
    return list(_joined(spans))


def _without_islands(spans: Sequence[Span]) -> list[Span]:
    """Give blanks and marks that stand alone between two changes to both sides."""
    found: list[Span] = []
    for n, span in enumerate(spans):
        lonely = 0 < n < len(spans) - 1 and not any(ch.isalnum() for ch in span.text)
        if span.mark == "same" and lonely:
            found += [Span(mark="old", text=span.text), Span(mark="new", text=span.text)]
        else:
            found.append(span)
    return found


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Join neighbours, and put what is old before what is new between two shared stretches."""
    found: list[Span] = []
    gap = {"old": "", "new": ""}

    def close() -> None:
        for mark in ("old", "new"):
            if gap[mark]:
                found.append(Span(mark=mark, text=gap[mark]))
                gap[mark] = ""

    for span in spans:
        if span.mark != "same":
            gap[span.mark] += span.text
        elif span.text:
            close()
            if found and found[-1].mark == "same":
                found[-1] = Span(mark="same", text=found[-1].text + span.text)
            else:
                found.append(span)
    close()
    return tuple(found)
