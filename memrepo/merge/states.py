"""Merge the changes of one state into another, by memory id and by field.

Renames are not followed by path or similarity. A change to a memory is applied even if the other
side moved its file. Other files are merged by content:

| file | if both sides changed it differently |
|---|---|
| views, first page | ours: they are rendered again after the merge |
| sources, configuration | by line; a conflict if lines overlap |
| tombstones | the later decision wins; evidence is combined |
| corrections | a decision wins over an open case; two different decisions are a conflict |
| run manifests, threads | a conflict; the longer version is used |

If one side removed a file and the other changed it, the file remains.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from memrepo.core import codec, corrections
from memrepo.core.errors import Problem
from memrepo.core.layout import Layout
from memrepo.core.lines import dominant_end, split_lines, unix
from memrepo.core.patterns import regex
from memrepo.core.state import Decoded, Effect, State, apply, read_state
from memrepo.merge import closure
from memrepo.merge.tombstones import (
    is_tombstone,
    join_tombstones,
    read_tombstone,
    sweep,
    tombstone_bytes,
)
from memrepo.merge.versions import (
    FileVersion,
    MergeConflict,
    join_versions,
    merge_text,
)

_TAIL = regex(r"(-[0-9a-f]{6})?\.md\Z")


class MergeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A merged state, the file changes relative to OURS, and reports for a person.

    `both` are the memories that both sides changed, and `lost` the files in which something of one
    side was not used. `problems` lists references that the merge broke and repaired.
    """

    state: State
    effect: Effect
    both: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    problems: tuple[Problem, ...] = ()


def merge_states(
    base: State,
    ours: State,
    theirs: State,
    *,
    changed: Collection[str] | None = None,
) -> MergeResult:
    """Merge their changes since `base` into ours. Memories barred by tombstones are forgotten.

    `changed` are the paths that they changed, if known.
    """
    states = (base, ours, theirs)
    if changed is None:
        every = {*base.files, *theirs.files}
        changed = {p for p in every if base.files.get(p) != theirs.files.get(p)}
    edits: dict[str, bytes | None] = {}
    conflicts: list[MergeConflict] = []
    ids, lost = set[str](), set[str]()
    for path in sorted(filter(ours.layout.owns, changed)):
        if ours.layout.is_memory(path):
            found = {i for state in (base, theirs) if (i := id_at(state, path))}
            if found:
                ids |= found
                continue
        if is_derived(ours.layout, path):
            continue
        joined = join_file(ours.layout, path, *(state.files.get(path) for state in states))
        edits[path] = joined.data
        if joined.is_lost:
            conflicts.append(MergeConflict(kind="both-changed", path=path))
            lost.add(path)
    placed: dict[str, JoinedMemory] = {}
    both: list[str] = []
    for id_ in sorted(ids):
        versions = before, here, there = versions_of(states, id_)
        merged = join_versions(before, here, there)
        both += [id_] * (here not in (before, there) and before != there)
        conflicts += merged.conflicts
        if merged.lost and merged.version is not None:
            lost.add(merged.version.path)
        placed[id_] = JoinedMemory(versions, merged.version)
    # What they did not change stays where ours has it.
    place_memories(edits, ours, placed)
    draft = reread(ours, edits)
    swept = tuple(sweep(draft))
    clean = apply(draft, swept)
    updates, repaired = closure.close(clean, closure.known_in(ours, theirs))
    final = apply(clean, updates)
    touched = {final.memories[update.id].path for update in (*swept, *updates)}
    files = {path: final.files.get(path) for path in sorted({*edits, *touched})}
    return MergeResult(
        state=final,
        effect={p: data for p, data in files.items() if data != ours.files.get(p)},
        both=tuple(both),
        lost=tuple(sorted(lost)),
        conflicts=tuple(sorted(conflicts, key=lambda c: (c.id, c.path, c.kind))),
        problems=tuple(finding.problem for finding in repaired),
    )


def id_at(state: State, path: str) -> str:
    """Return the id in a memory file of a state, or "" if there is none or it is unreadable."""
    data = state.files.get(path)
    memory = codec.decode(path, data)[0] if data is not None else None
    return memory.id if memory is not None else ""


def unread_version(state: State, path: str) -> FileVersion | None:
    """Return a memory file that cannot be decoded, or None if there is none at the path."""
    data = state.files.get(path)
    if data is None or codec.decode(path, data)[0] is not None:
        return None
    return FileVersion(path, data, None)


def versions_of(states: Sequence[State], id_: str) -> list[FileVersion | None]:
    """Return a memory's file in each state. An unreadable file at its path is its version too."""
    places = {s.memories[id_].path for s in states if id_ in s.memories}
    found: list[FileVersion | None] = []
    for state in states:
        memory = state.memories.get(id_)
        if memory is not None:
            found.append(FileVersion(memory.path, state.files[memory.path], memory))
        else:
            unread = (unread_version(state, path) for path in sorted(places))
            found.append(next((version for version in unread if version), None))
    return found


