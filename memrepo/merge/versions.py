"""Merging one memory: its fields by the schema's `merge` column, and the files that hold it.

What only one side changed is taken whatever the rule; the rule decides when both changed it
(docs/git-model.md). A side's file that cannot be read gives way to one that can.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Literal, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.fields import ListOf
from memrepo.core.memory import STATUSES, Link, Memory, Source, Stamp
from memrepo.core.places import COUNT, LISTED, listed
from memrepo.core.schema import BY_NAME, FIELDS, Field
from memrepo.core.spelling import inline
from memrepo.core.times import EARLIEST
from memrepo.merge.diff3 import merge_text
from memrepo.merge.splice import FileVersion, join_bytes
from memrepo.merge.tombstones import tombstone_keys

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
    base: Mapping[str, object], older: Mapping[str, object], newer: Mapping[str, object]
) -> MergedFields:
    """Merge two sides' fields over their base; `newer` wins where a rule must choose a side."""
    fields: dict[str, object] = {}
    lost: dict[str, object] = {}
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
        case "max":
            return max((v for v in (older, newer) if v is not None), default=None), None
        case "set3":
            return merge_list(column, base or (), older or (), newer or ()), None
        case "lww" | "const" | "text3" | "derived" | "status":
            return newer, older
        case _:
            assert_never(column.merge)


def _status(
    base: Mapping[str, Any], older: Mapping[str, Any], newer: Mapping[str, Any]
) -> dict[str, object]:
    """Merge status and epoch, which travel together: the higher epoch, then the higher rank."""
    o, a, b = (
        (side.get("status_epoch", 0), _RANK[side.get("status", "active")])
        for side in (base, older, newer)
    )
    epoch, place = b if o == a else a if o == b else max(a, b)
    values = {"status": STATUSES[place], "status_epoch": epoch}
    return {k: v for k, v in values.items() if v != BY_NAME[k].default}


def merge_list(
    column: Field, base: Sequence[object], older: Sequence[object], newer: Sequence[object]
) -> tuple[object, ...]:
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


def _value(base: object, older: object, newer: object) -> object:
    return older if base == newer else newer


def keyed(name: str, items: Sequence[object]) -> dict[object, object]:
    """Return a list's items by stable key; the n-th one of a key has a key of its own."""
    key = _KEYS.get(name, _whole)
    found: dict[object, object] = {}
    for item in items:
        turn = next(n for n in count() if (key(item), n) not in found)
        found[key(item), turn] = item
    return found


def _whole(item: object) -> object:
    """Return the item itself: texts, stamps (by, at), retirements (run, reason)."""
    return item


def _link(item: Link) -> object:
    return item.target, item.type


def _source(item: Source) -> object:
    # Without a text hash nothing but the whole tells two spans of one file apart.
    return (item.resource, item.text_hash) if item.text_hash else item


_KEYS: Mapping[str, Callable[[Any], Any]] = {"links": _link, "sources": _source}


ConflictKind = Literal[
    "removed-and-edited", "unreadable", "unwritable", "both-changed", "manifest-differs"
]


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """What a person should look at; the merge has a safe result all the same.

    `removed-and-edited`: a person removed what the other side changed; it stays.
    `unreadable`: one side's file cannot be read; the readable one stands.
    `unwritable`: no file can hold both sides' changes; one side's file stands as it is.
    `both-changed`, `manifest-differs`: a file that is no memory; one side's version stands.
    """

    kind: ConflictKind
    path: str
    id: str = ""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What gave way to the other side, as bytes: nothing that a side wrote is lost.

    `key` is `body`, a field, a foreign key, or empty for a whole file; `by` and `at` are the
    actor and the time of the version that it comes from, where known.
    """

    path: str
    key: str
    data: bytes
    id: str = ""
    by: str = ""
    at: datetime | None = None


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A merged memory; None where it goes."""

    memory: Memory | None
    conflicts: tuple[Conflict, ...] = ()
    kept: tuple[Kept, ...] = ()


class MergedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A merged memory file; None where it goes."""

    version: FileVersion | None
    conflicts: tuple[Conflict, ...] = ()
    kept: tuple[Kept, ...] = ()


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """On which sides the memory was retrieved since the base: a machine's removal heeds it."""

    ours: bool = False
    theirs: bool = False


_UNKNOWN = Stamps()
_NOT_RECALLED = Recalled()


def merge_memory(
    base: Memory | None,
    ours: Memory | None,
    theirs: Memory | None,
    stamps: Stamps = _UNKNOWN,
    *,
    tombstones: Collection[str] = (),
) -> Merged:
    """Merge one memory per field by the schema's rules; symmetric in its sides.

    None is a side without the memory: a machine's removal gives way to an edit, a person's is a
    conflict. The path is that of the side that moved it, the smaller one where both did. A memory
    that matches a tombstone key (`tombstone_keys`) ends forgotten.
    """
    if ours is None or theirs is None:
        present, conflicts = _one_gone(base, ours, theirs, stamps, _NOT_RECALLED)
        memory = None if present is None else forgotten(present, tombstones)
        return Merged(memory=memory, conflicts=conflicts)
    sides = sorted(
        [(ours, stamps.ours), (theirs, stamps.theirs)],
        key=lambda side: rank(side[0], base, side[1]),
    )
    older, newer = (memory for memory, _ in sides)
    origin = base or Memory(path="")
    fields = merge_fields(origin.fields, older.fields, newer.fields)
    body = merge_text(origin.body, older.body, newer.body)
    memory = Memory(
        path=_path(base.path if base is not None else None, ours.path, theirs.path),
        fields=fields.fields,
        body=codec.normal_body(body.text),
    )
    memory = _with_places(memory, {origin.sources, older.sources, newer.sources}, (older, newer))
    kept = [_kept(older, key, _spelling(key, value)) for key, value in fields.lost.items()]
    if body.overlap:
        kept.append(_kept(older, "body", older.body.encode("utf-8")))
    return Merged(memory=forgotten(memory, tombstones), kept=tuple(kept))


