r"""Lines with their own line ends: real files mix `\n`, `\r\n` and `\r`, and keep them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from memrepo.core.patterns import regex

Line: TypeAlias = tuple[str, str]
"""A line's text and its end; the end is empty only for a last line without final newline."""

_LINE = regex(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_ODD_END = regex(r"\r\n?")


def split_lines(text: str) -> list[Line]:
    r"""Split a text at `\n`, `\r\n` and `\r` and at nothing else; joined again it is the same."""
    lines: list[Line] = _LINE.findall(text)
    # The pattern always matches once more, emptily, at the very end.
    lines.pop()
    return lines


def join_lines(lines: Iterable[Line]) -> str:
    r"""Join lines.

    A `\r` that came to stand before an empty line ended by `\n` becomes `\r\n`: the two would
    read as one line end.
    """
    parts: list[str] = []
    for text, end in lines:
        if not text and end.startswith("\n") and parts and parts[-1] == "\r":
            parts[-1] = "\r\n"
        parts += (text, end) if text else (end,)
    return "".join(parts)


def dominant_end(*groups: Iterable[Line]) -> str:
    r"""Return the commonest line end of the first group that has any, `\n` if none has."""
    for group in groups:
        counted = Counter(end for _, end in group if end)
        if counted:
            return counted.most_common(1)[0][0]
    return "\n"


def unix(text: str) -> str:
    r"""Turn every line end into `\n`."""
    return _ODD_END.sub("\n", text) if "\r" in text else text
