"""The facts from history that the revert of an operation requires.

`merge.takeback` computes the revert without access to the repository. This module reads the states
around the operation, the writes of later commits, and the later steps that depend on the operation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import refuse_lifting
from memrepo.actions.landing import derived_contents
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.changes import BULK_OPS, Update
from memrepo.core.memory import Memory, references
from memrepo.core.state import Effect, State, apply
from memrepo.merge.takeback import (
    Later,
    Operation,
    RevertConflict,
    Reverted,
    Side,
    take_back,
    written,
)
from memrepo.merge.tombstones import (
    Tombstones,
    is_tombstone,
    path_of,
    tombstone_bytes,
    tombstones_in,
    turned,
)
from memrepo.merge.versions import FileVersion, own_words
from memrepo.store import history
from memrepo.store.history import CommitDiff, diffs_between
from memrepo.store.tree import Snapshot, read_blob


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """An operation to revert: the commits around it, and the part of it to revert.

    `only` limits the revert to some memories. `kept` has files that are not reverted, such as a
    manifest whose input stays consumed. `merge` is set if a person amended the merge commit, since
    the amendment counts as later work. `landing` is the commit that names the operation.
    """

    before: str
    after: str
    only: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    merge: str = ""
    landing: str = ""


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """A computed revert: changed files, conflicts, and the later steps that are reverted with it.

    `left` is the resulting state, or the snapshot whose whole tree is restored.
    """

    left: State | Snapshot
    effect: Effect
    clashes: tuple[RevertConflict, ...]
    also: tuple[history.LogEntry, ...] = ()

    @property
    def state(self) -> State:
        """Return the state after the revert. For a snapshot, this reads its memories."""
        return self.left if isinstance(self.left, State) else self.left.state()

    @property
    def stones(self) -> Tombstones:
        """Return the tombstones in the state after the revert."""
        return tombstones_in(self.left) if isinstance(self.left, State) else self.left.stones


class _Past(msgspec.Struct):
    """The writes after an operation. Each span is read once, and memories are cached by blob."""

    work: Work
    spans: dict[str, list[CommitDiff]] = msgspec.field(default_factory=dict)
    decoded: dict[tuple[str, str], Memory | None] = msgspec.field(default_factory=dict)

    def after(self, commit: str) -> list[CommitDiff]:
        if commit not in self.spans:
            found: list[CommitDiff] = []
            for wrote in diffs_between(self.work.store.repo, commit, self.work.tree.commit):
                undone = next((one for one in reversed(found) if wrote.is_revert_of(one)), None)
                if undone is None:
                    found.append(wrote)
                else:
                    found.remove(undone)
            self.spans[commit] = found
        return self.spans[commit]

    def amended(self, taken: Taken) -> Iterator[CommitDiff]:
        """Yield the changes that a merge commit contains in addition to the merged operation."""
        if taken.merge:
            changed = self.work.store.work.changed(taken.after, taken.merge)
            sides = {path: (side.old, side.new) for path, side in changed.items()}
            yield CommitDiff(commit=taken.merge, blobs=sides)

    def parts(self, taken: Taken) -> frozenset[str]:
        """Return later commits that reverted parts of the operation, as these are not edits."""
        repo = self.work.store.repo
        span = {wrote.commit for wrote in self.after(taken.after)}
        inside = {wrote.commit for wrote in diffs_between(repo, taken.before, taken.after)}
        inside |= {taken.after, taken.landing}
        return frozenset(
            entry.commit
            for entry in history.revert_commits(repo, self.work.tree.commit)
            if entry.commit in span and inside.issuperset(entry.trailers.get("Reverts", ()))
        )

    def cancelled(self, commit: str) -> dict[str, frozenset[str | None]]:
        """Return the later commits that cancel each other out, and the memories affected.

        A commit and its revert together change nothing. None among the memories stands for other
        files.
        """
        repo = self.work.store.repo
        span = {wrote.commit for wrote in self.after(commit)}
        found: dict[str, frozenset[str | None]] = {}
        for entry in history.revert_commits(repo, self.work.tree.commit):
            gone = found.get(entry.commit, frozenset())
            if None in gone or entry.commit not in span:
                continue
            ids: frozenset[str | None] = frozenset(entry.trailers.get("Memory", ())) - gone
            for target in entry.trailers.get("Reverts", ()):
                chain = history.chain_of(repo, target)
                if not span.issuperset(e.commit for e in chain):
                    continue
                written_ids = {i for e in chain for i in e.trailers.get("Memory", ())}
                both = ids | {None} if ids >= written_ids else ids
                for other in (entry, *chain):
                    found[other.commit] = found.get(other.commit, frozenset()) | both
        return found

    def memory(self, path: str, blob: str) -> Memory | None:
        if not blob:
            return None
        if (path, blob) not in self.decoded:
            data = read_blob(self.work.store.repo, blob)
            self.decoded[path, blob] = codec.decode(path, data)[0]
        return self.decoded[path, blob]

    def pairs(
        self, wrote: CommitDiff, tails: frozenset[str]
    ) -> Iterator[tuple[str, Memory | None, Memory | None, bool]]:
        """Yield (id, before, after, own) for each memory that a commit wrote or moved.

        `own` is set if the commit changed keys or comments that a person wrote.
        """
        sides: tuple[dict[str, FileVersion], dict[str, FileVersion]] = ({}, {})
        for path, blobs in wrote.blobs.items():
            if self.work.tree.layout.is_memory(path) and path[-9:-3] in tails:
                for side, blob in zip(sides, blobs, strict=True):
                    memory = self.memory(path, blob)
                    if memory is not None:
                        data = read_blob(self.work.store.repo, blob)
                        side[memory.id] = FileVersion(path, data, memory)
        for id_ in {*sides[0], *sides[1]}:
            old, new = (side.get(id_) for side in sides)
            own = old is not None and new is not None and own_words(old) != own_words(new)
            yield id_, old.memory if old else None, new.memory if new else None, own


def restored(work: Work, taken: Taken) -> Undone | None:
    """Return the revert of the latest operation, restoring the whole tree byte for byte.

    Return None if the operation changed tombstones or removed a rejected memory. Then each memory
    needs a separate decision.
    """
    stones, before = work.tree.stones, work.store.snapshot(taken.before)
    changed = work.store.work.changed(taken.before, taken.after)
    if any(is_tombstone(work.tree.layout, path) for path in changed):
        return None
    coming = (m for m in before.state().memories.values() if m.path in changed) if stones else ()
    if any(m.status != "forgotten" and stones.bar(m) is not None for m in coming):
        return None
    wanted = {path: sides for path, sides in changed.items() if path not in taken.kept}
    there = [(p, s.old) for p, s in wanted.items() if s.old and before.files.holds(p, s.mode)]
    data = {p: d for (p, _), d in zip(there, before.files.each(there), strict=True)}
    files = {path: data.get(path) for path in wanted}
    return Undone(left=before, effect=Effect(files=files), clashes=())


def undo(
    work: Work, taken: Taken, side: Side, *, dependents: bool, at: datetime, by: str
) -> Undone:
    """Compute the revert of an operation on top of HEAD, without writing anything.

    With `dependents`, later steps that refer to a vanishing memory are reverted first. `by` and
    `at` sign the tombstones that the revert lifts or restores.
    """
    past, also = _Past(work), list[Taken]()
    entries: list[history.LogEntry] = []
    stones = _tombstones(work, taken, by=by, at=at)
    state = work.tree.state()
    head = replace(state, files=state.files.edited(stones)) if stones else state
    while True:
        done = _in_order(past, head, [taken, *also], side)
        news = _dependents(past, taken, done.clashes) if dependents else []
        news = [e for e in news if e.commit not in {t.after for t in also}]
        if not news:
            break
        entries += news
        holders = frozenset(c.memory for c in done.clashes if c.kind == "depended-on")
        also += [
            Taken(
                before=entry.parents[0],
                after=entry.commit,
                # For a bulk commit or a commit by hand, revert only the dependent memories.
                only=frozenset() if entry.trailer("Op") and entry.op not in BULK_OPS else holders,
            )
            for entry in news
        ]
    if stones:
        done = _raised(done, state)
    return Undone(
        effect=Effect(files={**stones, **done.effect.files, **derived_contents(work, done.state)}),
        left=done.state,
        clashes=done.clashes,
        also=tuple(entries),
    )


def _in_order(past: _Past, head: State, every: Sequence[Taken], side: Side) -> Reverted:
    """Revert several operations, newest first.

    Each revert ignores the writes of those reverted before it.
    """
    place = {w.commit: n for n, w in enumerate(past.after(every[0].before))}
    gone: set[str] = set()
    paths: set[str] = set()
    state, clashes = head, list[RevertConflict]()
    for taken in sorted(every, key=lambda t: -place.get(t.after, -1)):
        done = take_back(_operation(past, taken, gone), state, side)
        state = done.state
        clashes += done.clashes
        paths |= done.effect.files.keys()
        gone.add(taken.after)
    files = {p: state.files.get(p) for p in sorted(paths)}
    changed = {p: data for p, data in files.items() if data != head.files.get(p)}
    return Reverted(state=state, effect=Effect(files=changed), clashes=tuple(clashes))


def _operation(past: _Past, taken: Taken, gone: Collection[str]) -> Operation:
    store = past.work.store
    before = store.snapshot(taken.before).state()
    after = store.snapshot(taken.after).state()
    changed = store.work.changed(taken.before, taken.after)
    ids = {i for s in (before, after) for i, m in s.memories.items() if m.path in changed}
    tails = frozenset(
        m.path[-9:-3] for s in (before, after) for i, m in s.memories.items() if i in ids
    ) | {i[4:10] for i in ids}
    later: dict[str, Later] = {}
    paths: set[str] = set()
    without, parts = past.cancelled(taken.after), past.parts(taken)
    for wrote in (*past.amended(taken), *past.after(taken.after)):
        if wrote.commit in gone:
            continue
        nothing = without.get(wrote.commit, frozenset())
        if None not in nothing:
            paths |= wrote.blobs.keys()
        for id_, old, new, own in past.pairs(wrote, tails):
            if id_ in ids and id_ not in nothing:
                wrote_here = written(old, new, own=own)
                if wrote.commit in parts:
                    wrote_here = replace(wrote_here, any=False)
                later[id_] = later.get(id_, Later()).then(wrote_here)
    return Operation(
        before=before,
        after=after,
        only=taken.only,
        kept=taken.kept,
        later=later,
        later_paths=frozenset(paths),
        paths=frozenset(changed),
    )


def _dependents(
    past: _Past, taken: Taken, clashes: Sequence[RevertConflict]
) -> list[history.LogEntry]:
    """Return the later commits that added a reference to a memory that the revert would remove."""
    wanted = [c for c in clashes if c.kind == "depended-on"]
    tails = frozenset(c.path[-9:-3] for c in wanted) | {c.memory[4:10] for c in wanted}
    found: list[str] = []
    for wrote in past.after(taken.after) if wanted else ():
        for id_, old, new, _ in past.pairs(wrote, tails):
            added = references(new) if new else frozenset()
            added -= references(old) if old else frozenset()
            if any(c.memory == id_ and c.on in added for c in wanted):
                found.append(wrote.commit)
    repo = past.work.store.repo
    return [next(iter(history.entries(repo, "-1", commit))) for commit in dict.fromkeys(found)]


def _tombstones(work: Work, taken: Taken, *, by: str, at: datetime) -> dict[str, bytes]:
    """Return the tombstone files that a revert writes: new ones lifted, and lifted ones restored.

    A tombstone is never deleted. A tombstone that was decided again since then is not changed.
    """
    layout, store = work.tree.layout, work.store
    changed = store.work.changed(taken.before, taken.after)
    if not any(is_tombstone(layout, path) for path in changed):
        return {}
    before = tombstones_in(store.snapshot(taken.before).state()).found
    after = tombstones_in(store.snapshot(taken.after).state()).found
    files: dict[str, bytes] = {}
    for key, stone in after.items():
        here = tombstones_in(work.tree.state()).found.get(key)
        was = before[key].state if key in before else "lifted"
        concerned = not taken.only or stone.memory in taken.only
        if here is not None and was != stone.state and here.epoch == stone.epoch and concerned:
            if was == "lifted":
                refuse_lifting([here], by)
            back = turned(here, was, by=by, at=at, reason="")
            files[path_of(layout, key)] = tombstone_bytes(back)
    return files


def _raised(done: Reverted, head: State) -> Reverted:
    """Return a revert in which memories freed from a tombstone get a higher epoch.

    `unreject` raises the epoch in the same way.
    """
    updates = [
        Update(id=memory.id, fields={"status_epoch": old.fields.get("status_epoch", 0) + 1})
        for memory in done.state.memories.values()
        if (old := head.memories.get(memory.id)) is not None
        and old.status == "forgotten" != memory.status
        and old.fields.get("status_epoch", 0) >= memory.fields.get("status_epoch", 0)
    ]
    state = apply(done.state, updates)
    paths = {*done.effect.files, *(state.memories[u.id].path for u in updates)}
    return replace(
        done, state=state, effect=Effect(files={p: state.files.get(p) for p in sorted(paths)})
    )
