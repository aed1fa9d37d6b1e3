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
from typing import Any, Protocol, TypeAlias

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

    `words` contains all valid words if the field has a closed list.
    """

    def __init__(
        self, found: object, expected: str, key: str = "", words: tuple[str, ...] = ()
    ) -> None:
        super().__init__(f"found {shown(found)}, expected {expected}")
        self.found = found
        self.expected = expected
        self.key = key
        self.words = words

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


class Kind(Protocol):
    """Protocol of a kind of field values."""

    def read(self, node: Node) -> object:
        """Convert a node to a value. Raise ValueMismatch if the node is not valid."""

    def write(self, value: object) -> Node:
        """Convert a value to its canonical node."""

    def describe(self) -> str:
        """Describe the expected value in a few words."""

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the value."""


@cache
def _whole(pattern: str) -> Callable[[str], object]:
    """Return a cached function that matches a whole text against a pattern.

    It avoids the lookup of `re` on each call.
    """
    return re.compile(pattern).fullmatch


class Text(msgspec.Struct, frozen=True):
    """One line of text with at most `limit` characters. It matches `pattern`, if there is one."""

    pattern: str = ""
    limit: int = 2000
    what: str = "text"

    def read(self, node: Node) -> str:
        """Read a string."""
        if not isinstance(node, str) or len(node) > self.limit:
            raise ValueMismatch(node, self.describe())
        if self.pattern and _whole(self.pattern)(node) is None:
            raise ValueMismatch(node, self.describe())
        return str(node)

    def write(self, value: object) -> Node:
        """Write the string unchanged."""
        return str(value)

    def describe(self) -> str:
        """Describe the expected text."""
        return (
            self.what if self.limit >= 2000 else f"{self.what} of at most {self.limit} characters"
        )

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the text."""
        schema: dict[str, object] = {"type": "string", "maxLength": self.limit}
        return {**schema, "pattern": f"^(?:{self.pattern})$"} if self.pattern else schema


class Choice(msgspec.Struct, frozen=True):
    """One word from a closed list."""

    words: tuple[str, ...]

    def read(self, node: Node) -> str:
        """Read one of the words."""
        if not isinstance(node, str) or node not in self.words:
            raise ValueMismatch(node, self.describe(), words=self.words)
        return str(node)

    def write(self, value: object) -> Node:
        """Write the word."""
        return str(value)

    def describe(self) -> str:
        """Describe the valid words."""
        return "one of " + ", ".join(self.words)

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the words."""
        return {"enum": list(self.words)}


class Time:
    """An RFC 3339 time, written in UTC. A date without a time is read as midnight UTC."""

    def read(self, node: Node) -> object:
        """Read a time."""
        try:
            return parse_time(str(node) if isinstance(node, str) else "")
        except ValueError as error:
            raise ValueMismatch(node, self.describe()) from error

    def write(self, value: Any) -> Node:
        """Write a time as `YYYY-MM-DDTHH:MM:SSZ`."""
        return Raw(format_time(value))

    def describe(self) -> str:
        """Describe the expected time."""
        return "an RFC 3339 time such as 2026-01-31T09:00:00Z"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the time."""
        return {"type": "string", "format": "date-time"}


class Day:
    """A date or a time, stored exactly as written."""

    def read(self, node: Node) -> str:
        """Read a date or time, and preserve how it is written."""
        try:
            parse_time(str(node) if isinstance(node, str) else "")
        except ValueError as error:
            raise ValueMismatch(node, self.describe()) from error
        return str(node)

    def write(self, value: object) -> Node:
        """Write the value without quotes."""
        return Raw(value)

    def describe(self) -> str:
        """Describe the expected date or time."""
        return "a date such as 2026-01-31 or an RFC 3339 time"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the date or time."""
        return {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}"}


class Number(msgspec.Struct, frozen=True):
    """A number between `low` and `high`, written with at most four decimals."""

    low: float = 0.0
    high: float = 1.0

    def read(self, node: Node) -> float:
        """Read a decimal number between the limits."""
        text = node if isinstance(node, str) else ""
        if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text) is None:
            raise ValueMismatch(node, self.describe())
        value = float(text)
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise ValueMismatch(node, self.describe())
        return value

    def write(self, value: object) -> Node:
        """Write at most four decimals, always with a decimal point."""
        text = f"{value:.4f}".rstrip("0")
        return Raw(text + "0" if text.endswith(".") else text)

    def describe(self) -> str:
        """Describe the expected number."""
        return f"a number from {self.low:g} to {self.high:g}"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the number."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}


class Whole:
    """A non-negative whole number."""

    def read(self, node: Node) -> int:
        """Read a number of at most nine digits."""
        if not isinstance(node, str) or re.fullmatch(r"0|[1-9]\d{0,8}", node) is None:
            raise ValueMismatch(node, self.describe())
        return int(node)

    def write(self, value: Any) -> Node:
        """Write the digits."""
        return Raw(int(value))

    def describe(self) -> str:
        """Describe the expected number."""
        return "a whole number"

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the number."""
        return {"type": "integer", "minimum": 0}


class Flag:
    """A flag that is true or absent. `false` is the default: it is accepted but never written."""

    def read(self, node: Node) -> bool:
        """Read `true` or `false`. No other spelling is accepted."""
        if not isinstance(node, str) or node not in ("true", "false"):
            raise ValueMismatch(node, self.describe())
        return str(node) == "true"

    def write(self, value: object) -> Node:
        """Write `true` or `false`."""
        return Raw("true" if value else "false")

    def describe(self) -> str:
        """Describe the expected flag."""
        return "true or false"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the flag."""
        return {"type": "boolean"}


