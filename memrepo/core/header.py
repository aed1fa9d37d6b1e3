"""A file's header: where it stands, what it holds, and the fast reader of what memrepo writes.

A header opens on line 1 (after an optional byte order mark) with `---` and closes with the next
line `---` or `...`; blanks may follow both. `+++` and a `---` further down are body. A file without
one is the rule, not an error.

The fast reader accepts a line only if YAML gives the same text, so both readers agree on every
header that it takes (a law in the tests); the rest it leaves to YAML. PyYAML's C loader needs ten
times as long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from sys import intern

import msgspec

from memrepo.core.fields import Node
from memrepo.core.lines import split_lines
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.refusals import OWN_DEPTH, refusal
from memrepo.core.schema import ORDER
from memrepo.core.spelling import BAD, FLOW_PLAIN, ambiguous, plain_shape


class Entry(msgspec.Struct, frozen=True):
    """One top-level key, its value, and its lines (one-based in the file, both inclusive).

    `last` covers the whole value, but no comment or blank line after it.
    """

    key: str
    value: Node
    first: int
    last: int


class Reading(msgspec.Struct, frozen=True):
    """The entries of a header in file order, how far they are indented, and what is wrong."""

    entries: tuple[Entry, ...] = ()
    indent: int = 0
    problems: tuple[Problem, ...] = ()


_KEY = regex(r"([A-Za-z_][A-Za-z0-9_-]*):(?: |\Z)")
_STRING = rf'"[^"\\{BAD}]*(?:\\["\\/bfnrtu][^"\\{BAD}]*)*"'
_WHOLE_STRING = regex(_STRING)
_COMMENT = regex(rf"#[^{BAD}]*")
_MEMBER = regex(r"([A-Za-z_][A-Za-z0-9_-]*): ")
_SCALAR = regex(rf"({_STRING})|({FLOW_PLAIN})")
_PAIR = regex(rf"([A-Za-z_][A-Za-z0-9_-]*): (?:({_STRING})|({FLOW_PLAIN}))(, |\}})")
"""A member whose value is a scalar, with what ends it: nearly all are so, and read at once. Neither
scalar may hold what ends it, so there is one way to match."""
_SURROGATE = regex(r"\\u[dD][89a-fA-F]")


class NotCanonical(ValueError):
    """A spelling that memrepo does not write."""


def read_subset(lines: Sequence[str], first: int) -> tuple[Entry, ...] | None:
    """Read the lines between the markers; `first` is the number of the first one.

    Returns None where the header is not in the canonical subset.
    """
    try:
        return _read(lines, first)
    except ValueError:
        return None


def _read(lines: Sequence[str], first: int) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    items: list[Node] | None = None  # of the key that stands alone on its line, if one is open
    key, start = "", 0
    for number, line in enumerate(lines, first):
        match = _KEY.match(line)
        if match is not None:
            # A run holds many headers, and all have the same keys.
            key, start, rest = intern(match[1]), number, line[match.end() :]
            if key in found or (key not in ORDER and _is_misread(key)):
                raise NotCanonical(line)
            items = None if rest else []
            found[key] = Entry(key, _value(rest, line), start, number)
        elif line.startswith("  - ") and items is not None:
            items.append(_value(line[4:], line))
            found[key] = Entry(key, items, start, number)
        elif line and not _COMMENT.fullmatch(line):
            raise NotCanonical(line)
    return tuple(found.values())


def _value(rest: str, line: str) -> Node:
    """Read what stands after `key: `; `key:` alone is the empty text."""
    if plain_shape(rest):
        return rest
    if not rest:
        if line.endswith(" "):
            raise NotCanonical(line)
        return ""
    return _whole(rest, 0)


def _whole(text: str, at: int) -> Node:
    """Read a quoted string or a flow collection that ends with the line."""
    if text[at] == '"':
        match = _WHOLE_STRING.fullmatch(text, at)
        if match is None:
            raise NotCanonical(text)
        return _unquoted(match[0])
    if text[at] not in "[{":
        raise NotCanonical(text)
    node, end = _node(text, at, 1)
    if end != len(text):
        raise NotCanonical(text)
    return node


def _node(text: str, at: int, depth: int) -> tuple[Node, int]:
    """Read one node of a flow collection; returns it and where it ends."""
    opening = text[at : at + 1]
    if opening == "[":
        return _list(text, at + 1, depth)
    if opening == "{":
        return _mapping(text, at + 1, depth)
    match = _SCALAR.match(text, at)
    if match is None:
        raise NotCanonical(text)
    string, plain = match[1], match[2]
    if string is not None:
        return _unquoted(string), match.end()
    return plain, match.end()


@lru_cache(maxsize=1024)
def _is_misread(key: str) -> bool:
    """Tell whether a key may be read as something else than text; files share theirs."""
    return ambiguous(key)


def _list(text: str, at: int, depth: int) -> tuple[Node, int]:
    items: list[Node] = []
    if text.startswith("]", at):
        return items, at + 1
    if depth > OWN_DEPTH:
        raise NotCanonical(text)
    while True:
        item, at = _node(text, at, depth + 1)
        items.append(item)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("]", at):
            return items, at + 1
        else:
            raise NotCanonical(text)


def _mapping(text: str, at: int, depth: int) -> tuple[Node, int]:
    members: dict[str, Node] = {}
    if text.startswith("}", at):
        return members, at + 1
    if depth > OWN_DEPTH:
        raise NotCanonical(text)
    while True:
        pair = _PAIR.match(text, at)
        match = pair or _MEMBER.match(text, at)
        if match is None or match[1] in members or _is_misread(match[1]):
            raise NotCanonical(text)
        if pair is not None:
            key, string, plain, ended = pair.groups()
            members[key] = plain if string is None else _unquoted(string)
            at = pair.end()
            if ended == "}":
                return members, at
            continue
        members[match[1]], at = _node(text, match.end(), depth + 1)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("}", at):
            return members, at + 1
        else:
            raise NotCanonical(text)


def _unquoted(string: str) -> str:
    """Read a JSON string; surrogate pairs are two characters in YAML, so they are not ours."""
    if "\\" not in string:
        return string[1:-1]
    if _SURROGATE.search(string):
        raise NotCanonical(string)
    import json

    value: str = json.loads(string)
    return value


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
    entries = read_subset(lines, FIRST_LINE)
    if entries is not None:
        return Reading(entries=entries)
    from memrepo.core import yamlnodes

    return yamlnodes.read(lines, path, FIRST_LINE)
