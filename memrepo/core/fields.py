"""Kinds of field value: how each is read from text nodes, written back, and described.

A node is what the header reader yields: a string, a list of nodes, or a mapping of nodes; no
YAML type is ever guessed. `read` raises `ValueMismatch` with what was expected; `write` gives a
canonical node; `core.codec` alone knows how a node is spelled.
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
    """A scalar that is safe and meant to be spelled plain: a number, a time, a flag."""

    __slots__ = ()


def bare(node: Node) -> Node:
    """Return a node whose scalars are plain texts, as JSON holds them."""
    if isinstance(node, list):
        return [bare(part) for part in node]
    if isinstance(node, dict):
        return {key: bare(part) for key, part in node.items()}
    return str(node)


class ValueMismatch(Exception):
    """A node that is not of its field's kind; the codec turns it into a located Problem.

    `words` are those that it may be, where these are all.
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
        """Return what to write instead: of a closed list the word that was probably meant."""
        if not self.words:
            return f"write {self.expected}"
        from difflib import get_close_matches

        near = get_close_matches(str(self.found).lower(), self.words, n=1)
        return f"did you mean {near[0]}?" if near else "write one of these words"


def shown(node: object) -> str:
    """Describe a node for a message: bounded, on one line, controls escaped."""
    if isinstance(node, list):
        return f"a list of {len(node)}"
    if isinstance(node, dict):
        return "a mapping"
    text = str(node).encode("unicode_escape").decode("ascii")
    return f"'{text[:40]}...'" if len(text) > 43 else f"'{text}'"


class Kind(Protocol):
    """One kind of value."""

    def read(self, node: Node) -> object:
        """Turn a node into the value; raises ValueMismatch."""

    def write(self, value: object) -> Node:
        """Turn a value into its canonical node."""

    def describe(self) -> str:
        """Describe in a few words what is expected."""

    def json_schema(self) -> dict[str, object]:
        """Return the JSON Schema of the value."""


@cache
def _whole(pattern: str) -> Callable[[str], object]:
    """Return what matches a whole text: a large store asks more often than `re` is quick at."""
    return re.compile(pattern).fullmatch


class Text(msgspec.Struct, frozen=True):
    """One line of text, at most `limit` characters, matching `pattern` where one is given."""

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
        """Write the string as it is."""
        return str(value)

    def describe(self) -> str:
        """Describe."""
        return (
            self.what if self.limit >= 2000 else f"{self.what} of at most {self.limit} characters"
        )

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        schema: dict[str, object] = {"type": "string", "maxLength": self.limit}
        return {**schema, "pattern": f"^(?:{self.pattern})$"} if self.pattern else schema


class Choice(msgspec.Struct, frozen=True):
    """One word out of a closed list."""

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
        """Describe."""
        return "one of " + ", ".join(self.words)

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"enum": list(self.words)}


class Time:
    """A moment, RFC 3339; read leniently (a plain date is midnight UTC), written in UTC."""

    def read(self, node: Node) -> object:
        """Read a time."""
        try:
            return parse_time(str(node) if isinstance(node, str) else "")
        except ValueError as error:
            raise ValueMismatch(node, self.describe()) from error

    def write(self, value: Any) -> Node:
        """Write `YYYY-MM-DDTHH:MM:SSZ`."""
        return Raw(format_time(value))

    def describe(self) -> str:
        """Describe."""
        return "an RFC 3339 time such as 2026-01-31T09:00:00Z"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"type": "string", "format": "date-time"}


class Day:
    """A date or a time, kept as it is written."""

    def read(self, node: Node) -> str:
        """Read a date or time and keep its spelling."""
        try:
            parse_time(str(node) if isinstance(node, str) else "")
        except ValueError as error:
            raise ValueMismatch(node, self.describe()) from error
        return str(node)

    def write(self, value: object) -> Node:
        """Write it plain."""
        return Raw(value)

    def describe(self) -> str:
        """Describe."""
        return "a date such as 2026-01-31 or an RFC 3339 time"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}"}


class Number(msgspec.Struct, frozen=True):
    """A number between `low` and `high`; at most four decimals are written."""

    low: float = 0.0
    high: float = 1.0

    def read(self, node: Node) -> float:
        """Read a decimal number."""
        text = node if isinstance(node, str) else ""
        if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text) is None:
            raise ValueMismatch(node, self.describe())
        value = float(text)
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise ValueMismatch(node, self.describe())
        return value

    def write(self, value: object) -> Node:
        """Write at most four decimals, always with a point."""
        text = f"{value:.4f}".rstrip("0")
        return Raw(text + "0" if text.endswith(".") else text)

    def describe(self) -> str:
        """Describe."""
        return f"a number from {self.low:g} to {self.high:g}"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}


