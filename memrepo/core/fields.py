"""Values of a header: reading them by the type of a field, and writing them.

A node is what the header parser yields: a string, a list of nodes, or a mapping of nodes. YAML
types are never guessed: the type of a field decides. `read_value` converts the node of a value and
raises `ValueMismatch` with the expected value. `node_of` returns the canonical node of a value.

A record is written on one line if it has `parse` and `spell`, because programs such as Obsidian
edit a text, but no mapping. A mapping is read too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from types import MappingProxyType, NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from memrepo.core.ids import ID_PATTERN
from memrepo.core.times import format_time, parse_time

Node: TypeAlias = "str | Raw | list[Node] | dict[str, Node]"
Path: TypeAlias = tuple[str | int, ...]


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

    `path` has the keys and indexes that lead from the field's node to the invalid one.
    """

    def __init__(self, found: object, expected: str, path: Path = ()) -> None:
        super().__init__(f"found {shown(found)}, expected {expected}")
        self.found = found
        self.expected = expected
        self.path = path

    @property
    def fix(self) -> str:
        """Return what to write instead, such as the most similar word of a closed list."""
        if not self.expected.startswith("one of "):
            return f"write {self.expected}"
        from difflib import get_close_matches

        words = self.expected.removeprefix("one of ").split(", ")
        near = get_close_matches(str(self.found).lower(), words, n=1)
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


def node_of(value: Any, *, whole: bool = False) -> Node:
    """Return the canonical node of a value.

    Members of records with their default are omitted. With `whole`, records are mappings: else
    those that their line states completely are a line.
    """
    if isinstance(value, msgspec.Struct):
        if not whole and (line := _line_of(value)):
            return line
        defaults = defaults_of(type(value))
        parts = ((key, getattr(value, key)) for key in defaults)
        return {key: node_of(part) for key, part in parts if part != defaults[key]}
    if isinstance(value, tuple | list):
        return [node_of(part, whole=whole) for part in value]
    if isinstance(value, bool):
        return Raw("true" if value else "false")
    if isinstance(value, float):
        text = f"{value:.4f}".rstrip("0")
        return Raw(text + "0" if text.endswith(".") else text)
    if isinstance(value, datetime):
        return Raw(format_time(value))
    return Raw(value) if isinstance(value, int) else str(value)


def _line_of(record: Any) -> str:
    """Return the line of a record, or "" if it has none, or none that reads as the same record."""
    if not hasattr(record, "spell"):
        return ""
    line: str = record.spell()
    try:
        return line if read_value(type(record), line) == record else ""
    except ValueMismatch:
        return ""


# -- types -----------------------------------------------------------------------------------


class Form(NamedTuple):
    """A further check of a leaf: a function that raises ValueError, and what it expects."""

    check: Callable[[Any], object]
    expected: str


def text(pattern: str = "", *, limit: int = 2000, what: str = "text") -> msgspec.Meta:
    """Return the constraint of a text with at most `limit` characters that matches a pattern."""
    expected = what if limit >= 2000 else f"{what} of at most {limit} characters"
    whole = rf"\A(?:{pattern})\Z" if pattern else None
    return msgspec.Meta(max_length=limit, pattern=whole, description=expected)


def one_of(*words: str) -> msgspec.Meta:
    """Return the constraint of a text that is one of several words. An empty word is not named."""
    named = ", ".join(filter(None, words))
    return msgspec.Meta(pattern=rf"\A({'|'.join(words)})\Z", description=f"one of {named}")


Text = Annotated[str, text()]
Name = Annotated[str, text(limit=200, what="a short text")]
MemoryRef = Annotated[
    str, text(ID_PATTERN.pattern, what="a memory id such as mem-0123456789abcdef")
]
Day = Annotated[str, Form(parse_time, "a date such as 2026-01-31 or an RFC 3339 time")]
"""A date or a time, stored exactly as written."""
Share = Annotated[float, msgspec.Meta(ge=0, le=1, description="a number from 0 to 1")]
"""A number from 0 to 1, written with at most four decimals."""
Whole = Annotated[int, msgspec.Meta(ge=0, le=999_999_999, description="a whole number")]
"""A whole number that is not negative."""
_EXPECTED = {bool: "true or false", datetime: "an RFC 3339 time such as 2026-01-31T09:00:00Z"}


MAX_ITEMS = 1000
"""The maximum number of items in a list, unless its type has another."""


class _Type(NamedTuple):
    """A type taken apart: what it is, its form, and the types of its items or members by key."""

    leaf: Any
    expected: str
    form: Form | None = None
    item: Any = None
    limit: int = MAX_ITEMS
    members: Mapping[str, Any] = MappingProxyType({})


