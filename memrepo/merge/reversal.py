"""Revert a change by joining end states: the states around the change, and the current one.

The base is the state after the change, our side is the current state, and their side is the state
before the change. Each memory is joined field by field, as the merge driver does
(`merge.versions`). Where both sides changed the same field, the current value stays.

Later work stays, and is named (`LaterWork`), unless it is to be reverted too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import msgspec

from memrepo.core.codec import split_header
from memrepo.core.corrections import Correction, correction_paths, decode
from memrepo.core.memory import FIELDS, Memory, references
from memrepo.core.state import Effect, State, Update, apply
from memrepo.merge import closure
from memrepo.merge.states import JoinedMemory, is_derived, place_memories, reread
from memrepo.merge.tombstones import is_tombstone, sweep, tombstones_in
from memrepo.merge.versions import FileVersion, foreign_entries, join_versions

_AGEING = frozenset({"tier", "tier_since", "gist"})
"""Fields written by tier moves. Ageing does not count as an edit."""
_DECIDED_AS_ONE = ("supersedes", "superseded_by", "compressed_into")
"""Fields that link memories changed in one decision."""
_CONTESTED: Mapping[str, object] = {"standing": "contested"}


LaterKind = Literal["edited-later", "text-overlaps", "depended-on"]


class LaterWork(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Later work that a revert kept.

    `edited-later`: the memory was edited after the operation created it, or was added again after
    the operation removed it. `text-overlaps`: later edits changed the same lines. `depended-on`: a
    later change refers to `on`, a memory that the operation created.
    """

    kind: LaterKind
    memory: str
    path: str
    on: str = ""


class Reverted(msgspec.Struct, frozen=True, kw_only=True):
    """The state without the change, the file changes relative to HEAD, and the work that stays."""

    state: State
    effect: Effect
    kept: tuple[LaterWork, ...] = ()


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
    *,
    later: bool = False,
    only: Collection[str] = (),
    paths: Collection[str] | None = None,
) -> Reverted:
    """Return `head` without the change from `before` to `after`.

    With `later`, later changes to its memories are reverted too. `only` limits it to some memories.
    `paths` are the files that the change wrote; if None, all files are compared.
    """
    if paths is None:
        paths = {
            p for p in {*before.files, *after.files} if before.files.get(p) != after.files.get(p)
        }
    ids = {i for s in (before, after) for i, m in s.memories.items() if m.path in paths}
    ids = ids & {*only} if only else ids
    depended: list[LaterWork] = []
    while True:
        joined, kept = _joined(ids - {work.on for work in depended}, before, after, head, later)
        more = [] if later else list(_dependents(joined, after, head))
        if not more:
            break
        depended += more
    edits: dict[str, bytes | None] = {}
    place_memories(edits, head, joined)
    edits |= _files(before, after, head, paths, only)
    draft = reread(head, edits)
    kept = [*kept, *depended]
    stay = {work.on or work.memory for work in kept if work.kind != "text-overlaps"}
    draft = apply(draft, [*_superseded_again(draft, head, joined), *_contested(draft, stay)])
    draft = apply(draft, sweep(draft))
    updates, _ = closure.close(draft, closure.known_in(head, before))
    done = apply(draft, updates)
    touched = {m.path for i, m in done.memories.items() if head.memories.get(i) is not m}
    found = ((p, done.files.get(p)) for p in sorted({*edits, *touched}))
    return Reverted(
        state=done,
        effect={p: data for p, data in found if data != head.files.get(p)},
        kept=tuple(sorted(kept, key=lambda one: (one.kind, one.memory, one.on))),
    )