class Whole:
    """A whole number from 0 up."""

    def read(self, node: Node) -> int:
        """Read digits."""
        if not isinstance(node, str) or re.fullmatch(r"0|[1-9]\d{0,8}", node) is None:
            raise ValueMismatch(node, self.describe())
        return int(node)

    def write(self, value: Any) -> Node:
        """Write digits."""
        return Raw(int(value))

    def describe(self) -> str:
        """Describe."""
        return "a whole number"

    def json_schema(self) -> dict[str, Any]:
        """Describe for JSON Schema."""
        return {"type": "integer", "minimum": 0}


class Flag:
    """True or absent: `false` is accepted from a person and never written."""

    def read(self, node: Node) -> bool:
        """Read true or false, and no other spelling."""
        if not isinstance(node, str) or node not in ("true", "false"):
            raise ValueMismatch(node, self.describe())
        return str(node) == "true"

    def write(self, value: object) -> Node:
        """Write true or false."""
        return Raw("true" if value else "false")

    def describe(self) -> str:
        """Describe."""
        return "true or false"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"type": "boolean"}


class ListOf(msgspec.Struct, frozen=True):
    """A list without repetition, in the order written; `bare` takes a single item as a list."""

    item: Kind
    bare: bool = False
    limit: int = 1000

    def read(self, node: Node) -> tuple[object, ...]:
        """Read each item; a repeated one is kept once."""
        if self.bare and node and not isinstance(node, list):
            node = [node]
        if not isinstance(node, list) or len(node) > self.limit:
            raise ValueMismatch(node, self.describe())
        return tuple(dict.fromkeys(self.item.read(part) for part in node))

    def write(self, value: Any) -> Node:
        """Write each item."""
        return [self.item.write(part) for part in value]

    def describe(self) -> str:
        """Describe."""
        return f"a list, each item {self.item.describe()}"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"type": "array", "items": self.item.json_schema()}


class Pair:
    """Two whole numbers, first not above second: a span of lines."""

    def read(self, node: Node) -> tuple[int, int]:
        """Read `[a, b]`."""
        if not isinstance(node, list) or len(node) != 2:
            raise ValueMismatch(node, self.describe())
        first, second = (Whole().read(part) for part in node)
        if first > second:
            raise ValueMismatch(f"[{first}, {second}]", self.describe())
        return first, second

    def write(self, value: Any) -> Node:
        """Write `[a, b]`."""
        return [Raw(value[0]), Raw(value[1])]

    def describe(self) -> str:
        """Describe."""
        return "two line numbers [first, last]"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


class Record(msgspec.Struct, frozen=True):
    """A flat mapping that becomes a frozen record; members at their default are not written.

    `names` maps a key in the file to an attribute that cannot carry its name (`class`).
    """

    make: type[msgspec.Struct]
    members: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    names: Mapping[str, str] = msgspec.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.make, tuple(self.members)))

    def read(self, node: Node) -> object:
        """Read the known members; an unknown or a missing one is a mismatch."""
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
        """Write members that differ from their default, in the order of the table."""
        defaults = defaults_of(self.make)
        node: dict[str, Node] = {}
        for key, kind in self.members.items():
            name = self.names.get(key, key)
            part = getattr(value, name)
            if part != defaults[name]:
                node[key] = kind.write(part)
        return node

    def describe(self) -> str:
        """Describe."""
        return "a mapping {" + ", ".join(self.members) + "}"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
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
    """A source, written as a person would name it: `MEMORY.md:35`, `notes/a.md:52-54, 2026-05-06`.

    A path is that of a file under `sources/`, one after a slash that of another file of the
    repository. Behind the lines stands only what does not follow by itself: the day with what it
    was read from where that is no heading, a text hash, a kind. What has no such spelling is a
    mapping, as all were in format 1.
    """

    def __hash__(self) -> int:
        return super().__hash__()

    def read(self, node: Node) -> object:
        """Read either spelling."""
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
        """Write the short spelling, where it says all."""
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
        """Describe."""
        return "a place such as MEMORY.md:35 or memory/2026-05-06.md:52-54"

    def json_schema(self) -> dict[str, object]:
        """Describe for JSON Schema."""
        return {"anyOf": [{"type": "string"}, super().json_schema()]}


@cache
def defaults_of(record: type[msgspec.Struct]) -> Mapping[str, object]:
    """Return a record's attributes in order, each with its default or `msgspec.NODEFAULT`."""
    names, known = record.__struct_fields__, record.__struct_defaults__
    without = dict.fromkeys(names[: len(names) - len(known)], msgspec.NODEFAULT)
    return without | dict(zip(names[len(without) :], known, strict=True))


def memory_ref() -> Text:
    """Return the kind of a reference to a memory by its full id."""
    return Text(pattern=ID_PATTERN.pattern, what="a memory id such as mem-0123456789abcdef")
