"""How deep markdown nests, found without parsing it: parsers take ages over what nests too deep."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.core.patterns import regex

MAX_DEPTH = 64
"""Deepest nesting of lists or quotes that is parsed."""

_MARKERS = regex(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))+")
_MARKER = regex(r"([-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_QUOTES = regex(r"[ \t]*(?:>[ \t]*)+")


def too_deep(text: Sequence[str]) -> int:
    """Return the first line that may nest too deep, from above: markdown can only nest less."""
    columns: list[int] = []
    for number, line in enumerate(text, start=1):
        quotes = _QUOTES.match(line)
        if quotes and quotes[0].count(">") > MAX_DEPTH:
            return number
        match = _MARKERS.match(line)
        if match is None or _is_rule(line):
            continue
        prefix = match[0].expandtabs(4)
        column = len(prefix) - len(prefix.lstrip(" "))
        while columns and columns[-1] > column:
            columns.pop()
        columns.extend(marker.end(1) + 1 for marker in _MARKER.finditer(prefix))
        if len(columns) > MAX_DEPTH:
            return number
    return 0


def _is_rule(line: str) -> bool:
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) > 2 and marks[0] in "-*_" and not marks.strip(marks[0])
