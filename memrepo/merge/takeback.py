"""Revert an operation by field, by list element and by line of text.

This is not a reverse merge. A merge compares end states, but a revert must know who wrote last.
Values not written since the operation return to their old value. Values written by a later commit
remain, even if that commit wrote an equal value. Later writes are therefore read from each later
commit (`Later`), and never derived from the end states. Only three cases are conflicts
(`RevertConflict`). All others have one result.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.changes import Update
from memrepo.core.corrections import Correction, correction_paths, decode
from memrepo.core.memory import Memory, references
from memrepo.core.schema import FIELDS, Field
from memrepo.core.state import Effect, State, apply
from memrepo.merge import closure
from memrepo.merge.files import is_derived
from memrepo.merge.states import sweep
from memrepo.merge.tombstones import is_tombstone
from memrepo.merge.versions import FileVersion, MergedText, join_bytes, keyed, merge_text

RevertConflictKind = Literal["edited-later", "text-overlaps", "depended-on"]
Side = Literal["", "ours", "theirs"]
PATH = "@path"
"""Used as a field name if a commit moved the file."""
_STATUS = frozenset({"status", "status_epoch"})
_AGEING = frozenset({"tier", "tier_since", "tier_written", "gist"})
"""Fields written by tier moves. Ageing does not count as an edit."""
_DECIDED_AS_ONE = ("supersedes", "superseded_by", "compressed_into")
"""Fields that link memories changed in one decision."""


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """The changes made to one memory by commits after the reverted operation.

    `whole` is true if the memory was removed or added, so that all of it is later work. `any` is
    true if anything except tier fields was written, including foreign keys and comments. `elements`
    contains, for fields merged as sets, the keys added, removed or changed. `bodies` contains each
    (before, after) of the text in order.
    """

    any: bool = False
    whole: bool = False
    fields: frozenset[str] = frozenset()
    elements: Mapping[str, frozenset[Hashable]] = msgspec.field(default_factory=dict)
    bodies: tuple[tuple[str, str], ...] = ()

    def then(self, other: Later) -> Later:
        """Combine these changes with the changes of a later commit."""
        names = {*self.elements, *other.elements}
        none: frozenset[Hashable] = frozenset()
        return Later(
            any=self.any or other.any,
            whole=self.whole or other.whole,
            fields=self.fields | other.fields,
            elements={n: self.elements.get(n, none) | other.elements.get(n, none) for n in names},
            bodies=(*self.bodies, *other.bodies),
        )


def written(before: Memory | None, after: Memory | None, *, own: bool = False) -> Later:
    """Return the changes made to a memory by one commit. None means that the memory was absent.

    `own` is true if the commit changed foreign keys or comments, which a Memory does not contain.
    """
    if before is None or after is None:
        return Later(any=before is not after, whole=before is not after)
    fields: set[str] = set()
    elements: dict[str, frozenset[Hashable]] = {}
    for column in FIELDS:
        old, new = (m.fields.get(column.name, column.default) for m in (before, after))
        if old == new:
            continue
        fields.add(column.name)
        if column.merge == "set3":
            one, other = keyed(column.name, old or ()), keyed(column.name, new or ())
            elements[column.name] = frozenset(
                k for k in {*one, *other} if one.get(k) != other.get(k)
            )
    if fields & _STATUS:
        fields |= _STATUS  # both always change together
    bodies = ((before.body, after.body),) if before.body != after.body else ()
    if before.path != after.path:
        fields.add(PATH)
    return Later(
        any=bool(fields - _AGEING or bodies or own),
        fields=frozenset(fields),
        elements=elements,
        bodies=bodies,
    )


_UNTOUCHED = Later()


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


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation to revert: the states before and after it, and the selected memories.

    `only` limits the revert to some memories. `kept` are files that are not reverted, such as a
    manifest whose input stays processed. `later` has the changes of later commits by memory id, and
    `later_paths` the files they changed. `paths` are the files that the operation changed. If None,
    all files are read and compared.
    """

    before: State
    after: State
    only: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    later: Mapping[str, Later] = msgspec.field(default_factory=dict)
    later_paths: Collection[str] = frozenset()
    paths: Collection[str] | None = None


class Reverted(msgspec.Struct, frozen=True, kw_only=True):
    """The state without the operation, the file changes relative to HEAD, and the conflicts."""

    state: State
    effect: Effect
    clashes: tuple[RevertConflict, ...] = ()


def take_back(operation: Operation, head: State, side: Side = "") -> Reverted:
    """Revert an operation on top of a later state.

    On a conflict, `ours` keeps the later work: the edited memory, the changed lines, or the memory
    that others refer to. `theirs` reverts it as well.
    """
    spared: frozenset[str] = frozenset()
    while True:
        work = _Work(operation, head, side, spared)
        work.memories()
        clashes = [*work.clashes, *work.dependents()]
        more = {c.on for c in clashes if c.kind == "depended-on"} - spared
        if side != "ours" or not more:
            break
        spared |= more
    work.files()
    done = work.finish()
    reported = () if side else tuple(sorted(clashes, key=lambda c: (c.kind, c.memory, c.on)))
    return Reverted(state=done, effect=work.effect(done), clashes=reported)