@cache
def _taken_apart(type_: Any) -> _Type:
    inner, metas = type_, []
    while NoneType in get_args(inner) or get_origin(inner) is Annotated:
        inner, *more = (part for part in get_args(inner) if part is not NoneType)
        metas += more
    known = [meta for meta in metas if isinstance(meta, msgspec.Meta)]
    form = next((meta for meta in metas if isinstance(meta, Form)), None)
    expected = form.expected if form else next((m.description for m in known if m.description), "")
    leaf = Annotated[inner, *known] if known else inner
    if get_args(inner)[1:] == (Ellipsis,):
        item = get_args(inner)[0]
        limit = next((meta.max_length for meta in known if meta.max_length), MAX_ITEMS)
        return _Type(leaf, f"a list, each item {expected_of(item)}", item=item, limit=limit)
    if not (isinstance(inner, type) and issubclass(inner, msgspec.Struct)):
        return _Type(leaf, expected or _EXPECTED.get(inner, "text"), form)
    hints = get_type_hints(inner, include_extras=True)
    members = {key: hints[key] for key in inner.__struct_fields__}
    what = getattr(inner, "expected", f"a mapping {{{', '.join(members)}}}")
    return _Type(inner, expected or what, members=members)


def expected_of(type_: Any) -> str:
    """Describe the values of a type in words."""
    return _taken_apart(type_).expected


def read_value(type_: Any, node: Any) -> Any:
    """Convert a node to a value of a type. Raise ValueMismatch if it is not one."""
    known = _taken_apart(type_)
    if known.item is not None:
        return _read_list(known, node)
    if known.members:
        return _read_record(known, node)
    try:
        if known.leaf is datetime:
            return parse_time(node)
        if known.form is not None:
            known.form.check(node)
        return msgspec.convert(node, known.leaf, strict=False)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueMismatch(node, known.expected) from error


def _read_list(known: _Type, node: Any) -> tuple[Any, ...]:
    """Read a list without duplicates. A single record need not be in a list."""
    if not isinstance(node, list):
        if not (node and _taken_apart(known.item).members):
            raise ValueMismatch(node, known.expected)
        node = [node]
    if len(node) > known.limit:
        raise ValueMismatch(node, f"a list of at most {known.limit}")
    return tuple(dict.fromkeys(_below(n, known.item, part) for n, part in enumerate(node)))


def _read_record(known: _Type, node: Any) -> Any:
    """Read a record from a mapping, or from its line."""
    if isinstance(node, str) and hasattr(known.leaf, "parse"):
        try:
            return _read_record(known, known.leaf.parse(node))
        except (ValueError, ValueMismatch) as error:
            raise ValueMismatch(node, known.expected) from error
    if not isinstance(node, dict):
        raise ValueMismatch(node, known.expected)
    if unknown := [key for key in node if key not in known.members]:
        raise ValueMismatch(node[unknown[0]], known.expected, (unknown[0],))
    found = {key: _below(key, known.members[key], part) for key, part in node.items()}
    try:
        return known.leaf(**found)
    except TypeError as error:  # a member is missing
        lacking = next(key for key in known.members if key not in found)
        raise ValueMismatch(node, expected_of(known.members[lacking]), (lacking,)) from error


def _below(step: str | int, type_: Any, node: Any) -> Any:
    try:
        return read_value(type_, node)
    except ValueMismatch as bad:
        raise ValueMismatch(bad.found, bad.expected, (step, *bad.path)) from bad


# -- fields ----------------------------------------------------------------------------------

MergeRule = Literal["newest", "union", "min", "furthest"]


class Field(msgspec.Struct, frozen=True):
    """A field of the header: its meaning, how two clones merge it, and who sets it.

    `is_by_person` is whether a person may set the field by hand. A mapping that has only the key
    `inner` is read as its value. `name`, `type` and `default` come from the attribute of the record
    that the field annotates.
    """

    doc: str
    merge: MergeRule = "newest"
    is_by_person: bool = False
    inner: str = ""
    name: str = ""
    type: Any = None
    default: Any = None

    def read(self, node: Node) -> Any:
        """Convert a node to a value of the field. Raise ValueMismatch if it is not one."""
        if isinstance(node, dict) and [*node] == [self.inner]:
            node = node[self.inner]
        return read_value(self.type, node)

    def write(self, value: Any) -> Node:
        """Convert a value of the field to its canonical node."""
        return Raw(value) if _taken_apart(self.type).form else node_of(value)


def fields_of(record: type[msgspec.Struct]) -> tuple[Field, ...]:
    """Return the fields of a record whose attributes are annotated with a Field, in order."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(
        msgspec.structs.replace(part, name=name, type=hints[name], default=default)
        for name, default in defaults_of(record).items()
        for part in getattr(hints[name], "__metadata__", ())
        if isinstance(part, Field)
    )
