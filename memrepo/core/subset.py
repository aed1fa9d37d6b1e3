"""The fast reader of headers as memrepo writes them; anything else it leaves to YAML.

It accepts a line only if YAML gives the same text, so both readers agree on every header that
this one takes (a law in the tests). PyYAML's C loader needs ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.core.entries import Entry
from memrepo.core.fields import Node
from memrepo.core.patterns import regex
from memrepo.core.refusals import OWN_DEPTH
from memrepo.core.schema import ORDER
from memrepo.core.spelling import BAD, FLOW_PLAIN, ambiguous, plain_shape

_KEY = regex(r"([A-Za-z_][A-Za-z0-9_-]*):(?: |\Z)")
_STRING = rf'"[^"\\{BAD}]*(?:\\["\\/bfnrtu][^"\\{BAD}]*)*"'
_WHOLE_STRING = regex(_STRING)
_COMMENT = regex(rf"#[^{BAD}]*")
_MEMBER = regex(r"([A-Za-z_][A-Za-z0-9_-]*): ")
_SCALAR = regex(rf"({_STRING})|({FLOW_PLAIN})")
_SURROGATE = regex(r"\\u[dD][89a-fA-F]")


class NotCanonical(ValueError):
    """A spelling that memrepo does not write."""


def read(lines: Sequence[str], first: int) -> tuple[Entry, ...] | None:
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
            key, start, rest = match[1], number, line[match.end() :]
            if key in found or (key not in ORDER and ambiguous(key)):
                raise NotCanonical(line)
            items = None if rest else []
            found[key] = Entry(key, _value(rest, line), start, number)
        elif line.startswith("  - {") and items is not None:
            items.append(_whole(line, 4))
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
        match = _MEMBER.match(text, at)
        if match is None or match[1] in members or ambiguous(match[1]):
            raise NotCanonical(text)
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
