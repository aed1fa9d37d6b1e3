"""Merging of a clone's history with the hub's, in one commit.

Git merges the trees. Memories that both sides changed or moved are merged field by field, as the
merge driver does, and pages are rendered again. The hub's tip is the first parent, so that the
first-parent line is the same in every clone. This module neither moves the branch nor accesses
the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from memrepo.actions.landing import hot_rules
from memrepo.actions.work import OtherFormat, Work
from memrepo.config import FORMAT, Config, parse_config
from memrepo.core.changes import Plan, Step
from memrepo.core.ids import visible
from memrepo.core.messages import counted, message
from memrepo.core.problems import Problem
from memrepo.core.state import Effect, State, apply, play
from memrepo.merge import closure
from memrepo.merge.files import is_derived, join_file
from memrepo.merge.states import (
    JoinedMemory,
    id_at,
    place_memories,
    reread,
    unread_version,
    versions_of,
)
from memrepo.merge.tombstones import sweep
from memrepo.merge.versions import (
    FileVersion,
    MergeConflict,
    Origin,
    RecalledSides,
    Stamps,
    join_versions,
)
from memrepo.store import history
from memrepo.store.errors import CannotWork, problem
from memrepo.store.git import FILES, TreeEntry
from memrepo.store.ledger import ledger_of
from memrepo.store.remote import Side, TreeMerge, count, last_commit, merge_texts, merge_trees
from memrepo.store.stream import SYNC, Chain, NewCommit
from memrepo.store.tree import is_text, read_blob
from memrepo.views.hot import hot_changes
from memrepo.views.pages import render_views

_MACHINE_AREAS = ("sources", "candidates", "runs")
"""Folders that programs write. A removal there never needs a person's decision."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that both sides changed, and its current path, which is empty if it was removed."""

    id: str
    path: str


