"""Split a text into lines with their endings, join lines, and find what breaks a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from memrepo.core.patterns import regex

Line: TypeAlias = tuple[str, str]
"""The text of a line and its line ending, which is empty only for a last line without newline."""

_LINE = regex(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_ODD_END = regex(r"\r\n?")


def without_comments(text: str) -> str:
    """Remove HTML comments from a text. Unclosed comments remain."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join((*parts, text[at:])) if parts else text


def split_lines(text: str) -> list[Line]:
    r"""Split a text only at `\n`, `\r\n` and `\r`. Joining the lines restores the text."""
    lines: list[Line] = _LINE.findall(text)
    # The pattern always matches an additional empty string at the end.
    lines.pop()
    return lines


def join_lines(lines: Iterable[Line]) -> str:
    r"""Join lines into a text.

    A `\r` directly before an empty line that ends with `\n` becomes `\r\n`, because the two would
    be read as one line ending.
    """
    parts: list[str] = []
    for text, end in lines:
        if not text and end.startswith("\n") and parts and parts[-1] == "\r":
            parts[-1] = "\r\n"
        parts += (text, end) if text else (end,)
    return "".join(parts)


def dominant_end(*groups: Iterable[Line]) -> str:
    r"""Return the most common line ending in the first group that has any, or else `\n`."""
    for group in groups:
        counted = Counter(end for _, end in group if end)
        if counted:
            return counted.most_common(1)[0][0]
    return "\n"


def unix(text: str) -> str:
    r"""Convert every line ending to `\n`."""
    return _ODD_END.sub("\n", text) if "\r" in text else text


def find_conflict(text: str) -> int:
    """Return the line number of git's first conflict marker, or 0. Fenced code is ignored."""
    if "<<<<<<< " not in text:
        return 0
    fence, opened, has_middle = "", 0, False
    for number, (line, _) in enumerate(split_lines(text), start=1):
        if opened:
            has_middle |= line.startswith("=======") and not line.strip("=")
            if has_middle and line.startswith(">>>>>>> "):
                return opened
        elif fence or line.startswith(("```", "~~~")):
            fence = "" if fence and line.startswith(fence) else fence or line[:3]
        elif line.startswith("<<<<<<< "):
            opened = number
    return 0
