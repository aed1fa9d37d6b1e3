"""A memory as plain values that JSON holds, and back: what a cache keeps instead of its file.

`of_plain` trusts what it is given: it is for what `plain` gave and nothing changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from memrepo.core.fields import Kind, ListOf, Pair, Record, Text, Time, defaults_of
from memrepo.core.memory import Memory
from memrepo.core.schema import FIELDS

_Read = Callable[[Any], Any]


def plain(memory: Memory) -> list[Any]:
    """Return what a file says beside its path: fields by name, and the body."""
    return [{key: _plain(value) for key, value in memory.fields.items()}, memory.body]


def of_plain(path: str, said: list[Any]) -> Memory:
    """Return the memory that `plain` was given; raises on anything else."""
    fields, body = said
    for key, value in fields.items():
        if (read := _READ.get(key)) is not None:
            fields[key] = read(value)
    return Memory(path=path, fields=fields, body=body)


def _plain(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case tuple():
            return [_plain(item) for item in value]
        case msgspec.Struct():
            defaults = defaults_of(type(value))
            return {
                name: _plain(part)
                for name, default in defaults.items()
                if (part := getattr(value, name)) != default
            }
    return value


def _reader(kind: Kind) -> _Read | None:
    """Return what makes a kind's value of its plain form; None where that is the value."""
    match kind:
        case Time():
            return datetime.fromisoformat
        case Pair() | ListOf(item=Text()):
            return tuple
        case ListOf(item=Record(make=make)):
            return partial(msgspec.convert, type=tuple[make, ...])  # type: ignore[valid-type]
        case ListOf(item=item):
            inner = _reader(item)
            return tuple if inner is None else lambda found: tuple(map(inner, found))
        case Record(make=make):
            return partial(msgspec.convert, type=make)
    return None


_READ: Mapping[str, _Read] = {
    field.name: reader for field in FIELDS if (reader := _reader(field.kind)) is not None
}
