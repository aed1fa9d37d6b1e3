"""Merging one memory: its fields by the schema's `merge` column, and the files that hold it.

What only one side changed is taken whatever the rule; the rule decides when both changed it
(docs/git-model.md). A side's file that cannot be read gives way to one that can. The merged file is
one side's, edited: foreign top-level entries are merged by key as raw lines, comments of both sides
survive, and line ends, key order and spelling are those of the file that is edited.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Literal, assert_never

import msgspec
from msgspec.structs import replace

from memrepo.core import codec, header
from memrepo.core.fields import ListOf, Node
from memrepo.core.header import FIRST_LINE, Entry, Header
from memrepo.core.lines import Line, dominant_end, inline, join_lines, split_lines
from memrepo.core.memory import (
    MAX_LISTED,
    SOURCE_COUNT,
    STATUSES,
    Memory,
    Source,
    Stamp,
    listed_places,
)
from memrepo.core.schema import BY_NAME, FIELDS, ORDER, Field
from memrepo.core.times import EARLIEST
from memrepo.merge.diff3 import merge_text


class FileVersion(msgspec.Struct, frozen=True):
    """A memory file as one state has it; without a memory its bytes cannot be read."""

    path: str
    data: bytes
    memory: Memory | None


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


def _merge_fields(
    base: Mapping[str, object], older: Mapping[str, object], newer: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Merge two sides' fields over their base; `newer` wins where a rule must choose a side.

    Returned with the losing values of fields that a person may set.
    """
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
    return fields, lost


def _joined(column: Field, base: Any, older: Any, newer: Any) -> tuple[Any, Any]:
    """Join two changed values by the field's rule; returns the result and what had to give way."""
    match column.merge:
        case "min":
            return min((v for v in (older, newer) if v is not None), default=None), None
        case "max":
            return max((v for v in (older, newer) if v is not None), default=None), None
        case "set3":
            return _merge_list(column, base or (), older or (), newer or ()), None
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


def _merge_list(
    column: Field, base: Sequence[object], older: Sequence[object], newer: Sequence[object]
) -> tuple[object, ...]:
    """Merge lists by stable key: (A∪B) − (O−A) − (O−B).

    A key that is there on both sides takes the value of the side that changed it, `newer`'s where
    both did. The base's items keep their order; added ones follow, ordered by their spelling.
    """
    o, a, b = (keyed(column.name, items) for items in (base, older, newer))
    kept = {k: a[k] if o.get(k) == b[k] else b[k] for k in (*o, *a) if k in a and k in b}
    added = {k: v for side in (a, b) for k, v in side.items() if k not in o and k not in kept}
    kind = column.kind.item if isinstance(column.kind, ListOf) else column.kind
    fresh = [kept.pop(k) for k in list(kept) if k not in o] + list(added.values())
    fresh.sort(key=lambda item: inline(kind.write(item)))
    return tuple(dict.fromkeys([*kept.values(), *fresh]))


def keyed(name: str, items: Sequence[object]) -> dict[object, object]:
    """Return a list's items by stable key; the n-th one of a key has a key of its own."""
    key = _KEYS.get(name, lambda item: item)
    found: dict[object, object] = {}
    for item in items:
        turn = next(n for n in count() if (key(item), n) not in found)
        found[key(item), turn] = item
    return found


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "links": lambda link: (link.target, link.type),
    # Without a text hash nothing but the whole distinguishes two spans of one file.
    "sources": lambda source: (source.resource, source.text_hash) if source.text_hash else source,
}
"""What identifies an item of a list; texts, stamps and retirements are their own keys."""


ConflictKind = Literal[
    "removed-and-edited", "unreadable", "unwritable", "both-changed", "manifest-differs"
]


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """What a person should look at; the merge has a safe result all the same.

    `removed-and-edited`: a person removed what the other side changed; it stays.
    `unreadable`: one side's file cannot be read; the readable one stands.
    `unwritable`: no file can hold both sides' changes; one side's file is used as it is.
    `both-changed`, `manifest-differs`: a file that is no memory; one side's version is used.
    """

    kind: ConflictKind
    path: str
    id: str = ""


