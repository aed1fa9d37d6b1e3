"""Correct a merge commit made by git. Compute memrepo's merge and reapply the user's edits to it.

Git does not call a merge driver for files that only one side changed, removed or moved. A clone
without the driver uses one side's file unmerged. Each memory in the merge commit is therefore
compared with both sides. If it equals one side's version, git chose it, and memrepo's merge is used
instead. If it differs from both, a user edited it, starting from the most similar side. That edit
is merged into memrepo's result, and wins where both changed the same text. (docs/merging.md,
"Merging by hand")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.schema import FIELDS
from memrepo.core.state import Decoded, State, apply, read_state
from memrepo.merge import closure
from memrepo.merge.files import is_derived
from memrepo.merge.states import MergeResult, SideFacts, merge_states, owners
from memrepo.merge.versions import FileVersion

_MARKERS = regex(rb"^<{7,} .*^={7,}\r?$.*^>{7,} ", re.MULTILINE | re.DOTALL)


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """A merge made by git: the base, both sides, the merge by memrepo, and the committed state.

    `paths` contains all files that differ between any of these.
    """

    base: State
    ours: State
    theirs: State
    united: MergeResult
    left: State
    paths: frozenset[str]


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """The correct state of a merge, and how it differs from the committed state."""

    state: State
    edits: frozenset[str]
    memories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def summary(self) -> tuple[str, ...]:
        """Return a text with the numbers of corrected memories and files."""
        found = []
        if self.memories:
            found.append(counted(len(self.memories), "memory", "memories"))
        if self.files:
            found.append(counted(len(self.files), "file", "files"))
        return tuple(found)


def settle(made: Made) -> Settled:
    """Return the correct state of a merge, which is the committed state if nothing is wrong."""
    left = _without_copies(made)
    start = _start(made, left)
    paths = {*made.paths, *made.united.effect.files}
    paths |= {p for state in (start, left) for p in state.files.edits}
    names = {*paths, *start.memories, *left.memories}
    facts = SideFacts(paths=frozenset(paths))
    result = merge_states(
        start,
        made.united.state,
        left,
        our_facts=facts,
        their_facts=replace(facts, people=frozenset(names)),
    )
    updates, _ = closure.close(result.state, closure.known_in(made.ours, made.theirs))
    state = apply(result.state, updates)
    edited = frozenset(
        {*paths, *result.effect.files, *(state.memories[u.id].path for u in updates)}
    )
    return _compared(made.left, state, edited)


def _without_copies(made: Made) -> State:
    """Return the committed state without duplicate files of an id that equal either side's file."""
    files: dict[str, list[str]] = {}
    for path, id_ in owners(made.left).items():
        files.setdefault(id_, []).append(path)
    drop: list[str] = []
    for id_, paths in files.items():
        known = {v.data for v in _versions(made, id_) if v is not None}
        copies = [p for p in sorted(paths) if made.left.files[p] in known]
        if len(paths) > 1:
            drop += copies if len(copies) < len(paths) else copies[1:]
    return _reread(made.left, dict.fromkeys(drop)) if drop else made.left


def _reread(state: State, edits: Mapping[str, bytes | None]) -> State:
    """Return a state with edits applied. Memories in unedited files are not decoded again."""
    files = state.files.edited(edits)
    known = {m.path: m for m in state.memories.values() if m.path not in edits}

    def decoded(path: str) -> Decoded:
        return (known[path], ()) if path in known else codec.decode(path, files[path])

    return replace(read_state(files, state.layout, decoded), files=files)


def _start(made: Made, left: State) -> State:
    """Return the state from which the user edited the merge, determined memory by memory."""
    ids = {i for state in (*_sides(made), made.united.state, left) for i in _touched(state, made)}
    edits: dict[str, bytes | None] = dict.fromkeys(made.paths)
    for path in sorted(edits):
        if not left.layout.is_memory(path) and not is_derived(left.layout, path):
            edits[path] = _file_start(made, left, path)
    for id_ in sorted(ids):
        version = _memory_start(
            _versions(made, id_), _version(made.united.state, id_), _left_version(made, left, id_)
        )
        if version is not None:
            edits[_free(version.path, edits)] = version.data
    return _reread(left, edits)


