"""Merge two states with a common base, by memory id and by field, within this process.

Renames are not followed by path or similarity. A change to a memory is applied even if the other
side moved its file. The merge is symmetric in its sides, deterministic and idempotent: merge(o, a,
a) = a and merge(o, a, o) = a. Derived files are skipped because they are regenerated afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.core import codec, corrections
from memrepo.core.changes import Update, Write
from memrepo.core.layout import below
from memrepo.core.problems import Problem
from memrepo.core.state import Effect, Files, State, apply
from memrepo.merge import closure
from memrepo.merge.files import JoinedFile, is_derived, join_file
from memrepo.merge.tombstones import sweep
from memrepo.merge.versions import (
    FileVersion,
    LosingVersion,
    MergeConflict,
    MergedFile,
    Origin,
    RecalledSides,
    Stamps,
    join_versions,
)


class SideFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about one side of a merge that come from history, not from files. All may be unknown.

    `committed` is the date of the side as a whole, and `dates` are the dates of single writes and
    removals. `people` contains those made by a person, and `recalled` the memories retrieved on
    that side since the base. The keys of all three are memory ids, or paths for other files.
    `paths` are the files that differ from the base. If None, all files are read and compared.
    """

    committed: datetime | None = None
    dates: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    people: frozenset[str] = frozenset()
    recalled: frozenset[str] = frozenset()
    paths: frozenset[str] | None = None

    def origin(self, name: str) -> Origin:
        """Return the origin of this side's last change to a memory or file."""
        return Origin(committed=self.dates.get(name, self.committed), person=name in self.people)


class MergeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A merged state, the file changes relative to OURS, and reports for a person.

    `problems` lists references that the merge broke and repaired.
    """

    state: State
    effect: Effect
    conflicts: tuple[MergeConflict, ...] = ()
    kept: tuple[LosingVersion, ...] = ()
    problems: tuple[Problem, ...] = ()


_UNKNOWN = SideFacts()


def merge_states(
    base: State,
    ours: State,
    theirs: State,
    *,
    our_facts: SideFacts = _UNKNOWN,
    their_facts: SideFacts = _UNKNOWN,
) -> MergeResult:
    """Merge two states with a common base. Memories barred by tombstones are forgotten.

    A wording that lost the merge is stored under `corrections/`.
    """
    return _merged(_Merge(base, ours, theirs, our_facts, their_facts), aside=True)


def _merged(work: _Merge, *, aside: bool) -> MergeResult:
    _, ours, theirs = work.states
    draft = work.draft()
    swept = tuple(sweep(draft))
    draft = apply(draft, swept)
    updates: tuple[Update, ...] = ()
    repaired: tuple[closure.BrokenRule, ...] = ()
    if found := closure.known_in(draft):
        # Only problems caused by the merge are repaired: merge(o, a, o) must equal a.
        known = closure.known_in(ours, theirs)
        if found - known:
            updates, repaired = closure.close(draft, known)
    final = apply(draft, updates)
    wordings = tuple(_wordings(final, work.kept)) if aside else ()
    final = apply(final, wordings)
    touched = {final.memories[u.id].path for u in (*swept, *updates)} | {w.path for w in wordings}
    files = {path: final.files.get(path) for path in sorted({*work.edits, *touched})}
    effect = Effect(files={p: data for p, data in files.items() if data != ours.files.get(p)})
    return MergeResult(
        state=final,
        effect=effect,
        conflicts=tuple(sorted(work.conflicts, key=lambda c: (c.id, c.path, c.kind))),
        kept=tuple(sorted(work.kept, key=lambda k: (k.id, k.path, k.key, k.data))),
        problems=tuple(finding.problem for finding in repaired),
    )


def virtual_base(bases: Sequence[State], ancestor: State | None = None) -> State:
    """Merge several merge bases into one. The result is the same for any order of the bases.

    `ancestor` is the (virtual) base of the bases. Without it, content of any base is in the result.
    Raise ValueError if there are no bases.
    """
    if not bases:
        raise ValueError("a merge needs a base")
    rest = sorted(bases, key=_digest) if len(bases) > 2 else list(bases)
    empty = State(layout=bases[0].layout, files=Files({}, {}), memories=MappingProxyType({}))
    merged = rest.pop(0)
    for other in rest:
        # Losing versions were already stored when the bases were merged, if they ever were.
        merged = _merged(
            _Merge(ancestor or empty, merged, other, _UNKNOWN, _UNKNOWN), aside=False
        ).state
    return merged


def _digest(state: State) -> str:
    parts = (p.encode() + b"\0" + sha256(state.files[p]).digest() for p in sorted(state.files))
    return sha256(b"".join(parts)).hexdigest()


class _Merge:
    """A merge in progress, whose state is mutable. Only this module uses it."""

    def __init__(
        self, base: State, ours: State, theirs: State, our: SideFacts, their: SideFacts
    ) -> None:
        self.states = (base, ours, theirs)
        self.layout = ours.layout
        self.found = _Touched(base, ours, theirs, our, their)
        self.edits: dict[str, bytes | None] = dict.fromkeys(self.found.ours)
        self.conflicts: list[MergeConflict] = []
        self.kept: list[LosingVersion] = []
        self.problems: list[Problem] = []

    def draft(self) -> State:
        """Return the merged state before rejected memories are removed and references repaired."""
        base, ours, _ = self.states
        for folded in self.found.folded:
            self._note(folded)
        results = [("", path, self._join(path, v)) for path, v in self.found.loose.items()]
        for id_, versions in self.found.units.items():
            home = base.memories[id_].path if id_ in base.memories else ""
            results.append((id_, home, self._join(id_, versions)))
        # Memories that remain at their path come before those that move to it.
        results.sort(key=lambda r: (r[2] is None or r[2].path != r[1], r[0], r[1]))
        memories = {i: m for i, m in ours.memories.items() if i not in self.found.units}
        taken: set[str] = set()
        for id_, _, version in results:
            if version is not None:
                path = self._free(version.path, taken)
                taken.add(path)
                self.edits[path] = version.data
                if version.memory is None:
                    self.problems += codec.decode(path, version.data)[1]
                elif id_:
                    memories[id_] = replace(version.memory, path=path)
        for path in self.found.touched:
            if not self.layout.is_memory(path) and not is_derived(self.layout, path):
                self._join_file(path)
        self._join_cases()
        return State(
            layout=self.layout,
            files=ours.files.edited(self.edits),
            memories=MappingProxyType(memories),
            problems=(*(p for p in ours.problems if p.path not in self.edits), *self.problems),
        )

    def _join(self, name: str, versions: _Versions) -> FileVersion | None:
        base, ours, theirs = versions
        stamps, recalled = self.found.stamps(name), self.found.recalled(name)
        joined = join_versions(base, ours, theirs, stamps, recalled=recalled)
        self._note(joined)
        return joined.version

    def _note(self, merged: MergedFile) -> None:
        self.conflicts += merged.conflicts
        self.kept += merged.kept

    def _join_file(self, path: str) -> None:
        base, ours, theirs = (state.files.get(path) for state in self.states)
        joined = join_file(self.layout, path, base, ours, theirs, self.found.stamps(path))
        self._note_file(path, joined)

    def _note_file(self, path: str, joined: JoinedFile) -> None:
        self.edits[path] = joined.data
        if joined.conflict is not None:
            self.conflicts.append(MergeConflict(kind=joined.conflict, path=path))
        if joined.lost is not None:
            self.kept.append(LosingVersion(path=path, key="", data=joined.lost))

    def _join_cases(self) -> None:
        """Merge files of the same correction, which may have different dates in their names."""
        if not corrections.correction_paths(self.edits, self.layout):
            return
        _, ours, theirs = self.states
        files = ours.files.edited(self.edits)
        cases: dict[str, list[str]] = {}
        area = self.layout.area("corrections")
        for path in corrections.correction_paths(below(files, area), self.layout):
            if found := corrections.ID.search(path):
                cases.setdefault(found[0], []).append(path)
        for first, *others in cases.values():
            # Files that one side already has are not merged: merge(o, a, o) must equal a.
            if any(all(p in side.files for p in (first, *others)) for side in (ours, theirs)):
                continue
            self.edits[first] = files[first]
            for path in others:
                stamps = self.found.stamps(path)
                joined = join_file(self.layout, first, None, self.edits[first], files[path], stamps)
                self._note_file(first, joined)
                self.edits[path] = None

    def _free(self, path: str, taken: set[str]) -> str:
        """Return the given path, or a numbered variant if the path is used by another memory."""
        tail = re.search(r"(-[0-9a-f]{6})?\.md\Z", path)
        cut = tail.start() if tail is not None else len(path)
        name, turn = path, 2
        while name in taken or (name != path and any(name in s.files for s in self.states)):
            name, turn = f"{path[:cut]}-{turn}{path[cut:]}", turn + 1
        return name


def _wordings(state: State, kept: Sequence[LosingVersion]) -> Iterator[Write]:
    """Yield correction files for texts that lost to another wording of the same memory."""
    for lost in kept:
        memory = state.memories.get(lost.id)
        if lost.key != "body" or memory is None or memory.status == "forgotten":
            continue
        text = lost.data.decode("utf-8", "replace")
        case = corrections.Correction(
            id=corrections.wording_id(memory.id, text),
            kind="wording",
            verdict="newer",
            sides=(
                corrections.Side(memory=memory.id, text=memory.body),
                corrections.Side(memory=memory.id, text=text),
            ),
            by=lost.by or "process:merge",
            at=lost.at,
            reason="two sides worded it differently; the newer wording is used",
        )
        path = corrections.path_of(state.layout, case)
        if path not in state.files:
            yield Write(path=path, data=corrections.written(path, case))


_Versions: TypeAlias = list[FileVersion | None]
"""The versions of a memory in base, ours and theirs. None means absent."""


class _Touched:
    """The files that differ between three states, divided into memories and other files.

    `touched` are the paths that a side changed and memrepo owns. `units` are the versions of
    memories at these paths in any state. `loose` are the versions, by path, of undecodable memory
    files that belong to no memory. `ours` are our side's memory files among them. `folded` are the
    merges of two files with the same id on one side.
    """

    def __init__(
        self, base: State, ours: State, theirs: State, our: SideFacts, their: SideFacts
    ) -> None:
        self._states = (base, ours, theirs)
        self._facts = (our, their)
        self._changed = (set[str](), _changed(base, ours, our), _changed(base, theirs, their))
        every = self._changed[1] | self._changed[2]
        self.touched = sorted(path for path in every if ours.layout.owns(path))
        self.ours: list[str] = []
        self.folded: list[MergedFile] = []
        self.units: dict[str, _Versions] = {}
        self.loose: dict[str, _Versions] = {}
        paths = [path for path in self.touched if ours.layout.is_memory(path)]
        owned = [owners(state) for state in self._states]
        for id_ in sorted({owner[path] for path in paths for owner in owned if path in owner}):
            self.units[id_] = [None, None, None]
        for side, owner in enumerate(owned):
            self._gather(side, owner)
        for side, owner in enumerate(owned):
            for path in paths:
                if path in self._states[side].files and path not in owner:
                    claims = {other[path] for other in owned if path in other}
                    self._place(side, path, sorted(claims))

    def stamps(self, name: str) -> Stamps:
        """Return the origins of the changes that the two sides made to a memory or file."""
        our, their = self._facts
        return Stamps(ours=our.origin(name), theirs=their.origin(name))

    def recalled(self, id_: str) -> RecalledSides:
        """Return the sides on which a memory was retrieved."""
        our, their = self._facts
        return RecalledSides(ours=id_ in our.recalled, theirs=id_ in their.recalled)

    def _gather(self, side: int, owner: Mapping[str, str]) -> None:
        files: dict[str, list[str]] = {}
        for path in sorted(owner):
            if owner[path] in self.units:
                files.setdefault(owner[path], []).append(path)
        for id_, paths in files.items():
            self.units[id_][side] = self._version(side, id_, paths)

    def _version(self, side: int, id_: str, paths: Sequence[str]) -> FileVersion | None:
        """Return the version of a memory in one state. Files with the same id are merged."""
        version = self._read(side, id_, paths[0])
        for path in paths[1:]:
            origin = self._facts[side - 1].origin(id_) if side else Origin()
            stamps = Stamps(ours=origin, theirs=origin)
            joined = join_versions(None, version, self._read(side, id_, path), stamps)
            version = joined.version or version
            if side:
                self.folded.append(joined)
        return version

    def _read(self, side: int, id_: str, path: str) -> FileVersion:
        memory, data = self._states[side].memories.get(id_), self._data(side, path)
        if memory is None or memory.path != path:
            memory, _ = codec.decode(path, data)
        return FileVersion(path, data, memory)

    def _place(self, side: int, path: str, claims: Sequence[str]) -> None:
        """Assign an undecodable file to the memory that has the same path in another state."""
        free = [id_ for id_ in claims if self.units[id_][side] is None]
        versions = self.units[free[0]] if free else self.loose.setdefault(path, [None] * 3)
        versions[side] = FileVersion(path, self._data(side, path), None)

    def _data(self, side: int, path: str) -> bytes:
        """Return the content of a file, taken from the base if the side did not change the file."""
        if side == 1:
            self.ours.append(path)
        return self._states[side if path in self._changed[side] else 0].files[path]


def owners(state: State) -> dict[str, str]:
    """Return the memory id for each path, including additional files with the same id."""
    found = {memory.path: id_ for id_, memory in state.memories.items()}
    for problem in state.problems:
        if problem.rule == "memory-same-id" and problem.path in state.files:
            memory, _ = codec.decode(problem.path, state.files[problem.path])
            if memory is not None and memory.id:
                found.setdefault(problem.path, memory.id)
    return found


def _changed(base: State, side: State, facts: SideFacts) -> set[str]:
    if facts.paths is not None:
        return set(facts.paths)
    return {
        path for path in {*base.files, *side.files} if base.files.get(path) != side.files.get(path)
    }
