"""Kinds of field values. Each kind reads, writes and describes the values of a field.

A node is what the header parser yields: a string, a list of nodes, or a mapping of nodes. YAML
types are never guessed. `read` raises `ValueMismatch` with the expected value, and `write` returns
a canonical node. Only `core.codec` formats nodes as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import msgspec

from memrepo.core.ids import ID_PATTERN
from memrepo.core.patterns import regex
from memrepo.core.times import format_time, parse_time

Node: TypeAlias = "str | Raw | list[Node] | dict[str, Node]"


class Raw(str):
    """A scalar that is always written without quotes: a number, a time, or a flag."""

    __slots__ = ()


def bare(node: Node) -> Node:
    """Return a copy of a node with all scalars converted to plain `str`, as in JSON."""
    if isinstance(node, list):
        return [bare(part) for part in node]
    if isinstance(node, dict):
        return {key: bare(part) for key, part in node.items()}
    return str(node)


class ValueMismatch(Exception):
    """Raised when a node is not a valid value of its field. The codec reports it with its location.

    `words` contains all valid words if the field has a closed list. `path` has the keys and indexes
    that lead from the field's node to the invalid one.
    """

    def __init__(
        self,
        found: object,
        expected: str,
        path: tuple[str | int, ...] = (),
        words: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"found {shown(found)}, expected {expected}")
        self.found = found
        self.expected = expected
        self.path = path
        self.words = words

    def below(self, step: str | int) -> ValueMismatch:
        """Return the same mismatch as seen from the node that contains it."""
        return ValueMismatch(self.found, self.expected, (step, *self.path), self.words)

    @property
    def fix(self) -> str:
        """Return what to write instead, such as the most similar valid word."""
        if not self.words:
            return f"write {self.expected}"
        from difflib import get_close_matches

        near = get_close_matches(str(self.found).lower(), self.words, n=1)
        return f"did you mean {near[0]}?" if near else "write one of these words"


def shown(node: object) -> str:
    """Describe a node on one line for a message, truncated and with escaped control characters."""
    if isinstance(node, list):
        return f"a list of {len(node)}"
    if isinstance(node, dict):
        return "a mapping"
    text = str(node).encode("unicode_escape").decode("ascii")
    return f"'{text[:40]}...'" if len(text) > 43 else f"'{text}'"


class Kind(msgspec.Struct, frozen=True):
    """The base of all kinds of field values.

    `read` converts a node to a value, or raises ValueMismatch. `write` converts a value to its
    canonical node. `expected` describes a valid value in a few words.
    """

    @property
    def expected(self) -> str:
        raise NotImplementedError

    def read(self, node: Node) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> Node:
        return str(value)

    def mismatch(self, node: object) -> ValueMismatch:
        return ValueMismatch(node, self.expected)


@cache
def _whole(pattern: str) -> Callable[[str], object]:
    """Return a cached function that matches a whole text against a pattern.

    It avoids the lookup of `re` on each call.
    """
    return re.compile(pattern).fullmatch


class Text(Kind, frozen=True):
    """One line of text with at most `limit` characters. It matches `pattern`, if there is one."""

    pattern: str = ""
    limit: int = 2000
    what: str = "text"

    @property
    def expected(self) -> str:
        long = self.limit >= 2000
        return self.what if long else f"{self.what} of at most {self.limit} characters"

    def read(self, node: Node) -> str:
        if not isinstance(node, str) or len(node) > self.limit:
            raise self.mismatch(node)
        if self.pattern and _whole(self.pattern)(node) is None:
            raise self.mismatch(node)
        return str(node)


class Choice(Kind, frozen=True):
    """One word from a closed list."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return "one of " + ", ".join(self.words)

    def read(self, node: Node) -> str:
        if not isinstance(node, str) or node not in self.words:
            raise ValueMismatch(node, self.expected, words=self.words)
        return str(node)