def _touched(state: State, made: Made) -> Iterator[str]:
    return (id_ for id_, memory in state.memories.items() if memory.path in made.paths)


def _sides(made: Made) -> tuple[State, State, State]:
    return made.base, made.ours, made.theirs


def _versions(made: Made, id_: str) -> tuple[FileVersion | None, ...]:
    return tuple(_version(state, id_) for state in _sides(made))


def _version(state: State, id_: str) -> FileVersion | None:
    memory = state.memories.get(id_)
    return None if memory is None else FileVersion(memory.path, state.files[memory.path], memory)


def _left_version(made: Made, left: State, id_: str) -> FileVersion | None:
    """Return the committed version of a memory, even if the committed file cannot be decoded."""
    found = _version(left, id_)
    if found is not None:
        return found
    owned = {memory.path for memory in left.memories.values()}
    for version in (_version(made.united.state, id_), *_versions(made, id_)):
        if version is not None and version.path in left.files and version.path not in owned:
            return FileVersion(version.path, left.files[version.path], None)
    return None


def _memory_start(
    versions: tuple[FileVersion | None, ...], ours: FileVersion | None, left: FileVersion | None
) -> FileVersion | None:
    """Return the version of a memory from which the user started editing in a merge.

    It equals `left` if no user edited the memory.
    """
    base, one, other = versions
    if left is None:
        # If one side had removed the memory, git did this. If both had it, a user removed it.
        return ours if one is not None and other is not None else None
    known = [v.data for v in (one, other) if v is not None]
    if one is None and other is None and base is not None:
        known.append(base.data)
    if left.data in known or left.memory is None or _is_marked(left.data, known):
        return left
    edited = left.memory
    sides = [(v, v.memory) for v in (one, other) if v is not None and v.memory is not None]
    return min(sides, key=lambda side: _distance(side[1], edited), default=(None, None))[0]


def _is_marked(data: bytes, known: Iterable[bytes]) -> bool:
    """Return whether the text has git's conflict markers, although no side's version has them."""
    return bool(_MARKERS.search(data)) and not any(_MARKERS.search(side) for side in known)


def _distance(before: Memory, after: Memory) -> int:
    """Count the fields and lines that differ between two versions of a memory."""
    fields: int = sum(before.fields.get(f.name) != after.fields.get(f.name) for f in FIELDS)
    return fields + len({*before.body.split("\n")} ^ {*after.body.split("\n")})


def _file_start(made: Made, left: State, path: str) -> bytes | None:
    """Return the version of a file other than a memory from which the user started editing."""
    sides = [s.files[path] for s in (made.ours, made.theirs) if path in s.files]
    data = left.files.get(path)
    if data is None:
        return made.united.state.files.get(path) if len(sides) == 2 else None
    return data if data in sides or _is_marked(data, sides) else next(iter(sides), None)


def _free(path: str, taken: Mapping[str, bytes | None]) -> str:
    """Return an unused path for the start version of a memory. The exact name does not matter."""
    while taken.get(path) is not None:
        path = f"{path.removesuffix('.md')}-start.md"
    return path


def _compared(left: State, state: State, edited: frozenset[str]) -> Settled:
    """Compare the committed state of a merge with the correct state, and return the differences."""
    changed = {p for p in edited if left.files.get(p) != state.files.get(p)}
    memories = {p for p in changed if state.layout.is_memory(p)}
    plain = {p for p in changed - memories if state.layout.owns(p)}
    plain = {p for p in plain if not is_derived(state.layout, p)}
    sides = (*left.memories.items(), *state.memories.items())
    ids = {id_ for id_, memory in sides if memory.path in memories}
    return Settled(
        state=state,
        edits=frozenset(memories | plain),
        memories=tuple(sorted(ids)),
        files=tuple(sorted(plain)),
    )
