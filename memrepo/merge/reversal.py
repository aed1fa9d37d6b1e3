"""Revert a change by joining end states: the states around the change, and the current one.

The base is the state after the change, our side is the current state, and their side is the state
before the change. Each memory is joined field by field, as the merge driver does
(`merge.versions`). Where both sides changed the same field, the current value stays.

Three cases need a decision (`RevertConflict`). `ours` retains the later work, and `theirs` reverts
it too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.corrections import Correction, correction_paths, decode
from memrepo.core.memory import FIELDS, Memory, references
from memrepo.core.state import Effect, State, Update, apply
from memrepo.merge import closure
from memrepo.merge.states import JoinedMemory, is_derived, place_memories
from memrepo.merge.tombstones import is_tombstone, sweep, tombstones_in
from memrepo.merge.versions import FileVersion, Side, join_versions, own_words

RevertConflictKind = Literal["edited-later", "text-overlaps", "depended-on"]
_AGEING = frozenset({"tier", "tier_since", "gist"})
"""Fields written by tier moves. Ageing does not count as an edit."""
_DECIDED_AS_ONE = ("supersedes", "superseded_by", "compressed_into")
"""Fields that link memories changed in one decision."""
_CONTESTED: Mapping[str, object] = {"standing": "contested"}


class RevertConflict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reason why a change cannot be reverted automatically.

    `edited-later`: the memory was edited after the operation created it, or was added again after
    the operation removed it. `text-overlaps`: later edits changed the same lines. `depended-on`: a
    later change refers to `on`, a memory that would be removed.
    """

    kind: RevertConflictKind
    memory: str
    path: str
    on: str = ""


class Reverted(msgspec.Struct, frozen=True, kw_only=True):
    """The state without the change, the file changes relative to HEAD, and the conflicts."""

    state: State
    effect: Effect
    clashes: tuple[RevertConflict, ...] = ()


def together(only: Collection[str], before: State, after: State) -> frozenset[str]:
    """Return the given memory ids, and those that an operation changed in the same decision.

    A supersession is reverted as a whole: if the replaced memory returns, its replacement is
    removed. The same applies to a summary that replaced other memories.
    """
    pairs: dict[str, set[str]] = {}
    for id_ in {*before.memories, *after.memories}:
        old, new = before.memories.get(id_), after.memories.get(id_)
        if old is new:
            continue
        for key in _DECIDED_AS_ONE:
            for other in _named(old, key) ^ _named(new, key):
                pairs.setdefault(id_, set()).add(other)
                pairs.setdefault(other, set()).add(id_)
    found, rest = set[str](), [*only]
    while rest:
        id_ = rest.pop()
        if id_ not in found:
            found.add(id_)
            rest += pairs.get(id_, ())
    return frozenset(found)


def _named(memory: Memory | None, key: str) -> set[str]:
    value = memory.fields.get(key) if memory is not None else None
    return {value} if isinstance(value, str) else {*(value or ())}


def revert_change(
    before: State,
    after: State,
    head: State,
    side: Side = "",
    *,
    only: Collection[str] = (),
    kept: Collection[str] = (),
    paths: Collection[str] | None = None,
) -> Reverted:
    """Return `head` without the change from `before` to `after`.

    `only` limits it to some memories. `kept` are files that stay as they are. `paths` are the files
    that the change wrote; if None, all files are compared.
    """
    if paths is None:
        paths = {
            p for p in {*before.files, *after.files} if before.files.get(p) != after.files.get(p)
        }
    spared: frozenset[str] = frozenset()
    while True:
        work = _Reversal(before, after, head, side, spared)
        work.revert_memories(paths, only)
        clashes = [*work.clashes, *work.dependents()]
        more = {c.on for c in clashes if c.kind == "depended-on"} - spared
        if side != "ours" or not more:
            break
        spared |= more
    work.revert_files({*paths} - {*kept}, only)
    done = work.finish()
    reported = () if side else tuple(sorted(clashes, key=lambda c: (c.kind, c.memory, c.on)))
    return Reverted(state=done, effect=work.effect(done), clashes=reported)