class JoinedMemory(NamedTuple):
    """A memory's versions in the base and on both sides, and the merged one, None if removed."""

    versions: Sequence[FileVersion | None]
    merged: FileVersion | None


def place_memories(
    edits: dict[str, bytes | None], head: State, joined: Mapping[str, JoinedMemory]
) -> dict[str, str]:
    """Add merged memories to the edits, and the removal of their other files. Return their paths.

    A memory that stays has precedence over one that moves to its path, which gets a number.
    """
    placed: dict[str, str] = {}
    own = {v.path for one in joined.values() for v in one.versions if v is not None}
    others = {m.path for i, m in head.memories.items() if i not in joined}
    edits |= {path: None for path in own - others if edits.get(path) is None}
    found = [(id_, one.versions[0], one.merged) for id_, one in joined.items() if one.merged]
    found.sort(key=lambda row: (row[1] is None or row[1].path != row[2].path, row[0]))
    for id_, _, merged in found:
        name, turn = merged.path, 2
        tail = _TAIL.search(name)
        cut = tail.start() if tail is not None else len(name)
        while edits.get(name) is not None or name in others:
            name, turn = f"{merged.path[:cut]}-{turn}{merged.path[cut:]}", turn + 1
        edits[name], placed[id_] = merged.data, name
    return placed


def reread(state: State, edits: Mapping[str, bytes | None]) -> State:
    """Return a state with edits applied. Memories in unedited files are not decoded again."""
    files = state.files.edited(edits)
    known = {m.path: m for m in state.memories.values() if m.path not in edits}
    decoded: dict[str, Decoded] = {
        path: (known[path], ()) if path in known else codec.decode(path, files[path])
        for path in sorted(filter(state.layout.is_memory, files))
    }
    return replace(read_state(files, state.layout, decoded), files=files)


# -- files other than memories -------------------------------------------------------------------


class JoinedFile(NamedTuple):
    """A merged file, None if removed, and whether something of one side is missing."""

    data: bytes | None
    is_lost: bool = False


def is_derived(layout: Layout, path: str) -> bool:
    """Return whether a file is rendered again after a merge, and therefore not merged itself."""
    return path.startswith(layout.area("views")) or layout.is_hot(path)


def join_file(
    layout: Layout, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> JoinedFile:
    """Merge one file. Swapping the two sides gives the same result, except for a derived file."""
    if ours == theirs or base == ours:
        return JoinedFile(theirs)
    if base == theirs or is_derived(layout, path):
        return JoinedFile(ours)
    if ours is None or theirs is None:
        return JoinedFile(theirs if ours is None else ours)
    older, newer = sorted((ours, theirs), key=lambda data: (len(data), data))
    if is_tombstone(layout, path):
        return _join_tombstone(path, older, newer)
    if corrections.correction_paths([path], layout):
        return _join_correction(path, older, newer)
    if path == layout.config or path.startswith(layout.area("sources")):
        return _by_line(base or b"", older, newer, is_toml=path == layout.config)
    return JoinedFile(newer, is_lost=True)


def _join_tombstone(path: str, older: bytes, newer: bytes) -> JoinedFile:
    """Merge two versions of a tombstone. An unreadable version loses."""
    one, other = read_tombstone(path, older), read_tombstone(path, newer)
    if isinstance(other, Problem):
        whole = isinstance(one, Problem)
        return JoinedFile(newer if whole else older, whole)
    if isinstance(one, Problem):
        return JoinedFile(newer)
    return JoinedFile(tombstone_bytes(join_tombstones(one, other)))


def _join_correction(path: str, older: bytes, newer: bytes) -> JoinedFile:
    """Merge two versions of a correction. A readable version wins over an unreadable one."""
    found = [(corrections.decode(path, data), data) for data in (older, newer)]
    read = [(c, data) for c, data in found if isinstance(c, corrections.Correction)]
    if len(read) < 2:
        return JoinedFile(read[0][1] if read else newer, is_lost=True)
    (less, _), (more, data) = sorted(read, key=lambda pair: corrections.weight(pair[0]))
    decided = less.status == more.status == "resolved"
    differ = decided and (less.verdict, less.kept) != (more.verdict, more.kept)
    return JoinedFile(data, differ)


def _by_line(base: bytes, older: bytes, newer: bytes, *, is_toml: bool) -> JoinedFile:
    """Merge texts by line, using the line endings of the side that changed them."""
    whole = JoinedFile(newer, is_lost=True)
    try:
        o, a, b = (data.decode("utf-8") for data in (base, older, newer))
    except UnicodeDecodeError:
        return whole
    joined = merge_text(unix(o), unix(a), unix(b))
    text = joined.text
    if is_toml and not _can_be_read(text):
        return whole
    if "\r" in a or "\r" in b:
        ends = [dominant_end(split_lines(side)) for side in (o, a, b)]
        text = text.replace("\n", ends[2] if ends[1] == ends[0] else ends[1])
    return JoinedFile(text.encode(), joined.overlap)


def _can_be_read(text: str) -> bool:
    """Return whether a text is valid TOML."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True
