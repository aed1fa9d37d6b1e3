"""Merge the fields of a memory by the `merge` rules of the schema, and merge its file.

A change on only one side is always used. The rule applies if both sides changed a field
(docs/git-model.md). A file that cannot be decoded loses to one that can. The merged file is an edit
of one side's file. Entries that memrepo does not know are merged by key, and comments by line.

Texts are merged by line. Lines changed by only one side are always part of the result. Two sides
overlap if both changed the same lines differently, or if one inserted lines between lines that the
other replaced. If both insert lines at the same position, they do not overlap, and the older side's
lines come first. The idea of hunks against a common base is from Khanna, Kunal and Pierce, "A
Formal Investigation of Diff3".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, Literal, assert_never

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.codec import inline
from memrepo.core.memory import (
    FIELDS,
    ORDER,
    STATUSES,
    Field,
    Memory,
    Node,
    listed_places,
    node_of,
)
from memrepo.core.patterns import dominant_end, split_lines, unix
from memrepo.core.times import EARLIEST


class FileVersion(msgspec.Struct, frozen=True):
    """A memory file in one state. `memory` is None if the file cannot be decoded."""

    path: str
    data: bytes
    memory: Memory | None


def rank(memory: Memory, base: Memory | None) -> tuple[bool, datetime, str]:
    """Return the sort key of a changed version: whether a person made it, the time, the values.

    What memrepo writes has a new stamp, so a person made a change without one. All fields have the
    same rank, so that a triple, or a tier and its dates, come from one side.
    """
    stamp = memory.stamp
    values = repr((sorted(memory.fields.items()), memory.body, memory.path))
    if stamp is None or (base is not None and stamp == base.stamp):
        return base is not None, EARLIEST, values
    return stamp.by.startswith("human:"), stamp.at or EARLIEST, values


def _merge_fields(
    base: Mapping[str, object], older: Mapping[str, object], newer: Mapping[str, object]
) -> tuple[dict[str, object], list[str]]:
    """Merge the fields of two sides. The side `newer` wins where a rule must choose one side.

    Return the merged fields, and the names of fields of which a person's value lost.
    """
    fields: dict[str, object] = {}
    lost: list[str] = []
    for column in FIELDS:
        key = column.name
        o, a, b = (side.get(key, column.default) for side in (base, older, newer))
        if a == b or o == a:
            value = b
        elif o == b:
            value = a
        else:
            value, gone = _joined(column, o, a, b)
            if gone is not None and column.is_by_person:
                lost.append(key)
        if value != column.default:
            fields[key] = value
    return fields, lost


def _joined(column: Field, base: Any, older: Any, newer: Any) -> tuple[Any, Any]:
    """Merge two changed values by the rule of the field. Return the result and the losing value."""
    match column.merge:
        case "min":
            return min((v for v in (older, newer) if v is not None), default=None), None
        case "furthest":
            return max(older, newer, key=STATUSES.index), None
        case "union":
            return _merge_list(column, base or (), older or (), newer or ()), None
        case "newest":
            return newer, older
        case _:
            assert_never(column.merge)


def _merge_list(
    column: Field, base: Sequence[object], older: Sequence[object], newer: Sequence[object]
) -> tuple[object, ...]:
    """Merge two lists by a stable key for each item: (A∪B) − (O−A) − (O−B).

    If both sides have a key, use the value of the side that changed it, or `newer` if both did.
    Items of the base keep their order. Added items follow, ordered by their formatted text.
    """
    o, a, b = (keyed(column.name, items) for items in (base, older, newer))
    kept = {k: a[k] if o.get(k) == b[k] else b[k] for k in (*o, *a) if k in a and k in b}
    added = {k: v for side in (a, b) for k, v in side.items() if k not in o and k not in kept}
    fresh = [kept.pop(k) for k in list(kept) if k not in o] + list(added.values())
    fresh.sort(key=lambda item: inline(node_of(item)))
    return tuple(dict.fromkeys([*kept.values(), *fresh]))


def keyed(name: str, items: Sequence[object]) -> dict[object, object]:
    """Map the items of a list by (stable key, occurrence). The first occurrence is 0."""
    key = _KEYS.get(name, lambda item: item)
    found: dict[object, object] = {}
    for item in items:
        turn = next(n for n in count() if (key(item), n) not in found)
        found[key(item), turn] = item
    return found


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "links": lambda link: (link.target, link.type),
    # Without a text hash, only the complete source distinguishes two ranges of one file.
    "sources": lambda source: (source.resource, source.text_hash) if source.text_hash else source,
}
"""The identity of list items. Texts, stamps and retirements are compared as a whole."""


ConflictKind = Literal["removed-and-edited", "unreadable", "both-changed"]


class MergeConflict(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict for a person to review. The merge has a safe result even without a review.

    `removed-and-edited`: one side removed what the other one changed, and it remains. `unreadable`:
    one side's file cannot be decoded, and the other one is used. `both-changed`:
    not a memory file, and one side's version is used.
    """

    kind: ConflictKind
    path: str
    id: str = ""


class MergedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A merged memory file. `version` is None if the merge removes the file.

    `lost` names what one side wrote and the merged file lacks: keys, `header` for comments, `body`,
    or only an empty name for a whole file.
    """

    version: FileVersion | None
    conflicts: tuple[MergeConflict, ...] = ()
    lost: tuple[str, ...] = ()


def merge_memory(
    base: Memory | None, older: Memory, newer: Memory
) -> tuple[Memory, tuple[str, ...]]:
    """Merge one memory by the rules of the schema, and name what the older side lost.

    The path is that of the side that moved the memory, or the smaller one if both did.
    """
    origin = base or Memory(path="")
    fields, lost = _merge_fields(origin.fields, older.fields, newer.fields)
    body = merge_text(origin.body, older.body, newer.body)
    if any(_edits_forgotten(base, *sides) for sides in ((older, newer), (newer, older))):
        fields.pop("status")
    if base and _differ_about_mark(base, older, newer):
        fields = {k: v for k, v in fields.items() if k not in ("status", "archived_at")}
        fields["standing"] = base.standing
    memory = Memory.of(
        path=_path(base.path if base is not None else None, older.path, newer.path),
        fields=fields,
        body=codec.normal_body(body.text),
    )
    if len({origin.sources, older.sources, newer.sources}) == 3:
        memory = memory.with_fields({"sources": listed_places(memory.sources) or None})
    return memory, (*lost, *["body"] * body.overlap)


def _differ_about_mark(base: Memory, *sides: Memory) -> bool:
    """Return whether of a memory marked for removal one side was archived, and one stays active.

    It stays marked, and both are asked again. What was replaced or forgotten stays so.
    """
    mark = ("active", "retire_candidate")
    states = [(one.status, one.standing) for one in sides]
    is_decided = (base.status, base.standing) == mark not in states
    return is_decided and {status for status, _ in states} == {"active", "archived"}


def _edits_forgotten(base: Memory | None, gone: Memory, edited: Memory) -> bool:
    """Return whether a person reworded an active memory that the other side forgot."""
    return (
        base is not None
        and (base.status, gone.status, edited.status) == ("active", "forgotten", "active")
        and edited.body != base.body
        and rank(edited, base)[0]
    )


def join_versions(
    base: FileVersion | None,
    ours: FileVersion | None,
    theirs: FileVersion | None,
    *,
    ours_wins: bool = False,
) -> MergedFile:
    """Merge the file of one memory. Swapping the sides gives the same result.

    If only one side changed the file, its bytes are used. A move and an edit are separate changes.
    With `ours_wins`, our side counts as the newer one.
    """
    if ours is None or theirs is None:
        return _one_gone(base, ours or theirs)
    path = _path(base.path if base is not None else None, ours.path, theirs.path)
    if ours_wins and base is not None and ours.path != base.path:
        path = ours.path
    if ours.data == theirs.data or (base is not None and base.data == ours.data):
        return MergedFile(version=_at(path, theirs))
    if base is not None and base.data == theirs.data:
        return MergedFile(version=_at(path, ours))
    older, newer = sorted((ours, theirs), key=lambda side: _weight(base, side))
    if ours_wins:
        older, newer = theirs, ours
    if older.memory is None or newer.memory is None:
        id_ = newer.memory.id if newer.memory else ""
        conflict = MergeConflict(kind="unreadable", path=path, id=id_)
        return MergedFile(version=_at(path, newer), conflicts=(conflict,), lost=("",))
    memory, lost = merge_memory(base.memory if base else None, older.memory, newer.memory)
    version, gone = join_bytes(base, older, newer, replace(memory, path=path))
    return MergedFile(version=version, lost=gone if "" in gone else (*lost, *gone))


def _one_gone(base: FileVersion | None, present: FileVersion | None) -> MergedFile:
    """Merge a memory that is missing on one or both sides."""
    if present is None or present == base:
        return MergedFile(version=None)
    if base is None:
        return MergedFile(version=present)
    id_ = present.memory.id if present.memory is not None else ""
    conflict = MergeConflict(kind="removed-and-edited", path=present.path, id=id_)
    return MergedFile(version=present, conflicts=(conflict,))


def _weight(base: FileVersion | None, side: FileVersion) -> tuple[bool, object, bytes]:
    """Return the sort key of a file version: decodable or not, rank of the memory, bytes."""
    if side.memory is None:
        return False, (), side.data
    return True, rank(side.memory, base.memory if base else None), side.data


def _at(path: str, version: FileVersion) -> FileVersion:
    if version.path == path:
        return version
    memory = version.memory and replace(version.memory, path=path)
    return FileVersion(path, version.data, memory)


def _path(base: str | None, ours: str, theirs: str) -> str:
    if base == ours:
        return theirs
    return ours if base == theirs else min(ours, theirs)


# -- the bytes of a merged file -----------------------------------------------------------------

FOREIGN = "header"
"""What one side lost if comments that it added to the header are missing."""

_Entries = dict[str, tuple[Node, tuple[str, ...]]]


def join_bytes(
    base: FileVersion | None, older: FileVersion, newer: FileVersion, memory: Memory
) -> tuple[FileVersion, tuple[str, ...]]:
    """Write a merged memory into one file, and name what the older side lost there.

    All files are first edited to contain the same values and the same entries that memrepo does not
    know, which are merged by key. They then differ only in comments, order and style, which are
    merged by line. If no file can contain the result, the newer file is used.
    """
    known = base if base is not None and base.memory is not None else None
    origin = known.data if known is not None else codec.encode(memory)
    own = [foreign_entries(v) if v is not None else {} for v in (known, older, newer)]
    entries, lost = _merged_entries(*own)
    try:
        o, a, b = (_edited(data, memory, entries) for data in (origin, older.data, newer.data))
    except codec.CodecError:
        return _at(memory.path, newer), ("",)
    texts = [data.decode("utf-8") for data in (o, a, b)]
    joined = merge_text(*map(unix, texts)).text
    both = joined.replace("\n", dominant_end(split_lines(texts[2]))).encode("utf-8")
    expected, _ = codec.decode(memory.path, b)
    for data in (b if a == o else both, b):
        read, _ = codec.decode(memory.path, data)
        version = FileVersion(memory.path, data, read)
        if read is not None and read == expected and foreign_entries(version) == entries:
            said = [{*codec.split_header(d, "").comments.values()} for d in (o, a, data)]
            return version, (*lost, *[FOREIGN] * bool(said[1] - said[0] - said[2]))
    return _at(memory.path, newer), ("",)


def foreign_entries(version: FileVersion) -> _Entries:
    """Return the header entries that memrepo does not know: value and lines without margin."""
    head = codec.split_header(version.data, version.path)
    lines = split_lines(version.data.decode("utf-8", "replace"))
    texts = [line.removeprefix(" " * head.indent) for line, _ in lines[: head.body_line]]
    foreign = (e for e in head.entries if e.key not in ORDER)
    return {e.key: (e.value, tuple(texts[e.first - 1 : e.last])) for e in foreign}


def _merged_entries(
    base: _Entries, older: _Entries, newer: _Entries
) -> tuple[_Entries, tuple[str, ...]]:
    """Merge entries by key. The newer side wins for an entry changed by both sides."""
    merged: _Entries = {}
    lost: list[str] = []
    for key in dict.fromkeys([*sorted(older), *newer]):
        o, a, b = base.get(key), older.get(key), newer.get(key)
        value = b if o == a else a if o == b else b or a
        if value:
            merged[key] = value
        if a and b and a != b and o not in (a, b):
            lost.append(key)
    return merged, tuple(lost)


def _edited(data: bytes, memory: Memory, entries: _Entries) -> bytes:
    """Return a file, edited to contain exactly the given memory and foreign entries."""
    own = foreign_entries(FileVersion(memory.path, data, memory))
    keys = [key for key in (*own, *entries) if own.get(key) != entries.get(key)]
    return codec.edit(
        data, memory, {key: entries[key][1] if key in entries else () for key in keys}
    )


# -- merging texts by line -----------------------------------------------------------------------


class MergedText(msgspec.Struct, frozen=True, kw_only=True):
    """A merged text. `overlap` is true if the text lacks lines written by the losing side."""

    text: str
    overlap: bool = False


class _Hunk(msgspec.Struct, frozen=True):
    """A change that replaces base lines `lo` to `hi` (exclusive). An insertion has lo == hi."""

    lo: int
    hi: int
    newer: bool
    lines: tuple[str, ...]

    def touches(self, before: _Hunk) -> bool:
        """Return whether two hunks affect the same base lines or the same gap between lines.

        `before` must not sort after this hunk by (lo, hi).
        """
        if self.newer == before.newer:
            return False
        if self.lo == self.hi and before.lo == before.hi:
            return self.lo == before.lo
        # An insertion at the edge of a replaced range is adjacent to it. Strictly inside, it
        # overlaps.
        return self.lo < min(self.hi, before.hi) or before.lo < self.lo == self.hi < before.hi


def merge_text(base: str, older: str, newer: str) -> MergedText:
    r"""Merge two texts with `\n` line endings and a common base. On overlap, `newer` wins.

    Swapping both the sides and their ages gives the same result.
    """
    if older in (newer, base):
        return MergedText(text=newer)
    if newer == base:
        return MergedText(text=older)
    origin = _lines(base)
    hunks = [
        *_hunks(origin, _lines(older), newer=False),
        *_hunks(origin, _lines(newer), newer=True),
    ]
    merged: list[str] = []
    at, overlap = 0, False
    for cluster in _clusters(sorted(hunks, key=lambda h: (h.lo, h.hi))):
        lo, hi = min(h.lo for h in cluster), max(h.hi for h in cluster)
        lines, lost = _resolved(origin, cluster, lo, hi)
        merged += [*origin[at:lo], *lines]
        at, overlap = hi, overlap or lost
    return MergedText(text="\n".join([*merged, *origin[at:]]), overlap=overlap)


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _hunks(base: Sequence[str], side: Sequence[str], *, newer: bool) -> Iterator[_Hunk]:
    i = j = 0
    for a, b in [*sorted(codec.pairs(base, side)), (len(base), len(side))]:
        if i < a or j < b:
            yield _Hunk(i, a, newer, tuple(side[j:b]))
        i, j = a + 1, b + 1


def _clusters(hunks: Sequence[_Hunk]) -> Iterator[list[_Hunk]]:
    """Group hunks that touch each other, directly or through other hunks, in base order."""
    cluster: list[_Hunk] = []
    for hunk in hunks:
        if cluster and not any(hunk.touches(other) for other in cluster):
            yield cluster
            cluster = []
        cluster.append(hunk)
    if cluster:
        yield cluster


def _resolved(
    base: Sequence[str], cluster: Sequence[_Hunk], lo: int, hi: int
) -> tuple[Sequence[str], bool]:
    """Return the merged lines for base lines `lo` to `hi`, and whether other lines were lost."""
    if len(cluster) == 1:
        return cluster[0].lines, False
    older = _replayed(base, [h for h in cluster if not h.newer], lo, hi)
    newer = _replayed(base, [h for h in cluster if h.newer], lo, hi)
    if older == newer:
        return newer, False
    if lo == hi:
        return _both(older, newer), False
    head = _common(older, newer)
    tail = _common(older[head:][::-1], newer[head:][::-1])
    rests = older[head : len(older) - tail], newer[head : len(newer) - tail]
    for rest, other, whole in ((*rests, older), (*rests[::-1], newer)):
        # Both sides made the same change, and one of them added more.
        if head + tail and not other and not set(rest) & set(base[lo:hi]):
            return whole, False
    return newer, True


def _replayed(base: Sequence[str], hunks: Sequence[_Hunk], lo: int, hi: int) -> list[str]:
    lines: list[str] = []
    for hunk in hunks:
        lines += [*base[lo : hunk.lo], *hunk.lines]
        lo = hunk.hi
    return [*lines, *base[lo:hi]]


def _both(older: Sequence[str], newer: Sequence[str]) -> list[str]:
    """Join the lines inserted by both sides at one position. Common lines are included once."""
    lines: list[str] = []
    i = j = 0
    for a, b in [*sorted(codec.pairs(older, newer)), (len(older), len(newer))]:
        shared = a < len(older) and older[a].strip()
        # A common blank line only separates paragraphs. It does not count as a common line.
        if not shared and a < len(older):
            continue
        lines += [*older[i:a], *newer[j:b], *older[a : a + 1]]
        i, j = a + 1, b + 1
    return lines


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    least = min(len(first), len(second))
    return next((n for n in range(least) if first[n] != second[n]), least)
