"""Compare two wordings word by word, so that a reviewer sees the difference in a long sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from memrepo.core.patterns import regex

Mark = Literal["same", "old", "new"]
_MIN_SHARED = 0.3
"""Minimum share of common words. Texts with less are shown whole, as marked words would confuse."""
_MAX_WORDS = 3000
"""Longer texts are compared by line, because comparing words takes quadratic time."""
_WIDE = "\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts written without blanks. Each of their characters counts as a word."""
_WORD = regex(rf"\s+|[{_WIDE}]|(?:(?![{_WIDE}])[\w'’]|(?<=\w)[\u0300-\u036f])+|.", re.DOTALL)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text that is in both wordings or in only one of them."""

    mark: Mark
    text: str


def words(text: str) -> list[str]:
    """Split a text into words, runs of blanks and individual other characters.

    Joining the parts gives the text.
    """
    return _WORD.findall(text)


def word_diff(old: str, new: str) -> tuple[Span, ...]:
    """Return the spans of both texts in reading order, with old spans before new ones.

    Joining all spans except the `new` ones gives the old text. Joining all except the `old` ones
    gives the new text.
    """
    first: Sequence[str] = words(old)
    second: Sequence[str] = words(new)
    if len(first) > _MAX_WORDS or len(second) > _MAX_WORDS:
        first, second = old.splitlines(keepends=True), new.splitlines(keepends=True)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    shared = sum(len("".join(first[b.a : b.a + b.size]).split()) for b in blocks)
    if shared < _MIN_SHARED * max(len(old.split()), len(new.split())):
        blocks = blocks[-1:]
    spans: list[tuple[str, str, str]] = []  # triples of old, new and common text
    i = j = 0
    for block in blocks:
        same = "".join(first[block.a : block.a + block.size])
        gone, come = "".join(first[i : block.a]), "".join(second[j : block.b])
        i, j = block.a + block.size, block.b + block.size
        # Blanks and punctuation between two changes belong to both sides.
        if spans and not any(ch.isalnum() for ch in spans[-1][2]) and (gone or come):
            before = spans.pop()
            gone, come = before[0] + before[2] + gone, before[1] + before[2] + come
        spans.append((gone, come, same))
    marks: tuple[Mark, ...] = ("old", "new", "same")
    texts = ((mark, text) for span in spans for mark, text in zip(marks, span, strict=True))
    return tuple(Span(mark=mark, text=text) for mark, text in texts if text)
