"""How each field of a memory is merged: the schema's `merge` column as code (docs/git-model.md).

What only one side changed is taken whatever the rule; the rule decides when both changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, assert_never

import msgspec

from memrepo.core.fields import ListOf
from memrepo.core.memory import STATUSES, Link, Memory, Source, Stamp
from memrepo.core.schema import BY_NAME, FIELDS, Field
from memrepo.core.spelling import inline
from memrepo.core.times import EARLIEST

CLOCK_SLACK = timedelta(minutes=10)
"""How far a stamp may lie past its commit date before that date stands for it."""

_RANK: Mapping[str, int] = {status: rank for rank, status in enumerate(STATUSES)}


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Who last wrote (or removed) one side's version, as history tells; all of it may be unknown.

    `committed` is the date of that commit, `person` whether its author is a person.
    """

    committed: datetime | None = None
    person: bool = False


class Stamps(msgspec.Struct, frozen=True, kw_only=True):
    """The origins of the two sides of a merge."""

    ours: Origin = msgspec.field(default_factory=Origin)
    theirs: Origin = msgspec.field(default_factory=Origin)


def rank(memory: Memory, base: Memory | None, origin: Origin) -> tuple[bool, datetime, str]:
    """Return what decides between two changed versions: person first, then newer, then values.

    A stamp that is the base's own says nothing about this change: the commit speaks for it. One
    rank serves all fields, so that a triple or a tier and its dates never come from two sides.
    """
    stamp: Stamp | None = memory.fields.get("generated")
    if stamp is None or (base is not None and stamp == base.fields.get("generated")):
        stamp = Stamp(by="")
    human = origin.person or stamp.by.startswith("human:")
    at, committed = stamp.at, origin.committed
    if committed is not None and (at is None or at > committed + CLOCK_SLACK):
        at = committed
    return human, at or EARLIEST, repr((sorted(memory.fields.items()), memory.body, memory.path))


class MergedFields(msgspec.Struct, frozen=True, kw_only=True):
    """Merged values, and the losing values of fields that a person may set, by key."""

    fields: Mapping[str, Any]
    lost: Mapping[str, Any]


def merge_fields(
    base: Mapping[str, Any], older: Mapping[str, Any], newer: Mapping[str, Any]
) -> MergedFields:
    """Merge two sides' fields over their base; `newer` wins where a rule must choose a side."""
    fields: dict[str, Any] = {}
    lost: dict[str, Any] = {}
    for column in FIELDS:
        key = column.name
        if key == "status_epoch":
            continue
        if key == "status":
            fields |= _status(base, older, newer)
            continue
        o, a, b = (side.get(key, column.default) for side in (base, older, newer))
        if a == b or o == a:
            value = b
        elif o == b:
            value = a
        else:
            value, gone = _joined(column, o, a, b)
            if gone is not None and column.writer == "person":
                lost[key] = gone
        if value != column.default:
            fields[key] = value
    return MergedFields(fields=fields, lost=lost)


def _joined(column: Field, base: Any, older: Any, newer: Any) -> tuple[Any, Any]:
    """Join two changed values by the field's rule; returns the result and what had to give way."""
    match column.merge:
        case "min":
            return min((v for v in (older, newer) if v is not None), default=None), None
        case "set3":
            return merge_list(column, base or (), older or (), newer or ()), None
        case "lww" | "const" | "text3" | "derived" | "status":
            return newer, older
        case _:
            assert_never(column.merge)


def _status(
    base: Mapping[str, Any], older: Mapping[str, Any], newer: Mapping[str, Any]
) -> dict[str, Any]:
    """Merge status and epoch, which travel together: the higher epoch, then the higher rank."""
    o, a, b = (
        (side.get("status_epoch", 0), _RANK[side.get("status", "active")])
        for side in (base, older, newer)
    )
    epoch, place = b if o == a else a if o == b else max(a, b)
    values = {"status": STATUSES[place], "status_epoch": epoch}
    return {k: v for k, v in values.items() if v != BY_NAME[k].default}


def merge_list(
    column: Field, base: Sequence[Any], older: Sequence[Any], newer: Sequence[Any]
) -> tuple[Any, ...]:
    """Merge lists by stable key: (A∪B) − (O−A) − (O−B).

    A key that is there on both sides takes the value of the side that changed it, `newer`'s where
    both did. The base's items keep their order; added ones follow, ordered by their spelling.
    """
    o, a, b = (keyed(column.name, items) for items in (base, older, newer))
    kept = {k: _value(o.get(k), a[k], b[k]) for k in (*o, *a) if k in a and k in b}
    added = {k: v for side in (a, b) for k, v in side.items() if k not in o and k not in kept}
    kind = column.kind.item if isinstance(column.kind, ListOf) else column.kind
    fresh = [kept.pop(k) for k in list(kept) if k not in o] + list(added.values())
    fresh.sort(key=lambda item: inline(kind.write(item)))
    return tuple(dict.fromkeys([*kept.values(), *fresh]))


def _value(base: Any, older: Any, newer: Any) -> Any:
    return older if base == newer else newer


def keyed(name: str, items: Sequence[Any]) -> dict[Any, Any]:
    """Return a list's items by stable key; the n-th one of a key has a key of its own."""
    key = _KEYS.get(name, _whole)
    found: dict[Any, Any] = {}
    for item in items:
        turn = next(n for n in count() if (key(item), n) not in found)
        found[key(item), turn] = item
    return found


def _whole(item: Any) -> Any:
    """Return the item itself: texts, stamps (by, at), retirements (run, reason)."""
    return item


def _link(item: Link) -> Any:
    return item.target, item.type


def _source(item: Source) -> Any:
    # Without a text hash nothing but the whole tells two spans of one file apart.
    return (item.resource, item.text_hash) if item.text_hash else item


_KEYS: Mapping[str, Callable[[Any], Any]] = {"links": _link, "sources": _source}