class LosingVersion(msgspec.Struct, frozen=True, kw_only=True):
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


class MergedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A merged memory file; None where it goes."""

    version: FileVersion | None
    conflicts: tuple[Conflict, ...] = ()
    kept: tuple[LosingVersion, ...] = ()


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """On which sides the memory was retrieved since the base: a machine's removal heeds it."""

    ours: bool = False
    theirs: bool = False


_UNKNOWN = Stamps()
_NOT_RECALLED = Recalled()


def merge_memory(
    base: Memory | None,
    ours: Memory,
    theirs: Memory,
    stamps: Stamps = _UNKNOWN,
) -> tuple[Memory, tuple[LosingVersion, ...]]:
    """Merge one memory per field by the schema's rules; symmetric in its sides.

    The path is that of the side that moved it, the smaller one where both did. Returned with what
    gave way.
    """
    sides = [(ours, stamps.ours), (theirs, stamps.theirs)]
    (older, _), (newer, _) = sorted(sides, key=lambda side: rank(side[0], base, side[1]))
    origin = base or Memory(path="")
    fields, lost = _merge_fields(origin.fields, older.fields, newer.fields)
    body = merge_text(origin.body, older.body, newer.body)
    memory = Memory(
        path=_path(base.path if base is not None else None, ours.path, theirs.path),
        fields=fields,
        body=codec.normal_body(body.text),
    )
    memory = _with_places(memory, {origin.sources, older.sources, newer.sources}, (older, newer))
    kept = [_kept(older, key, _spelling(key, value)) for key, value in lost.items()]
    if body.overlap:
        kept.append(_kept(older, "body", older.body.encode("utf-8")))
    return memory, tuple(kept)


def _with_places(
    memory: Memory, lists: Collection[tuple[Source, ...]], sides: Sequence[Memory]
) -> Memory:
    """Return a merged memory with as many places as a run lists, where both sides list others."""
    told = max(side.fields.get(SOURCE_COUNT) or 0 for side in sides)
    if len(lists) < 3 or not memory.sources or not (told or len(memory.sources) > MAX_LISTED):
        return memory
    count = max(told, len(memory.sources))
    return memory.with_fields({"sources": listed_places(memory.sources), SOURCE_COUNT: count})


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
        return _one_gone(base, ours, theirs, stamps, recalled)
    path = _path(base.path if base is not None else None, ours.path, theirs.path)
    if ours.data == theirs.data or (base is not None and base.data == ours.data):
        return MergedFile(version=_at(path, theirs))
    if base is not None and base.data == theirs.data:
        return MergedFile(version=_at(path, ours))
    sides = [(ours, stamps.ours), (theirs, stamps.theirs)]
    (older, one), (newer, other) = sorted(sides, key=lambda side: _weight(base, *side))
    if older.memory is None or newer.memory is None:
        return _one_whole(path, older, newer, "unreadable")
    stamps = Stamps(ours=one, theirs=other)
    memory, kept = merge_memory(_memory(base), older.memory, newer.memory, stamps)
    joined = join_bytes(base, older, newer, replace(memory, path=path))
    if joined is None:
        return _one_whole(path, older, newer, "unwritable")
    foreign = (_kept(older.memory, key, data) for key, data in joined.lost.items())
    return MergedFile(version=FileVersion(path, joined.data, joined.memory), kept=(*kept, *foreign))


