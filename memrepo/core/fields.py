"""Kinds of header values. Each kind reads, writes and describes the values of a field.

A node is what the header parser yields: a string, a list of nodes, or a mapping of nodes. YAML
types are never guessed. msgspec converts a node to the type of the field. `read` raises
`ValueMismatch` with the expected value, and `write` returns a canonical node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

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


@cache
def defaults_of(record: type[msgspec.Struct]) -> Mapping[str, object]:
    """Return the fields of a struct in order, mapped to their defaults or `msgspec.NODEFAULT`."""
    names, known = record.__struct_fields__, record.__struct_defaults__
    without = dict.fromkeys(names[: len(names) - len(known)], msgspec.NODEFAULT)
    return without | dict(zip(names[len(without) :], known, strict=True))


def node_of(value: Any) -> Node:
    """Return the canonical node of a value. Members of records with their default are omitted."""
    if isinstance(value, msgspec.Struct):
        defaults = defaults_of(type(value))
        keys = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        parts = ((key, getattr(value, name), defaults[name]) for key, name in keys)
        return {key: node_of(part) for key, part, default in parts if part != default}
    if isinstance(value, tuple | list):
        return [node_of(part) for part in value]
    if isinstance(value, bool):
        return Raw("true" if value else "false")
    if isinstance(value, float):
        text = f"{value:.4f}".rstrip("0")
        return Raw(text + "0" if text.endswith(".") else text)
    if isinstance(value, datetime):
        return Raw(format_time(value))
    return Raw(value) if isinstance(value, int) else str(value)


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of value: the type that msgspec converts to, and the words that describe a value.

    `prepare` converts a node before msgspec does, and raises ValueError if it cannot. `spell`
    converts a value to its canonical node. `item` is the kind of a list's items.
    """

    type: Any
    expected: str
    prepare: Callable[[Node], object] = lambda node: node
    spell: Callable[[Any], Node] = node_of
    item: Kind | None = None

    def read(self, node: Node) -> Any:
        """Convert a node to a value. Raise ValueMismatch if it is not one of this kind."""
        try:
            found = msgspec.convert(self.prepare(node), self.type, strict=False)
        except (ValueError, TypeError) as error:
            path = _path_of(error)
            expected = self.item.expected if self.item and path else self.expected
            expected = _description(self.type, path) or expected
            words = tuple(expected.removeprefix("one of ").split(", "))
            if not expected.startswith("one of "):
                words = ()
            raise ValueMismatch(_below(node, path), expected, path, words) from error
        return tuple(dict.fromkeys(found)) if self.item else found

    def write(self, value: Any) -> Node:
        """Convert a value to its canonical node."""
        return self.spell(value)


_NAMED = regex(r"(?:unknown|required) field `([^`]+)`")
_STEP = regex(r"\[(\d+)\]|\.([^.\[`]+)")


def _path_of(error: Exception) -> tuple[str | int, ...]:
    """Return the steps in a message of msgspec such as "... - at `$[2].at`"."""
    message, at, place = str(error).rpartition(" - at `$")
    steps = _STEP.finditer(place) if at else ()
    named = _NAMED.search(message or place)
    return (*(int(m[1]) if m[1] else m[2] for m in steps), *([named[1]] if named else []))


def _description(type_: Any, path: Sequence[str | int]) -> str:
    """Return the description of the member of a record to which steps lead, if it has one."""
    for step in path:
        inner = get_args(type_)[0] if get_origin(type_) is Annotated else type_
        if isinstance(step, int):
            type_ = get_args(inner)[0]
        elif isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            hints = get_type_hints(inner, include_extras=True)
            type_ = hints.get("cls" if step == "class" else step)
    metas = (m for m in getattr(type_, "__metadata__", ()) if isinstance(m, msgspec.Meta))
    return next((m.description for m in metas if m.description), "")


def _below(node: Any, path: Sequence[str | int]) -> object:
    for step in path:
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            break
    return node


def _time(node: Node) -> object:
    """Return the time in a text. A date without a time is midnight UTC."""
    if not isinstance(node, str):
        raise TypeError(node)
    return parse_time(node)


def _day(node: Node) -> object:
    _time(node)
    return node


def text_kind(*, pattern: str = "", limit: int = 2000, what: str = "text") -> Kind:
    """Return the kind of a text with at most `limit` characters that matches `pattern`, if any."""
    whole = msgspec.Meta(max_length=limit, pattern=rf"\A(?:{pattern})\Z" if pattern else None)
    expected = what if limit >= 2000 else f"{what} of at most {limit} characters"
    return Kind(type=Annotated[str, whole], expected=expected)