class _Reversal:
    """A revert in progress, whose state is mutable. Only this module uses it."""

    def __init__(
        self, before: State, after: State, head: State, side: Side, spared: frozenset[str]
    ) -> None:
        self.before, self.after, self.head = before, after, head
        self.side = side
        self.held: dict[str, Memory] = dict(head.memories)
        self.edits: dict[str, bytes | None] = {}
        self.clashes: list[RevertConflict] = []
        self.kept: set[str] = set(spared)

    def revert_memories(self, paths: Collection[str], only: Collection[str]) -> None:
        """Revert the changes to each memory."""
        sides = (self.before, self.after)
        ids = {i for s in sides for i, m in s.memories.items() if m.path in paths}
        joined: dict[str, JoinedMemory] = {}
        for id_ in sorted(ids & {*only} if only else ids):
            pre, post, now = (version_of(s, id_) for s in (*sides, self.head))
            if pre == post or id_ in self.kept:
                continue
            new = self._joined(id_, pre, post, now)
            if new != now:
                joined[id_] = JoinedMemory((now,), new)
                self.held.pop(id_, None)
        for id_, path in place_memories(self.edits, self.head, joined).items():
            new = joined[id_].merged
            if new is not None and new.memory is not None:
                self.held[id_] = replace(new.memory, path=path)

    def _joined(
        self,
        id_: str,
        pre: FileVersion | None,
        post: FileVersion | None,
        now: FileVersion | None,
    ) -> FileVersion | None:
        """Return the file of a memory without the change, or None if the memory is absent."""
        if now is None:
            return pre if post is None else None  # later work removed it
        if now == post:
            return pre
        if pre is None or post is None:
            if now == pre or (post is not None and not _is_edited(post, now)):
                return pre
            self.clashes.append(RevertConflict(kind="edited-later", memory=id_, path=now.path))
            if self.side != "theirs":
                self.kept.add(id_)
                return now
            return pre
        return self._fields_joined(id_, pre, post, now)

    def _fields_joined(
        self, id_: str, pre: FileVersion, post: FileVersion, now: FileVersion
    ) -> FileVersion | None:
        joined = join_versions(post, now, pre, ours_wins=True)
        version = joined.version
        if version is None or version.memory is None or pre.memory is None or now.memory is None:
            return now
        memory, data = version.memory, version.data
        if "body" in joined.lost:
            self.clashes.append(RevertConflict(kind="text-overlaps", memory=id_, path=now.path))
            if self.side == "theirs":
                memory = memory.with_fields({}, pre.memory.body)
        if memory.superseded_by and now.memory.status == "superseded" != memory.status:
            # Another memory replaced it as well.
            keys = ("status", "superseded_at")
            memory = memory.with_fields({key: now.memory.fields.get(key) for key in keys})
        if memory != version.memory:
            data = codec.edit(data, memory)
        path = pre.path if now.path == post.path else now.path
        return FileVersion(path, data, replace(memory, path=path))

    def dependents(self) -> Iterator[RevertConflict]:
        """Yield the conflicts caused by later references to memories that would be removed."""
        gone = self.head.memories.keys() - self.held.keys()
        for id_ in sorted(self.held if gone else ()):
            known = self.after.memories.get(id_)
            new = references(self.held[id_]) - (references(known) if known else frozenset())
            path = self.held[id_].path
            for on in sorted(new & gone):
                yield RevertConflict(kind="depended-on", memory=id_, path=path, on=on)

    def revert_files(self, paths: Collection[str], only: Collection[str]) -> None:
        """Revert files other than memories, unless a later commit changed the file.

        If only some memories are reverted, so are the decisions about no other memories.
        """
        owned = {m.path for s in (self.before, self.after) for m in s.memories.values()}
        layout = self.head.layout
        for path in sorted({*paths} - owned):
            if not layout.owns(path) or is_derived(layout, path):
                continue
            if only and not self._is_about(path, only):
                continue
            if self.head.files.get(path) == self.after.files.get(path):
                self.edits[path] = self.before.files.get(path)

    def _is_about(self, path: str, only: Collection[str]) -> bool:
        """Return whether a file is a decision that concerns only the selected memories."""
        if is_tombstone(self.head.layout, path):
            return any(
                stone.memory in only
                for s in (self.before, self.after)
                if (stone := tombstones_in(s).found.get(path.rpartition("/")[2][:-3]))
            )
        if not correction_paths([path], self.head.layout):
            return False
        files = self.before.files if path in self.before.files else self.after.files
        case = decode(path, files[path])
        return isinstance(case, Correction) and {*only}.issuperset(case.memories)

    def finish(self) -> State:
        """Return the final state, after applying rejections and removing broken references."""
        draft = State(
            layout=self.head.layout,
            files=self.head.files.edited(self.edits),
            memories=MappingProxyType(self.held),
            problems=tuple(p for p in self.head.problems if p.path not in self.edits),
        )
        draft = apply(draft, self._contested(draft))
        draft = apply(draft, sweep(draft))
        updates, _ = closure.close(draft, closure.known_in(self.head, self.before))
        return apply(draft, updates)

    def _contested(self, draft: State) -> Iterator[Update]:
        """Mark a replacement and the restored memories as contested. Remove their supersession."""
        for id_ in sorted(self.kept & draft.memories.keys()):
            heir = draft.memories[id_]
            back = [
                old
                for old in heir.supersedes
                if old in draft.memories and id_ not in draft.memories[old].superseded_by
            ]
            if back:
                rest = tuple(old for old in heir.supersedes if old not in back)
                yield Update(id=id_, fields={"supersedes": rest or None, **_CONTESTED})
                yield from (Update(id=old, fields=_CONTESTED) for old in back)

    def effect(self, done: State) -> Effect:
        """Return the changes of files relative to HEAD."""
        paths = {
            *self.edits,
            *(m.path for i, m in done.memories.items() if self.head.memories.get(i) is not m),
        }
        found = ((p, done.files.get(p)) for p in sorted(paths))
        return {p: d for p, d in found if d != self.head.files.get(p)}


def version_of(state: State, id_: str) -> FileVersion | None:
    """Return the file of a memory in a state, or None if the state lacks the memory."""
    memory = state.memories.get(id_)
    return FileVersion(memory.path, state.files[memory.path], memory) if memory else None


def _is_edited(post: FileVersion, now: FileVersion) -> bool:
    """Return whether a memory differs by anything except ageing, foreign keys included.

    A supersession that was reverted by itself is no edit: the memory only lost its predecessors.
    """
    if post.memory is None or now.memory is None:
        return True
    old, new = post.memory, now.memory
    lost = {*new.supersedes} < {*old.supersedes}
    ignored = _AGEING | {"supersedes"} if lost else _AGEING
    fields = (c.name for c in FIELDS if c.name not in ignored)
    same = all(old.fields.get(name) == new.fields.get(name) for name in fields)
    return (
        not same
        or (old.path, old.body) != (new.path, new.body)
        or own_words(post) != own_words(now)
    )
