"""Where a file's header stands and what it holds; files without one are the rule, not an error.

A header opens on line 1 (after an optional byte order mark) with `---` and closes with the next
line `---` or `...`; blanks may follow both. `+++` and a `---` further down are body.
"""

from __future__ import annotations

import re

import msgspec

from memrepo.core import subset
from memrepo.core.entries import Entry, Reading
from memrepo.core.lines import split_lines
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.refusals import refusal

FIRST_LINE = 2
"""The number of the line after the opening marker."""

_OPEN = regex(r"\ufeff?---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSE = regex(r"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_BYTE_LINE_END = regex(rb"\r\n|\n|\r")


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """A file's header.

    `present`: opened and closed. `unclosed`: opened only; then everything is body. `indent`:
    blanks before each top-level key. `body_line` is the one-based number of the first line after
    the header, `body_offset` where it begins in the decoded text (the byte order mark counts).
    """

    present: bool = False
    unclosed: bool = False
    entries: tuple[Entry, ...] = ()
    indent: int = 0
    body_line: int = 1
    body_offset: int = 0
    problems: tuple[Problem, ...] = ()


def split(data: bytes, path: str) -> Header:
    """Read the header of any file; it never raises, what is wrong is in `problems`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Header(problems=(not_utf8(path, data, error.start),))
    return read(text, path)


def not_utf8(path: str, data: bytes, offset: int) -> Problem:
    """Make the Problem of bytes that are not UTF-8 from `offset` on."""
    before = data[:offset]
    ends = list(_BYTE_LINE_END.finditer(before))
    start = ends[-1].end() if ends else 0
    return refusal(
        "file-not-utf8",
        path,
        f"found the byte 0x{data[offset]:02X} at offset {offset}, expected UTF-8",
        line=len(ends) + 1,
        column=len(before[start:].decode("utf-8", "replace")) + 1,
        fix="save the file as UTF-8",
    )


def read(text: str, path: str) -> Header:
    """Read the header of a decoded text; as `split`."""
    bom = int(text.startswith("\ufeff"))
    opening = _OPEN.match(text)
    if opening is None:
        return Header(body_offset=bom)
    closing = _closing(text, opening)
    if closing is None:
        problem = refusal(
            "frontmatter-unclosed",
            path,
            "found --- on line 1 only, expected a closing ---",
            line=1,
            column=1,
            fix="close the header with a line ---",
        )
        return Header(unclosed=True, body_offset=bom, problems=(problem,))
    lines = inner_lines(text, opening.end(), closing.start() + 1)
    reading = read_lines(lines, path)
    return Header(
        present=True,
        entries=reading.entries,
        indent=reading.indent,
        body_line=FIRST_LINE + len(lines) + 1,
        body_offset=closing.end(),
        problems=reading.problems,
    )


def _closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    # The closing marker may follow at once: its line end is then the opening's own.
    return _CLOSE.search(text, opening.end() - 1)


def inner_lines(text: str, start: int, end: int) -> list[str]:
    """Split the text between the markers into lines without their ends."""
    inner = text[start:end]
    if "\r" in inner:
        return [line for line, _ in split_lines(inner)]
    lines = inner.split("\n")
    # After a last line end comes nothing; between markers in direct succession there is nothing.
    lines.pop()
    return lines


def read_lines(lines: list[str], path: str) -> Reading:
    """Read the lines between the markers: our own subset first, YAML for the rest."""
    entries = subset.read(lines, FIRST_LINE)
    if entries is not None:
        return Reading(entries=entries)
    from memrepo.core import yamlnodes

    return yamlnodes.read(lines, path, FIRST_LINE)