def _joined(
    ids: Collection[str], before: State, after: State, head: State, later: bool
) -> tuple[dict[str, JoinedMemory], list[LaterWork]]:
    """Return the memories without the change, where that differs from HEAD, and what stays."""
    joined: dict[str, JoinedMemory] = {}
    kept: list[LaterWork] = []
    for id_ in sorted(ids):
        pre, post, now = (version_of(state, id_) for state in (before, after, head))
        if pre == post or (now is None and post is not None):
            continue  # it is no part of the change, or later work removed it
        new: FileVersion | None = pre
        why: LaterKind | None = None
        if now is not None and now not in (pre, post) and not later:
            new, why = _with_later_work(pre, post, now)
        if new != now:
            joined[id_] = JoinedMemory((now,), new)
        if why and now is not None:
            kept.append(LaterWork(kind=why, memory=id_, path=now.path))
    return joined, kept


def _with_later_work(
    pre: FileVersion | None, post: FileVersion | None, now: FileVersion
) -> tuple[FileVersion | None, LaterKind | None]:
    """Return a memory without the change and with later work, and why that work is to be named."""
    if pre is None or post is None:
        is_kept = post is None or _is_edited(post, now)
        return (now, "edited-later") if is_kept else (None, None)
    merged = join_versions(post, now, pre, ours_wins=True)
    if merged.version is None or not (merged.version.memory and pre.memory and now.memory):
        return now, None
    if "" in merged.lost:
        return now, "edited-later"
    return merged.version, "text-overlaps" if "body" in merged.lost else None


def _dependents(
    joined: Mapping[str, JoinedMemory], after: State, head: State
) -> Iterator[LaterWork]:
    """Yield the later references to memories that would be removed."""
    gone = {id_ for id_, one in joined.items() if one.merged is None}
    for id_, memory in sorted(head.memories.items() if gone else ()):
        merged = joined[id_].merged if id_ in joined else None
        current = merged.memory if merged is not None else None if id_ in gone else memory
        if current is None:
            continue
        known = after.memories.get(id_)
        new = references(current) - (references(known) if known else frozenset())
        for on in sorted(new & gone):
            yield LaterWork(kind="depended-on", memory=id_, path=memory.path, on=on)


def _files(
    before: State, after: State, head: State, paths: Collection[str], only: Collection[str]
) -> dict[str, bytes | None]:
    """Return the files other than memories as they were, unless a later commit changed them.

    If only some memories are reverted, so are the decisions about no other memories.
    """
    owned = {m.path for s in (before, after) for m in s.memories.values()}
    return {
        path: before.files.get(path)
        for path in sorted({*paths} - owned)
        if head.layout.owns(path)
        and not is_derived(head.layout, path)
        and (not only or _is_about(before, after, path, only))
        and head.files.get(path) == after.files.get(path)
    }


def _is_about(before: State, after: State, path: str, only: Collection[str]) -> bool:
    """Return whether a file is a decision that concerns only the selected memories."""
    if is_tombstone(after.layout, path):
        key = path.rpartition("/")[2][:-3]
        stones = (tombstones_in(s).found.get(key) for s in (before, after))
        return any(stone is not None and stone.memory in only for stone in stones)
    if not correction_paths([path], after.layout):
        return False
    files = before.files if path in before.files else after.files
    case = decode(path, files[path])
    return isinstance(case, Correction) and {*only}.issuperset(case.memories)


def _superseded_again(draft: State, head: State, joined: Collection[str]) -> Iterator[Update]:
    """Yield updates of memories that another memory replaced as well, and so stay superseded."""
    for id_ in sorted(draft.memories.keys() & {*joined} & head.memories.keys()):
        new, now = draft.memories[id_], head.memories[id_]
        if new.superseded_by and now.status == "superseded" != new.status:
            keys = ("status", "superseded_at")
            yield Update(id=id_, fields={key: now.fields.get(key) for key in keys})


def _contested(draft: State, stay: Collection[str]) -> Iterator[Update]:
    """Mark replacements that stay, and what they replaced, as contested."""
    for id_ in sorted({*stay} & draft.memories.keys()):
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


def own_words(version: FileVersion) -> tuple[Mapping[str, object], frozenset[str]]:
    """Return the entries of a header that memrepo does not know, and its comments."""
    comments = split_header(version.data, version.path).comments
    return foreign_entries(version), frozenset(comments.values())