def _one_gone(
    base: FileVersion | None,
    ours: FileVersion | None,
    theirs: FileVersion | None,
    stamps: Stamps,
    recalled: Recalled,
) -> MergedFile:
    """Decide between a side without the memory and one that has it, or has not either."""
    if ours is None:
        present, remover, used = theirs, stamps.ours, recalled.theirs
    else:
        present, remover, used = ours, stamps.theirs, recalled.ours
    if present is not None and present == base and (remover.person or not used):
        return MergedFile(version=None)
    if present is None or base in (None, present) or not remover.person:
        return MergedFile(version=present)
    id_ = present.memory.id if present.memory is not None else ""
    conflict = Conflict(kind="removed-and-edited", path=present.path, id=id_)
    return MergedFile(version=present, conflicts=(conflict,))


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


def _kept(memory: Memory, key: str, data: bytes) -> LosingVersion:
    stamp: Stamp = memory.fields.get("generated") or Stamp(by="")
    return LosingVersion(
        path=memory.path, key=key, data=data, id=memory.id, by=stamp.by, at=stamp.at
    )


def _spelling(key: str, value: object) -> bytes:
    return "\n".join(codec.spelled(key, {key: value})).encode("utf-8", "surrogatepass")


# -- the bytes of a merged file -----------------------------------------------------------------


class Foreign(msgspec.Struct, frozen=True):
    """A top-level entry that is not ours: its value and its raw lines at the left margin."""

    value: Node
    lines: tuple[str, ...]


class Comment(msgspec.Struct, frozen=True):
    """A comment and the key that it stands above or next to; empty at the header's end."""

    key: str
    text: str


class JoinedBytes(msgspec.Struct, frozen=True, kw_only=True):
    """A merged file, the memory in it, and the raw lines of foreign entries that gave way."""

    data: bytes
    memory: Memory
    lost: Mapping[str, bytes]


def join_bytes(
    base: FileVersion | None, older: FileVersion, newer: FileVersion, memory: Memory
) -> JoinedBytes | None:
    """Write a merged memory into the newer side's file, or into that of a side that only restyled.

    None where no file can hold the result: a limit exceeded, or lines that read differently once
    they stand together.
    """
    o, a, b = (_Skeleton.of(version) for version in (base, older, newer))
    entries, lost = _merged_entries(o.entries, a.entries, b.entries)
    # Who changed no value changed the look of the file, and the look is all that would be lost.
    restyled = _has_same_values(base, older, o, a) and not _has_same_values(base, newer, o, b)
    host, guest, file = (a, b, older) if restyled else (b, a, newer)
    known = {c.text for c in (*o.comments, *host.comments)}
    above = [c for c in guest.comments if c.text not in known]
    left = {c.text for c in o.comments} - {c.text for c in guest.comments}
    try:
        data, read = codec.rewritten(file.data, memory)
    except codec.CodecError:
        return None
    if entries != host.entries or above or left:
        edited = FileVersion(memory.path, data, memory)
        data = _Skeleton.of(edited).with_header(entries, above, left)
        if not _holds(data, edited, entries):
            return None
    return JoinedBytes(data=data, memory=read, lost=lost)


def _holds(data: bytes, edited: FileVersion, entries: Mapping[str, Foreign]) -> bool:
    """Return whether a file still holds the memory that was edited into it, and these entries."""
    before, _ = codec.decode(edited.path, edited.data)
    after, _ = codec.decode(edited.path, data)
    found = _Skeleton.of(FileVersion(edited.path, data, after)).entries
    same = {k: f.value for k, f in found.items()} == {k: f.value for k, f in entries.items()}
    return after is not None and after == before and same


def own_words(version: FileVersion) -> tuple[dict[str, Node], frozenset[Comment]]:
    """Return what a header holds that is not ours: foreign keys and comments."""
    skeleton = _Skeleton.of(version)
    values = {key: foreign.value for key, foreign in skeleton.entries.items()}
    return values, frozenset(skeleton.comments)


def _has_same_values(
    base: FileVersion | None, side: FileVersion, o: _Skeleton, s: _Skeleton
) -> bool:
    if base is None or base.memory is None or side.memory is None:
        return False
    before, after = base.memory, side.memory
    return (before.fields, before.body, o.entries) == (after.fields, after.body, s.entries)