class Time(Kind, frozen=True):
    """An RFC 3339 time, written in UTC. A date without a time is read as midnight UTC."""

    expected = "an RFC 3339 time such as 2026-01-31T09:00:00Z"

    def read(self, node: Node) -> Any:
        try:
            return parse_time(str(node) if isinstance(node, str) else "")
        except ValueError as error:
            raise self.mismatch(node) from error

    def write(self, value: Any) -> Node:
        return Raw(format_time(value))


class Day(Kind, frozen=True):
    """A date or a time, stored exactly as written."""

    expected = "a date such as 2026-01-31 or an RFC 3339 time"

    def read(self, node: Node) -> str:
        try:
            Time().read(node)
        except ValueMismatch as error:
            raise self.mismatch(node) from error
        return str(node)

    def write(self, value: object) -> Node:
        return Raw(value)


class Number(Kind, frozen=True):
    """A number between `low` and `high`, written with at most four decimals."""

    low: float = 0.0
    high: float = 1.0

    @property
    def expected(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, node: Node) -> float:
        text = node if isinstance(node, str) else ""
        if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text) is None:
            raise self.mismatch(node)
        value = float(text)
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise self.mismatch(node)
        return value

    def write(self, value: object) -> Node:
        text = f"{value:.4f}".rstrip("0")
        return Raw(text + "0" if text.endswith(".") else text)


class Whole(Kind, frozen=True):
    """A non-negative whole number of at most nine digits."""

    expected = "a whole number"

    def read(self, node: Node) -> int:
        if not isinstance(node, str) or re.fullmatch(r"0|[1-9]\d{0,8}", node) is None:
            raise self.mismatch(node)
        return int(node)

    def write(self, value: Any) -> Node:
        return Raw(int(value))


class Flag(Kind, frozen=True):
    """A flag that is true or absent. `false` is the default: it is accepted but never written."""

    expected = "true or false"

    def read(self, node: Node) -> bool:
        if not isinstance(node, str) or node not in ("true", "false"):
            raise self.mismatch(node)
        return str(node) == "true"

    def write(self, value: object) -> Node:
        return Raw("true" if value else "false")


class ListOf(Kind, frozen=True):
    """A list without duplicates, in written order. If `bare`, a value outside a list is read."""

    item: Kind
    bare: bool = False
    limit: int = 1000

    @property
    def expected(self) -> str:
        return f"a list, each item {self.item.expected}"

    def read(self, node: Node) -> tuple[Any, ...]:
        if self.bare and node and not isinstance(node, list):
            return (self.item.read(node),)
        if not isinstance(node, list) or len(node) > self.limit:
            raise self.mismatch(node)
        found: dict[object, None] = {}
        for number, part in enumerate(node):
            try:
                found[self.item.read(part)] = None
            except ValueMismatch as bad:
                raise bad.below(number) from bad
        return tuple(found)

    def write(self, value: Any) -> Node:
        return [self.item.write(part) for part in value]


class Pair(Kind, frozen=True):
    """A range of lines, as the numbers of the first and the last line."""

    expected = "two line numbers [first, last]"

    def read(self, node: Node) -> tuple[int, int]:
        if not isinstance(node, list) or len(node) != 2:
            raise self.mismatch(node)
        first, second = (Whole().read(part) for part in node)
        if first > second:
            raise self.mismatch(f"[{first}, {second}]")
        return first, second

    def write(self, value: Any) -> Node:
        return [Raw(value[0]), Raw(value[1])]