class ListOf(msgspec.Struct, frozen=True):
    """A list without duplicates, in written order. If `bare`, a value outside a list is read."""

    item: Kind
    bare: bool = False
    limit: int = 1000

    def read(self, node: Node) -> tuple[object, ...]:
        """Read each item and remove duplicates."""
        if self.bare and node and not isinstance(node, list):
            node = [node]
        if not isinstance(node, list) or len(node) > self.limit:
            raise ValueMismatch(node, self.describe())
        return tuple(dict.fromkeys(self.item.read(part) for part in node))

    def write(self, value: Any) -> Node:
        """Write each item."""
        return [self.item.write(part) for part in value]

    def describe(self) -> str:
        """Describe the expected list."""
        return f"a list, each item {self.item.describe()}"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the list."""
        return {"type": "array", "items": self.item.json_schema()}


class Pair:
    """A range of lines, as the numbers of the first and the last line."""

    def read(self, node: Node) -> tuple[int, int]:
        """Read `[first, last]`."""
        if not isinstance(node, list) or len(node) != 2:
            raise ValueMismatch(node, self.describe())
        first, second = (Whole().read(part) for part in node)
        if first > second:
            raise ValueMismatch(f"[{first}, {second}]", self.describe())
        return first, second

    def write(self, value: Any) -> Node:
        """Write `[first, last]`."""
        return [Raw(value[0]), Raw(value[1])]

    def describe(self) -> str:
        """Describe the expected range."""
        return "two line numbers [first, last]"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the range."""
        return {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


class Record(msgspec.Struct, frozen=True):
    """A flat mapping read into a frozen struct. Members that have their default are not written.

    `names` maps a key in the file to an attribute if the key is not a valid name (`class`).
    """

    make: type[msgspec.Struct]
    members: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    names: Mapping[str, str] = msgspec.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.make, tuple(self.members)))

    def read(self, node: Node) -> object:
        """Read the known members. Raise ValueMismatch if a key is unknown or missing."""
        if not isinstance(node, dict):
            raise ValueMismatch(node, self.describe())
        values: dict[str, object] = {}
        for key, part in node.items():
            if key not in self.members:
                raise ValueMismatch(key, f"only the keys {', '.join(self.members)}", key)
            try:
                values[self.names.get(key, key)] = self.members[key].read(part)
            except ValueMismatch as bad:
                place = f"{key}.{bad.key}".strip(".")
                raise ValueMismatch(bad.found, bad.expected, place, bad.words) from bad
        for key in self.required:
            if self.names.get(key, key) not in values:
                raise ValueMismatch(node, f"a mapping with the key {key}", key)
        return self.make(**values)

    def write(self, value: object) -> Node:
        """Write the members that differ from their default, in the order of `members`."""
        defaults = defaults_of(self.make)
        node: dict[str, Node] = {}
        for key, kind in self.members.items():
            name = self.names.get(key, key)
            part = getattr(value, name)
            if part != defaults[name]:
                node[key] = kind.write(part)
        return node

    def describe(self) -> str:
        """Describe the expected mapping."""
        return "a mapping {" + ", ".join(self.members) + "}"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the mapping."""
        return {
            "type": "object",
            "properties": {key: kind.json_schema() for key, kind in self.members.items()},
            "required": list(self.required),
            "additionalProperties": False,
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

    def read(self, node: Node) -> object:
        """Read a source from its short form or from a mapping."""
        if isinstance(node, dict):
            return super().read(node)
        found = _PLACE.fullmatch(node) if isinstance(node, str) else None
        if found is None:
            raise ValueMismatch(node, self.describe())
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
                raise ValueMismatch(node, self.describe())
            record[key] = word
        if "captured" in record:
            record.setdefault("captured_from", "heading")
        try:
            return super().read(record)
        except ValueMismatch as bad:
            raise ValueMismatch(node, self.describe()) from bad

    def write(self, value: Any) -> Node:
        """Write the short form if it decodes to the same value, or else a mapping."""
        resource: str = value.resource
        text = resource.removeprefix(_SOURCES)
        if text == resource and "://" not in resource:
            text = f"/{resource}"
        basis = value.captured_from if value.captured_from != "heading" else ""
        words = (value.captured, basis, value.text_hash, value.kind)
        said = " ".join(word for word in words if word and word != "direct")
        if value.lines != (0, 0) or said:
            first, last = value.lines
            text += f":{first}" + (f"-{last}" if last > first else "") + (said and f", {said}")
        try:
            same = self.read(text) == value
        except ValueMismatch:
            same = False
        return text if same else super().write(value)

    def describe(self) -> str:
        """Describe the expected source."""
        return "a place such as MEMORY.md:35 or memory/2026-05-06.md:52-54"

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of a source."""
        return {"anyOf": [{"type": "string"}, super().json_schema()]}


@cache
def defaults_of(record: type[msgspec.Struct]) -> Mapping[str, object]:
    """Return the fields of a struct in order, mapped to their defaults or `msgspec.NODEFAULT`."""
    names, known = record.__struct_fields__, record.__struct_defaults__
    without = dict.fromkeys(names[: len(names) - len(known)], msgspec.NODEFAULT)
    return without | dict(zip(names[len(without) :], known, strict=True))


def memory_ref() -> Text:
    """Return the kind of a field that contains the full id of a memory."""
    return Text(pattern=ID_PATTERN.pattern, what="a memory id such as mem-0123456789abcdef")
