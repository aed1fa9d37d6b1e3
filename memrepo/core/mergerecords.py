"""Merging one memory: records field by field, and the files that hold them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core import codec, edits
from memrepo.core.memory import Memory, Stamp
from memrepo.core.mergebytes import FileVersion, join_bytes
from memrepo.core.mergefields import Origin, Stamps, merge_fields, rank
from memrepo.core.text3 import merge_text
from memrepo.core.tombstones import tombstone_keys

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
    kept = [_kept(older, key, _spelling(key, value)) for key, value in fields.lost.items()]
    if body.overlap:
        kept.append(_kept(older, "body", older.body.encode("utf-8")))
    return Merged(memory=forgotten(memory, tombstones), kept=tuple(kept))


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


def _weight(base: FileVersion | None, side: FileVersion, origin: Origin) -> tuple[bool, Any, bytes]:
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
    return "\n".join(edits.spelled(key, {key: value})).encode("utf-8", "surrogatepass")
