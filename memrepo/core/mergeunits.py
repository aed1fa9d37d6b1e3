"""What a merge joins: the versions of each touched memory, gathered by id from three states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

import msgspec

from memrepo.core import codec
from memrepo.core.mergebytes import FileVersion
from memrepo.core.mergefields import Origin, Stamps
from memrepo.core.mergerecords import MergedFile, Recalled, join_versions
from memrepo.core.state import State

Versions: TypeAlias = list[FileVersion | None]
"""A memory as base, ours and theirs have it."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What history tells of one side and its records cannot; all of it may be unknown.

    `committed` dates the side as a whole, `dates` single writes and removals; `people` are those
    that a person made and `recalled` the memories retrieved there since the base. All three go by
    memory id, or by path where a file is no memory. `paths` are the files that differ from the
    base (None: they are compared, which reads them all).
    """

    committed: datetime | None = None
    dates: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    people: frozenset[str] = frozenset()
    recalled: frozenset[str] = frozenset()
    paths: frozenset[str] | None = None

    def origin(self, name: str) -> Origin:
        """Return the origin of what this side did to a memory or file."""
        return Origin(committed=self.dates.get(name, self.committed), person=name in self.people)


class Gathering:
    """The files that differ between three states, sorted into memories and the rest.

    `touched` are the paths that either side changed and memrepo owns; `units` the versions of
    the memories that stand at one of them in any state; `loose` those of memory files that cannot
    be read and are nobody's, by path; `ours` the memory files of our side among all these;
    `folded` the merges of two files with one id within one side.
    """

    def __init__(self, base: State, ours: State, theirs: State, our: Facts, their: Facts) -> None:
        self._states = (base, ours, theirs)
        self._facts = (our, their)
        self._changed = (set[str](), _changed(base, ours, our), _changed(base, theirs, their))
        every = self._changed[1] | self._changed[2]
        self.touched = sorted(path for path in every if ours.layout.owns(path))
        self.ours: list[str] = []
        self.folded: list[MergedFile] = []
        self.units: dict[str, Versions] = {}
        self.loose: dict[str, Versions] = {}
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
        """Return the origins of what the sides did to a memory or file."""
        our, their = self._facts
        return Stamps(ours=our.origin(name), theirs=their.origin(name))

    def recalled(self, id_: str) -> Recalled:
        """Return on which sides a memory was retrieved."""
        our, their = self._facts
        return Recalled(ours=id_ in our.recalled, theirs=id_ in their.recalled)

    def _gather(self, side: int, owner: Mapping[str, str]) -> None:
        files: dict[str, list[str]] = {}
        for path in sorted(owner):
            if owner[path] in self.units:
                files.setdefault(owner[path], []).append(path)
        for id_, paths in files.items():
            self.units[id_][side] = self._version(side, id_, paths)

    def _version(self, side: int, id_: str, paths: Sequence[str]) -> FileVersion | None:
        """Return a memory as one state has it; two files with one id are one memory."""
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
        """Give a file that cannot be read to the memory that stands there in another state."""
        free = [id_ for id_ in claims if self.units[id_][side] is None]
        versions = self.units[free[0]] if free else self.loose.setdefault(path, [None] * 3)
        versions[side] = FileVersion(path, self._data(side, path), None)

    def _data(self, side: int, path: str) -> bytes:
        """Read a file, from the base where the side has the same."""
        if side == 1:
            self.ours.append(path)
        return self._states[side if path in self._changed[side] else 0].files[path]


def owners(state: State) -> dict[str, str]:
    """Return the memory id by path, for second files of an id too."""
    found = {memory.path: id_ for id_, memory in state.memories.items()}
    for problem in state.problems:
        if problem.rule == "memory-same-id" and problem.path in state.files:
            memory, _ = codec.decode(problem.path, state.files[problem.path])
            if memory is not None and memory.id:
                found.setdefault(problem.path, memory.id)
    return found


def _changed(base: State, side: State, facts: Facts) -> set[str]:
    if facts.paths is not None:
        return set(facts.paths)
    return {
        path for path in {*base.files, *side.files} if base.files.get(path) != side.files.get(path)
    }