class MergeClash(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict that a person must decide: one side removed or rewrote what the other changed.

    `ours` and `theirs` are the last commits of each side that changed it.
    """

    kind: str
    memory: str
    path: str
    ours: str
    theirs: str


class PreparedMerge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge that is ready to be written, or the conflicts that prevent it."""

    chain: Chain | None
    merged: tuple[Merged, ...] = ()
    problems: tuple[Problem, ...] = ()
    clashes: tuple[MergeClash, ...] = ()


def join(work: Work, hub: str, name: str, *, taken: Side = "", reason: str = "") -> PreparedMerge:
    """Merge this clone's HEAD onto the hub's tip. The side `taken` wins all conflicts.

    Raises CannotWork or OtherFormat.
    """
    store, head = work.store, work.tree.commit
    bases = sorted(store.common_ancestors([head, hub]))
    if work.tree.layout.config not in store.snapshot(hub).files:
        raise CannotWork("no-config", name=name, config=work.tree.layout.config)
    merge = _Merge(work, bases, hub, taken)
    merge.run()
    if merge.clashes:
        return PreparedMerge(chain=None, clashes=tuple(map(merge.clash, merge.clashes)))
    state = merge.state()
    config = _config(state)
    swept = tuple(sweep(state))
    clean = apply(state, swept)
    repairs, repaired = closure.close(clean, closure.known_in(*merge.states[1:]))
    final = apply(clean, repairs)
    pages = (*render_views(final, config.pages), *hot_changes(final, hot_rules(work)))
    step = Step(op="sync", what="", changes=(*swept, *repairs, *pages))
    effects, after = play(state, Plan(base=hub, steps=(step,)))
    files = {**merge.edits, **effects[0].files}
    known = after.memories
    merged = tuple(
        Merged(id=i, path=known[i].path if i in known else "") for i in sorted(merge.ids)
    )
    return PreparedMerge(
        chain=_chain(work, merge, Effect(files=files), reason),
        merged=merged,
        problems=(
            *merge.problems,
            *(finding.problem for finding in repaired),
            *merge.forgotten(after),
        ),
    )


class _Merge:
    """A merge in progress: the hub's side is first, and this clone's second.

    `picks` are the entries that git merged, `edits` the files that were merged by content, and
    `ids` the memories among them.
    """

    def __init__(self, work: Work, bases: Sequence[str], hub: str, taken: Side) -> None:
        store = work.store
        self.work, self.bases, self.tips, self.taken = work, bases, (hub, work.tree.commit), taken
        states = [store.snapshot(commit).state() for commit in (bases[0], *self.tips)]
        self.states: tuple[State, State, State] = (states[0], states[1], states[2])
        self.layout = states[1].layout
        self.tree: TreeMerge = merge_trees(store.repo, bases, *self.tips)
        self.picks: dict[str, TreeEntry | None] = dict(self.tree.picks)
        self.edits: dict[str, bytes | None] = {}
        self.ids: set[str] = set()
        self.joined: dict[str, JoinedMemory] = {}
        self.clashes: list[MergeConflict] = []
        self.problems: list[Problem] = []

    def run(self) -> None:
        """Merge what git left open, and then the memories that both sides moved."""
        ids = set[str]()
        for path, versions in self.tree.open.items():
            if sum(version is not None for version in versions) == 1 and versions[0] is None:
                raise CannotWork("file-and-folder", path=visible(path))
            if not self._is_ours(path, versions):
                self._join_foreign(path, versions)
            elif not self.layout.is_memory(path):
                self._join_file(path)
            elif found := {i for state in self.states if (i := id_at(state, path))}:
                ids |= found
            else:
                self._join_memory("", [unread_version(state, path) for state in self.states])
        for id_ in sorted(ids):
            self._join_memory(id_, versions_of(self.states, id_))
        place_memories(self.edits, self.states, self.joined)
        self.joined = {}
        for id_ in sorted(self._moved_twice() - self.ids):
            self._join_memory(id_, versions_of(self.states, id_))
        place_memories(self.edits, self.states, self.joined)

    def state(self) -> State:
        """Return the merged state, before pages are rendered."""
        edits = {
            path: read_blob(self.work.store.repo, pick.id) if pick is not None else None
            for path, pick in self.picks.items()
            if path not in self.edits and self._is_ours(path, (pick,))
        }
        return reread(self.states[1], {**edits, **self.edits})

    def clash(self, conflict: MergeConflict) -> MergeClash:
        """Describe a conflict for a person, with the last commit of each side."""
        paths = [s.memories[conflict.id].path for s in self.states if conflict.id in s.memories]
        hub, here = (
            last_commit(self.work.store.repo, tip, self.bases, conflict.path, *paths)
            for tip in self.tips
        )
        return MergeClash(
            kind=conflict.kind, memory=conflict.id, path=conflict.path, ours=here, theirs=hub
        )

    def forgotten(self, after: State) -> Iterator[Problem]:
        """Yield a notice for each memory that one side forgot while the other changed it."""
        for id_ in sorted(self.ids & after.memories.keys()):
            sides = [s.memories[id_].status for s in self.states if id_ in s.memories]
            if after.memories[id_].status == "forgotten" and set(sides[1:]) != {"forgotten"}:
                yield problem("sync-forgotten", after.memories[id_].path, id=id_)

    def _is_ours(self, path: str, versions: Iterable[TreeEntry | None]) -> bool:
        """Return whether a path is a file of memrepo, and a regular file on each side."""
        regular = all(v is None or v.mode in FILES for v in versions)
        return regular and self.layout.owns(path) and is_text(path)

    def _moved_twice(self) -> set[str]:
        """Return the memories that the merge left in two files, because both sides moved them."""
        found = set[str]()
        for one in self.state().problems:
            if one.rule != "memory-same-id":
                continue
            id_ = next((i for state in self.states[1:] if (i := id_at(state, one.path))), "")
            sides = {s.memories[id_].path for s in self.states[1:] if id_ in s.memories}
            if len(sides) == 2:
                found.add(id_)
        return found

    def _join_memory(self, id_: str, versions: Sequence[FileVersion | None]) -> None:
        base, first, second = versions
        paths = {version.path for version in versions if version is not None}
        joined = join_versions(
            base, first, second, self._stamps(paths), recalled=self._recalled(id_)
        )
        version = joined.version
        if clashing := [c for c in joined.conflicts if c.kind == "removed-and-edited"]:
            if not self.taken:
                self.clashes += clashing
                return
            version = second if self.taken == "ours" else first
        self.ids |= {id_} - {""}
        self.joined[id_ or min(paths)] = JoinedMemory(versions, version)
        if joined.kept:
            self._lost(version.path if version is not None else min(paths))

    def _join_file(self, path: str) -> None:
        if is_derived(self.layout, path):
            return
        base, first, second = (state.files.get(path) for state in self.states)
        joined = join_file(self.layout, path, base, first, second, self._stamps({path}))
        data = joined.data
        if joined.conflict is not None and self._decides(path, joined.conflict):
            if not self.taken:
                self.clashes.append(MergeConflict(kind=joined.conflict, path=path))
                return
            data = second if self.taken == "ours" else first
        self.edits[path] = data
        if joined.lost is not None:
            self._lost(path)

    def _decides(self, path: str, kind: str) -> bool:
        """Return whether a person must decide, rather than the newer version being used."""
        if kind == "removed-and-edited":
            return not path.startswith(tuple(map(self.layout.area, _MACHINE_AREAS)))
        return kind == "manifest-differs" or path == self.layout.config

    def _join_foreign(self, path: str, versions: Sequence[TreeEntry | None]) -> None:
        base, first, second = versions
        text = merge_texts(self.work.store.repo, base, first, second)
        if text is not None:
            self.edits[path] = text
        elif self.taken == "ours":
            self.picks[path] = second
        elif not self.taken:
            self.clashes.append(MergeConflict(kind="both-changed", path=path))

    def _lost(self, path: str) -> None:
        hub, here = (tip[:10] for tip in self.tips)
        self.problems.append(problem("sync-gave-way", path, name=path, here=here, hub=hub))

    def _stamps(self, paths: Iterable[str]) -> Stamps:
        first, second = (self._origin(tip, paths) for tip in self.tips)
        return Stamps(ours=first, theirs=second)

    def _origin(self, tip: str, paths: Iterable[str]) -> Origin:
        """Return the date of a side's last change to one of the paths, and if a person made it."""
        span = ("-1", "--topo-order", "--no-merges", tip, *(f"^{base}" for base in self.bases))
        for entry in history.entries(self.work.store.repo, *span, "--", *sorted(paths)):
            is_human = entry.trailer("Actor").startswith("human:")
            person = is_human if entry.trailer("Op") else self._is_person(entry.email)
            return Origin(committed=entry.when, person=person)
        return Origin()

    def _is_person(self, email: str) -> bool:
        return email in self.work.config.human_authors

    def _recalled(self, id_: str) -> RecalledSides:
        """Return whether a memory was retrieved since both sides had the same history."""
        last = ledger_of(self.work.store).accesses().of(id_).last
        used = last is not None and last > self.work.store.commit_time(self.bases[0])
        return RecalledSides(ours=used, theirs=used)


def _config(state: State) -> Config:
    config = parse_config(state.files[state.layout.config].decode("utf-8", "replace"))
    if config.read_only:
        raise OtherFormat(config.format, FORMAT)
    return config


def _chain(work: Work, merge: _Merge, effect: Effect, reason: str) -> Chain:
    store, (hub, head) = work.store, merge.tips
    here, there = count(store.repo, head, hub), count(store.repo, hub, head)
    step = Step(
        op="sync",
        what=f"Merge {counted(here, 'commit', 'commits')} of this clone and {there} of the hub",
        reason=reason,
        memories=tuple(sorted(merge.ids)),
    )
    commit = NewCommit(message=message(step, work.context()), effect=effect, picks=merge.picks)
    when = store.not_before(store.not_before(work.call.now, hub), head)
    return Chain(base=head, first=hub, author=SYNC, when=when, commits=[commit])