class _Work:
    """A revert in progress, whose state is mutable. Only this module uses it."""

    def __init__(
        self, operation: Operation, head: State, side: Side, spared: frozenset[str]
    ) -> None:
        self.op = operation
        self.head = head
        self.side = side
        self.spared = spared
        self.held: dict[str, Memory] = dict(head.memories)
        self.edits: dict[str, bytes | None] = {}
        self.clashes: list[RevertConflict] = []
        self.kept: set[str] = set(spared)
        self.coming: list[tuple[str, str, bytes]] = []

    def memories(self) -> None:
        """Revert the changes to each memory. The path of a removed memory can be reused."""
        pre, post = self.op.before.memories, self.op.after.memories
        selected = self.op.only or {*pre, *post}
        removed: list[str] = []
        for id_ in sorted(selected & {*pre, *post}):
            if pre.get(id_) is post.get(id_) or self._same(id_) or id_ in self.spared:
                continue
            if pre.get(id_) is None:
                self._made(id_)
            elif post.get(id_) is None:
                removed.append(id_)
            elif id_ in self.held:
                self._changed(id_, pre[id_], post[id_])
        for id_ in removed:
            self._removed(id_)
        for id_, path, data in self.coming:
            place = self._free(path)
            self.edits[place] = data
            self.held[id_] = replace(self.held[id_], path=place)

    def _same(self, id_: str) -> bool:
        old, new = self.op.before.memories.get(id_), self.op.after.memories.get(id_)
        if old is None or new is None or old != new:
            return False
        return self.op.before.files[old.path] == self.op.after.files[new.path]

    def _clash(self, kind: RevertConflictKind, id_: str) -> None:
        self.clashes.append(RevertConflict(kind=kind, memory=id_, path=self.held[id_].path))

    def _made(self, id_: str) -> None:
        """Remove a memory created by the operation, unless the memory was edited later."""
        if id_ not in self.held:
            return
        if self.op.later.get(id_, _UNTOUCHED).any:
            self._clash("edited-later", id_)
            if self.side != "theirs":
                self.kept.add(id_)
                return
        self.edits[self.held.pop(id_).path] = None

    def _removed(self, id_: str) -> None:
        """Restore a memory removed by the operation, unless the memory was added again later.

        If it was added again and is absent now, later work removed it, and it is not restored.
        """
        old = self.op.before.memories[id_]
        if id_ not in self.held and self.op.later.get(id_, _UNTOUCHED).whole:
            return
        if id_ in self.held:
            self._clash("edited-later", id_)
            if self.side != "theirs":
                return
            self.edits[self.held.pop(id_).path] = None
        self.held[id_] = old
        self.coming.append((id_, old.path, self.op.before.files[old.path]))

    def _changed(self, id_: str, pre: Memory, post: Memory) -> None:
        """Revert each field that the operation changed in a memory."""
        head, later = self.held[id_], self.op.later.get(id_, _UNTOUCHED)
        if later.whole:
            return
        data = self._data(head.path)
        text = _text_back(pre.body, post.body, head.body, later)
        body = codec.normal_body(text.text)
        if text.overlap:
            self._clash("text-overlaps", id_)
            body = pre.body if self.side == "theirs" else head.body
        fields = {
            c.name: _value_back(
                c,
                pre.fields.get(c.name, c.default),
                post.fields.get(c.name, c.default),
                head.fields.get(c.name, c.default),
                later,
            )
            for c in FIELDS
        }
        _whole(fields, head)
        values = {c.name: v for c in FIELDS if (v := fields[c.name]) != c.default}
        memory = replace(head, fields=values, body=body)
        old, new = self.op.before.files[pre.path], self.op.after.files[post.path]
        written = (
            old
            if data == new and not later.any
            else _bytes(
                FileVersion(post.path, new, post),
                FileVersion(pre.path, old, pre),
                FileVersion(head.path, data, head),
                memory,
            )
        )
        self.held[id_] = memory
        if pre.path != post.path and PATH not in later.fields:
            self.edits[head.path] = None
            self.coming.append((id_, pre.path, written))
        else:
            self.edits[head.path] = written

    def _data(self, path: str) -> bytes:
        found = self.edits.get(path)
        return self.head.files[path] if found is None else found

    def _free(self, path: str) -> str:
        """Return the given path, or a numbered variant if another memory has the path now."""
        files = self.head.files.edited(self.edits)
        return State(layout=self.head.layout, files=files, memories={}).free_path(Memory(path=path))

    def dependents(self) -> list[RevertConflict]:
        """Return the conflicts caused by later references to memories that would be removed."""
        gone = self.head.memories.keys() - self.held.keys()
        found = []
        for id_ in sorted(self.held if gone else ()):
            if before := self.op.after.memories.get(id_):
                known = references(before)
            else:
                known = frozenset()
            new = (references(self.held[id_]) - known) & gone
            path = self.held[id_].path
            found += [
                RevertConflict(kind="depended-on", memory=id_, path=path, on=on)
                for on in sorted(new)
            ]
        return found

    def files(self) -> None:
        """Revert files other than memories, unless a later commit changed the file.

        If only some memories are reverted, so are the corrections about no other memories.
        """
        before, after = self.op.before, self.op.after
        owned = {m.path for s in (before, after) for m in s.memories.values()}
        every = {*before.files, *after.files} if self.op.paths is None else {*self.op.paths}
        for path in sorted(every - owned - {*self.op.kept}):
            if not self.head.layout.owns(path):
                continue
            if is_derived(self.head.layout, path) or is_tombstone(self.head.layout, path):
                continue
            if self.op.only and not self._goes_along(path):
                continue
            old = before.files.get(path)
            if path not in self.op.later_paths and old != after.files.get(path):
                self.edits[path] = old

    def _goes_along(self, path: str) -> bool:
        """Return whether a file is a correction that concerns only the selected memories."""
        if not correction_paths([path], self.head.layout):
            return False
        files = self.op.before.files if path in self.op.before.files else self.op.after.files
        case = decode(path, files[path])
        return isinstance(case, Correction) and self.op.only.issuperset(case.memories)

    def finish(self) -> State:
        """Return the final state, after applying rejections and repairing references."""
        draft = State(
            layout=self.head.layout,
            files=self.head.files.edited(self.edits),
            memories=MappingProxyType(self.held),
            problems=tuple(p for p in self.head.problems if p.path not in self.edits),
        )
        draft = apply(draft, self._contested(draft))
        draft = apply(draft, sweep(draft))
        updates, _ = closure.close(draft, closure.known_in(self.head))
        return apply(draft, updates)

    def _contested(self, draft: State) -> list[Update]:
        """Mark a replacement and the restored memories as contested. Remove their supersession."""
        changes: list[Update] = []
        for id_ in sorted(self.kept & draft.memories.keys()):
            heir = draft.memories[id_]
            back = [
                old
                for old in heir.texts("supersedes")
                if old in draft.memories and id_ not in draft.memories[old].texts("superseded_by")
            ]
            if not back:
                continue
            rest = tuple(old for old in heir.texts("supersedes") if old not in back)
            changes.append(Update(id=id_, fields={"supersedes": rest or None, **_DOUBT}))
            changes += [Update(id=old, fields=_DOUBT) for old in back]
        return changes

    def effect(self, done: State) -> Effect:
        """Return the changes of files relative to HEAD."""
        paths = {
            *self.edits,
            *(m.path for i, m in done.memories.items() if self.head.memories.get(i) is not m),
        }
        found = ((p, done.files.get(p)) for p in sorted(paths))
        return Effect(files={p: d for p, d in found if d != self.head.files.get(p)})