def _merged_entries(
    base: Mapping[str, Foreign], older: Mapping[str, Foreign], newer: Mapping[str, Foreign]
) -> tuple[dict[str, Foreign], dict[str, bytes]]:
    """Merge foreign entries by key; an entry changed on both sides is the newer side's."""
    merged: dict[str, Foreign] = {}
    lost: dict[str, bytes] = {}
    for key in dict.fromkeys([*newer, *sorted(older)]):
        o, a, b = base.get(key), older.get(key), newer.get(key)
        if a == b or o == a:
            value = b
        elif o == b:
            value = a
        else:
            value = b or a
            if a is not None and b is not None:
                lost[key] = "\n".join(a.lines).encode()
        if value is not None:
            merged[key] = value
    return merged, lost


class _Skeleton:
    """A file's lines, with what in its header is not ours."""

    def __init__(self, text: str, head: Header) -> None:
        self.lines = split_lines(text)
        self.head = head
        self.entries = {e.key: self._foreign(e) for e in head.entries if e.key not in ORDER}
        self.comments = self._comments()

    @classmethod
    def of(cls, version: FileVersion | None) -> _Skeleton:
        if version is None or version.memory is None:
            return cls("", Header())
        text = version.data.decode("utf-8")
        return cls(text, header.read(text, version.path))

    def _foreign(self, entry: Entry) -> Foreign:
        margin = " " * self.head.indent
        span = self.lines[entry.first - 1 : entry.last]
        return Foreign(entry.value, tuple(text.removeprefix(margin) for text, _ in span))

    def _loose(self) -> dict[int, str]:
        """Return the comments that stand alone between entries, by line."""
        covered = {n for e in self.head.entries for n in range(e.first, e.last + 1)}
        return {
            n: self.lines[n - 1][0].strip()
            for n in range(FIRST_LINE, self.head.body_line - 1)
            if n not in covered and self.lines[n - 1][0].lstrip().startswith("#")
        }

    def _comments(self) -> list[Comment]:
        placed = self._loose()
        inner = [text for text, _ in self.lines[FIRST_LINE - 1 : self.head.body_line - 2]]
        for entry in self.head.entries:
            span = inner[entry.first - FIRST_LINE : entry.last - FIRST_LINE + 1]
            if entry.key in ORDER and any("#" in text for text in span):
                placed |= dict(header.comments_of(inner, FIRST_LINE, entry))
        return [Comment(self._anchor(n), placed[n]) for n in sorted(placed)]

    def _anchor(self, line: int) -> str:
        return next((e.key for e in self.head.entries if e.last >= line), "")

    def with_header(
        self, entries: Mapping[str, Foreign], above: Sequence[Comment], left: set[str]
    ) -> bytes:
        """Return the file with these foreign entries, further comments, and without those left."""
        end = dominant_end(self.lines[: self.head.body_line - 1])
        margin = " " * self.head.indent
        own = {e.key: e for e in self.head.entries}
        drop = {n for n, text in self._loose().items() if text in left}
        slots: dict[int, list[str]] = {}  # the line that new lines go above
        last = self.head.body_line - 1
        for comment in above:
            line = own[comment.key].first if comment.key in own else last
            slots.setdefault(line, []).append(comment.text)
        for key, entry in own.items():
            if key not in ORDER and entries.get(key) != self.entries[key]:
                drop.update(range(entry.first, entry.last + 1))
        for key, foreign in entries.items():
            if foreign != self.entries.get(key):
                line = own[key].first if key in own else last
                slots.setdefault(line, []).extend(foreign.lines)
        edited: list[Line] = []
        for number, line_ in enumerate(self.lines, 1):
            edited += [(margin + text if text else text, end) for text in slots.get(number, [])]
            if number not in drop:
                edited.append(line_)
        return join_lines(edited).encode("utf-8")