def choice_kind(words: Sequence[str]) -> Kind:
    """Return the kind of one word from a closed list."""
    return Kind(
        type=Literal[tuple(words)],
        expected="one of " + ", ".join(words),
    )


TIME = Kind(type=datetime, expected="an RFC 3339 time such as 2026-01-31T09:00:00Z", prepare=_time)
"""An RFC 3339 time, written in UTC."""
DAY = Kind(
    type=str, expected="a date such as 2026-01-31 or an RFC 3339 time", prepare=_day, spell=Raw
)
"""A date or a time, stored exactly as written."""
NUMBER = Kind(type=Annotated[float, msgspec.Meta(ge=0, le=1)], expected="a number from 0 to 1")
"""A number from 0 to 1, written with at most four decimals."""
WHOLE = Kind(type=Annotated[int, msgspec.Meta(ge=0, le=999_999_999)], expected="a whole number")
"""A whole number that is not negative."""
FLAG = Kind(type=bool, expected="true or false")
"""A flag that is true or absent. `false` is the default: it is accepted but never written."""


def list_kind(item: Kind, *, bare: bool = False, limit: int = 1000) -> Kind:
    """Return the kind of a list without duplicates. If `bare`, a value outside a list is read."""

    def prepare(node: Node) -> object:
        nodes = [node] if bare and not isinstance(node, list) else node
        if not isinstance(nodes, list):
            raise TypeError(nodes)
        found = []
        for number, part in enumerate(nodes):
            try:
                found.append(item.prepare(part))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{error} - at `$[{number}]`") from error
        return found

    return Kind(
        type=Annotated[tuple[item.type, ...], msgspec.Meta(max_length=limit)],  # type: ignore[name-defined]
        expected=f"a list, each item {item.expected}",
        prepare=prepare,
        spell=lambda value: [item.write(part) for part in value],
        item=item,
    )


_TIMES = ("at", "since", "until")


def record_kind(make: type[msgspec.Struct], expected: str = "") -> Kind:
    """Return the kind of a flat mapping that is read into a struct."""

    def prepare(node: Node) -> object:
        if not isinstance(node, dict):
            return node
        return {key: _time(part) if key in _TIMES else part for key, part in node.items()}

    names = ", ".join(make.__struct_encode_fields__)
    return Kind(type=make, expected=expected or f"a mapping {{{names}}}", prepare=prepare)


def line_kind(
    make: type[msgspec.Struct],
    read: Callable[[str], dict[str, Node]],
    write: Callable[[Any], str],
    expected: str = "",
) -> Kind:
    """Return the kind of a struct that is written on one line, and read from a mapping too.

    Programs such as Obsidian edit a text, but no mapping. A value that its line does not state
    completely is written as a mapping.
    """
    record = record_kind(make, expected)

    def prepare(node: Node) -> object:
        return record.prepare(read(node) if isinstance(node, str) else node)

    def spell(value: Any) -> Node:
        line = write(value)
        try:
            is_same = msgspec.convert(prepare(line), make, strict=False) == value
        except (ValueError, TypeError):
            is_same = False
        return line if is_same else node_of(value)

    return Kind(type=make, expected=record.expected, prepare=prepare, spell=spell)


MEMORY_REF = text_kind(pattern=ID_PATTERN.pattern, what="a memory id such as mem-0123456789abcdef")
"""The kind of a field that contains the full id of a memory."""


MergeRule = Literal["newest", "union", "min", "max"]


class Field(msgspec.Struct, frozen=True):
    """A field of the header: the kind of its values, its meaning, and how two clones merge it.

    `is_by_person` is whether a person may set the field by hand. `name` and `default` come from the
    attribute of the record that the field annotates.
    """

    kind: Kind
    doc: str
    merge: MergeRule = "newest"
    is_by_person: bool = False
    name: str = ""
    default: Any = None


def fields_of(record: type[msgspec.Struct], hints: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the fields of a record whose attributes are annotated with a Field, in order."""
    names = dict(zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True))
    defaults = defaults_of(record)
    found = []
    for attribute, hint in hints.items():
        for field in getattr(hint, "__metadata__", ()):
            if isinstance(field, Field):
                name, default = names[attribute], defaults[attribute]
                found.append(msgspec.structs.replace(field, name=name, default=default))
    return tuple(found)