class Record(Kind, frozen=True):
    """A flat mapping read into a frozen struct. Members that have their default are not written.

    `names` maps a key in the file to an attribute if the key is not a valid name (`class`).
    """

    make: type[msgspec.Struct]
    members: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    names: Mapping[str, str] = msgspec.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.make, tuple(self.members)))

    @property
    def expected(self) -> str:
        return "a mapping {" + ", ".join(self.members) + "}"

    def read(self, node: Node) -> Any:
        if not isinstance(node, dict):
            raise self.mismatch(node)
        values: dict[str, object] = {}
        for key, part in node.items():
            if key not in self.members:
                raise ValueMismatch(key, f"only the keys {', '.join(self.members)}", (key,))
            try:
                values[self.names.get(key, key)] = self.members[key].read(part)
            except ValueMismatch as bad:
                raise bad.below(key) from bad
        for key in self.required:
            if self.names.get(key, key) not in values:
                raise ValueMismatch(node, f"a mapping with the key {key}", (key,))
        return self.make(**values)

    def write(self, value: Any) -> Node:
        defaults = defaults_of(self.make)
        parts = ((key, getattr(value, self.names.get(key, key))) for key in self.members)
        return {
            key: self.members[key].write(part)
            for key, part in parts
            if part != defaults[self.names.get(key, key)]
        }


_SOURCES = "sources/"
_PLACE = regex(r"(/?)(.*?[^\s:])(?::(\d{1,9})(?:-(\d{1,9}))?(?:, (.+))?)?")
_BASES = ("unit", "heading", "file", "commit")
_KINDS = ("inferred", "merged")


class Place(Record, frozen=True):
    """A source in short form, such as `MEMORY.md:35` or `notes/a.md:52-54, 2026-05-06`.

    A path is relative to `sources/`, or to the repository if it starts with a slash. The lines are
    followed by values that are not implied: a date, its origin (unless a heading), a text hash, a
    kind. A source without a short form is written as a mapping, as all sources were in format 1.
    """

    def __hash__(self) -> int:
        return super().__hash__()

    expected = "a place such as MEMORY.md:35 or memory/2026-05-06.md:52-54"

    def read(self, node: Node) -> Any:
        if isinstance(node, dict):
            return super().read(node)
        found = _PLACE.fullmatch(node) if isinstance(node, str) else None
        if found is None:
            raise self.mismatch(node)
        root, path, first, last, words = found.groups()
        plain = root or "://" in path
        record: dict[str, Node] = {"resource": path if plain else _SOURCES + path}
        if first is not None:
            record["lines"] = [first.lstrip("0") or "0", (last or first).lstrip("0") or "0"]
        for word in (words or "").split():
            if word in _BASES:
                key = "captured_from"
            elif word in _KINDS:
                key = "kind"
            else:
                key = "text_hash" if word.startswith("th-") else "captured"
            if key in record:
                raise self.mismatch(node)
            record[key] = word
        if "captured" in record:
            record.setdefault("captured_from", "heading")
        try:
            return super().read(record)
        except ValueMismatch as bad:
            raise self.mismatch(node) from bad

    def write(self, value: Any) -> Node:
        # The short form is used if it decodes to the same value.
        resource: str = value.resource
        text = resource.removeprefix(_SOURCES)
        if text == resource and "://" not in resource:
            text = f"/{resource}"
        basis = value.captured_from if value.captured_from != "heading" else ""
        words = (value.captured, basis, value.text_hash, value.kind)
        details = " ".join(word for word in words if word and word != "direct")
        if value.lines != (0, 0) or details:
            first, last = value.lines
            text += (
                f":{first}" + (f"-{last}" if last > first else "") + (details and f", {details}")
            )
        try:
            same = self.read(text) == value
        except ValueMismatch:
            same = False
        return text if same else super().write(value)


@cache
def defaults_of(record: type[msgspec.Struct]) -> Mapping[str, object]:
    """Return the fields of a struct in order, mapped to their defaults or `msgspec.NODEFAULT`."""
    names, known = record.__struct_fields__, record.__struct_defaults__
    without = dict.fromkeys(names[: len(names) - len(known)], msgspec.NODEFAULT)
    return without | dict(zip(names[len(without) :], known, strict=True))


def memory_ref() -> Text:
    """Return the kind of a field that contains the full id of a memory."""
    return Text(pattern=ID_PATTERN.pattern, what="a memory id such as mem-0123456789abcdef")