def _with_places(
    memory: Memory, lists: Collection[tuple[Source, ...]], sides: Sequence[Memory]
) -> Memory:
    """Return a merged memory with as many places as a run lists, where both sides list others."""
    told = max(side.fields.get(COUNT) or 0 for side in sides)
    if len(lists) < 3 or not memory.sources or not (told or len(memory.sources) > LISTED):
        return memory
    count = max(told, len(memory.sources))
    return memory.with_fields({"sources": listed(memory.sources), COUNT: count})


def forgotten(memory: Memory, tombstones: Collection[str]) -> Memory:
    """Return the memory, forgotten if it matches a tombstone."""
    if not tombstones or tombstone_keys(memory).isdisjoint(tombstones):
        return memory
    return memory.with_fields({"status": "forgotten"})


def join_versions(
    base: FileVersion | None,
    ours: FileVersion | None,
    theirs: FileVersion | None,
    stamps: Stamps = _UNKNOWN,
    *,
    recalled: Recalled = _NOT_RECALLED,
) -> MergedFile:
    """Merge one memory's file; symmetric in its sides.

    What only one side changed is taken byte for byte; a move and an edit are two changes.
    """
    if ours is None or theirs is None:
        present, conflicts = _one_gone(base, ours, theirs, stamps, recalled)
        return MergedFile(version=present, conflicts=conflicts)
    path = _path(base.path if base is not None else None, ours.path, theirs.path)
    if ours.data == theirs.data or (base is not None and base.data == ours.data):
        return MergedFile(version=_at(path, theirs))
    if base is not None and base.data == theirs.data:
        return MergedFile(version=_at(path, ours))
    sides = [(ours, stamps.ours), (theirs, stamps.theirs)]
    (older, _), (newer, _) = sorted(sides, key=lambda side: _weight(base, *side))
    if older.memory is None or newer.memory is None:
        return _one_whole(path, older, newer, "unreadable")
    merged = merge_memory(_memory(base), ours.memory, theirs.memory, stamps)
    memory = replace(merged.memory or newer.memory, path=path)
    joined = join_bytes(base, older, newer, memory)
    if joined is None:
        return _one_whole(path, older, newer, "unwritable")
    foreign = (_kept(older.memory, key, data) for key, data in joined.lost.items())
    return MergedFile(
        version=FileVersion(path, joined.data, joined.memory), kept=(*merged.kept, *foreign)
    )


_Version = TypeVar("_Version", FileVersion, Memory)


def _one_gone(
    base: _Version | None,
    ours: _Version | None,
    theirs: _Version | None,
    stamps: Stamps,
    recalled: Recalled,
) -> tuple[_Version | None, tuple[Conflict, ...]]:
    """Decide between a side without the memory and one that has it, or has not either."""
    if ours is None:
        present, remover, used = theirs, stamps.ours, recalled.theirs
    else:
        present, remover, used = ours, stamps.theirs, recalled.ours
    if present is None or base is None:
        return present, ()
    if present == base:
        return (present if used and not remover.person else None), ()
    if not remover.person:
        return present, ()
    memory = present if isinstance(present, Memory) else present.memory
    id_ = memory.id if memory is not None else ""
    return present, (Conflict(kind="removed-and-edited", path=present.path, id=id_),)


def _memory(version: FileVersion | None) -> Memory | None:
    return version.memory if version is not None else None


def _weight(
    base: FileVersion | None, side: FileVersion, origin: Origin
) -> tuple[bool, object, bytes]:
    """Order two versions of a file: a readable one wins, then the records' rank, then bytes."""
    if side.memory is None:
        return False, (origin.person,), side.data
    return True, rank(side.memory, _memory(base), origin), side.data


def _one_whole(path: str, older: FileVersion, newer: FileVersion, kind: ConflictKind) -> MergedFile:
    """Let one side's file stand as it is, and keep the other's."""
    known = newer.memory or older.memory
    kept = _kept(older.memory or Memory(path=older.path), "", older.data)
    return MergedFile(
        version=_at(path, newer),
        conflicts=(Conflict(kind=kind, path=path, id=known.id if known else ""),),
        kept=(replace(kept, path=path, id=known.id if known else ""),),
    )


def _at(path: str, version: FileVersion) -> FileVersion:
    if version.path == path:
        return version
    memory = version.memory and replace(version.memory, path=path)
    return FileVersion(path, version.data, memory)


def _path(base: str | None, ours: str, theirs: str) -> str:
    if base == ours:
        return theirs
    return ours if base == theirs else min(ours, theirs)


def _kept(memory: Memory, key: str, data: bytes) -> Kept:
    stamp: Stamp = memory.fields.get("generated") or Stamp(by="")
    return Kept(path=memory.path, key=key, data=data, id=memory.id, by=stamp.by, at=stamp.at)


def _spelling(key: str, value: object) -> bytes:
    return "\n".join(codec.spelled(key, {key: value})).encode("utf-8", "surrogatepass")