_DOUBT: Mapping[str, object] = {"standing": "contested"}


def _whole(fields: dict[str, object], head: Memory) -> None:
    """Set the status back to superseded if another memory replaced the same memory."""
    if fields["superseded_by"] and head.status == "superseded" != fields["status"]:
        for key in ("status", "status_epoch", "superseded_at"):
            default = {"status": "active", "status_epoch": 0}.get(key)
            fields[key] = head.fields.get(key, default)


def _bytes(post: FileVersion, pre: FileVersion, head: FileVersion, memory: Memory) -> bytes:
    """Write a memory into HEAD's file, merging foreign keys and comments as in a merge."""
    joined = join_bytes(post, pre, head, memory)
    return joined.data if joined is not None else codec.edit(head.data, memory)


def _value_back(column: Field, pre: Any, post: Any, head: Any, later: Later) -> Any:
    """Return a field's current value with the change from `pre` to `post` reverted.

    Retain later changes.
    """
    if column.name not in later.fields or pre == post:
        return head if pre == post else pre
    if column.merge != "set3":
        return head
    before, after = keyed(column.name, pre or ()), keyed(column.name, post or ())
    touched = later.elements.get(column.name, frozenset())
    here = keyed(column.name, head or ())
    undone = {k for k in {*before, *after} if before.get(k) != after.get(k)} - touched
    found = {
        k: before[k] if k in undone else v
        for k, v in here.items()
        if k not in undone or k in before
    }
    found |= {k: before[k] for k in before if k in undone and k not in here}
    return tuple(found.values())


def _text_back(pre: str, post: str, head: str, later: Later) -> MergedText:
    """Return a text with the change from `pre` to `post` reverted, and later changes reapplied."""
    if pre == post:
        return MergedText(text=head)
    text = pre
    for before, after in later.bodies:
        joined = merge_text(before, text, after)
        if joined.overlap:
            return MergedText(text=head, overlap=True)
        text = joined.text
    if later.bodies and later.bodies[-1][1] != head:
        return merge_text(post, pre, head)  # a merge followed: compare only end states
    return MergedText(text=text)
