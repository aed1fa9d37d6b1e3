"""Merge the changes of one state into another, or revert them, by memory id and by field.

Renames are not followed by path or similarity. A change to a memory is applied even if the other
side moved its file. Other files are merged by content:

| file | if both sides changed it differently |
|---|---|
| views, first page | ours: they are rendered again after the merge |
| sources, configuration | by line; a conflict if lines overlap |
| tombstones | the later decision wins; evidence is combined; two different decisions conflict |
| corrections | the longer version is used |
| run manifests, threads | a conflict; the longer version is used |

If one side removed a file and the other changed it, the file remains.

A revert joins end states: the base is the state after the change, our side is the current state,
and their side is the state before the change. Where both sides changed the same field, the current
value stays. Later work stays, and is named (`LaterWork`), unless it is to be reverted too.

A merge can break rules that each side satisfied: targets exist, supersessions are mutual.
`findings` detects this and `close` repairs it if there is one clear repair. No repair removes a
memory or excludes it from recall.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.codec import split_header
from memrepo.core.errors import Problem, problem
from memrepo.core.layout import Layout
from memrepo.core.memory import FIELDS, REFERENCES, Memory, cut_ids, references
from memrepo.core.patterns import dominant_end, regex, split_lines, unix
from memrepo.core.state import Decoded, Effect, State, Update, apply, read_state
from memrepo.merge.tombstones import (
    is_tombstone,
    join_tombstones,
    read_tombstone,
    sweep,
    tombstone_bytes,
    tombstones_in,
)
from memrepo.merge.versions import (
    FileVersion,
    MergeConflict,
    foreign_entries,
    join_versions,
    merge_text,
)

if TYPE_CHECKING:
    from memrepo.core.state import State


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
    updates, repaired = close(clean, known_in(ours, theirs))
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
) -> None:
    """Add merged memories to the edits, and the removal of their other files.

    A memory that stays has precedence over one that moves to its path, which gets a number.
    """
    own = {v.path for one in joined.values() for v in one.versions if v is not None}
    others = {m.path for i, m in head.memories.items() if i not in joined}
    edits |= {path: None for path in own - others if edits.get(path) is None}
    found = [(id_, one.versions[0], one.merged) for id_, one in joined.items() if one.merged]
    found.sort(key=lambda row: (row[1] is None or row[1].path != row[2].path, row[0]))
    for _, _, merged in found:
        name, turn = merged.path, 2
        tail = _TAIL.search(name)
        cut = tail.start() if tail is not None else len(name)
        while edits.get(name) is not None or name in others:
            name, turn = f"{merged.path[:cut]}-{turn}{merged.path[cut:]}", turn + 1
        edits[name] = merged.data


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
    if path.startswith(layout.area("corrections")):
        return JoinedFile(newer)
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
    differ = bool(one.changes) and one.changes == other.changes and one.statement != other.statement
    return JoinedFile(tombstone_bytes(join_tombstones(one, other)), is_lost=differ)


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
    updates, _ = close(draft, known_in(head, before))
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
        and (not only or _is_rejection_of(only, path, before, after))
        and head.files.get(path) == after.files.get(path)
    }


def _is_rejection_of(only: Collection[str], path: str, *states: State) -> bool:
    """Return whether a file is the rejection of one of some memories."""
    key = path.rpartition("/")[2][:-3]
    stones = (tombstones_in(s).found.get(key) for s in states if is_tombstone(s.layout, path))
    return any(stone is not None and stone.memory in only for stone in stones)


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


_ROUNDS = 20  # one repair may reveal another problem, but such chains are short
_Memories = Mapping[str, Memory]


class BrokenRule(msgspec.Struct, frozen=True, kw_only=True):
    """A broken rule, with the field changes that repair it. The value None removes a field."""

    problem: Problem
    repairs: Mapping[str, Mapping[str, Any]]

    @property
    def name(self) -> tuple[str, str, str]:
        """Return a key that identifies the same finding in another state, even in another file."""
        return self.problem.rule, self.problem.key, self.problem.message


def closure(state: State) -> tuple[Problem, ...]:
    """Return the broken rules of a state, duplicate ids first, the rest ordered by path."""
    same = [p for p in state.problems if p.rule == "memory-same-id"]
    return (*same, *(finding.problem for finding in findings(state)))


def findings(state: State) -> tuple[BrokenRule, ...]:
    """Return the broken rules between the memories of a state."""
    return broken(state.memories)


def known_in(*states: State) -> frozenset[tuple[str, str, str]]:
    """Return the names of all findings in the given states."""
    return frozenset(finding.name for state in states for finding in findings(state))


def close(
    state: State, known: Collection[tuple[str, str, str]] = ()
) -> tuple[tuple[Update, ...], tuple[BrokenRule, ...]]:
    """Return updates that repair the references of a state, with the findings repaired.

    Findings in `known` (by name) are not repaired: a merge repairs only what it broke itself.
    """
    memories, repaired = fix_findings(state.memories, lambda finding: finding.name not in known)
    return tuple(_updates(state, memories)), repaired


def fix_findings(
    memories: _Memories, is_wanted: Callable[[BrokenRule], bool]
) -> tuple[dict[str, Memory], tuple[BrokenRule, ...]]:
    """Fix the wanted findings between memories. Return the memories and what was fixed."""
    memories = dict(memories)
    repaired: dict[tuple[str, str, str], BrokenRule] = {}
    for _ in range(_ROUNDS):
        found = [f for f in broken(memories) if f.name not in repaired and is_wanted(f)]
        busy: set[str] = set()
        for finding in found:
            if busy.isdisjoint(finding.repairs):
                busy |= finding.repairs.keys()
                repaired[finding.name] = finding
                for id_, fields in finding.repairs.items():
                    memories[id_] = memories[id_].with_fields(fields)
        if not busy:
            break
    return memories, tuple(repaired.values())


def _updates(state: State, memories: _Memories) -> Iterator[Update]:
    from memrepo.core.state import Update

    for id_, new in memories.items():
        old = state.memories[id_]
        if new is not old:
            keys = sorted(
                k for k in {*old.fields, *new.fields} if old.fields.get(k) != new.fields.get(k)
            )
            yield Update(id=id_, fields={k: new.fields.get(k) for k in keys})


def broken(memories: _Memories) -> tuple[BrokenRule, ...]:
    """Return the broken rules between memories, ordered by path, each with a repair."""
    found: list[BrokenRule] = []
    for memory in memories.values():
        fields = memory.fields
        if not fields.keys().isdisjoint(REFERENCES):
            found += _lost(memory, memories)
        if "supersedes" in fields or "superseded_by" in fields:
            found += _halves(memory, memories)
        if ("superseded_by" in fields) != (memory.status == "superseded"):
            found += _odd_status(memory)
    found += _cycles(memories)
    return tuple(sorted(found, key=lambda f: (f.problem.path, f.name)))


def _lost(memory: Memory, memories: _Memories) -> Iterator[BrokenRule]:
    # `gone` is sorted, so the name of the finding is the same if a merge reorders the list.
    for key, gone, rest in cut_ids(memory, lambda id_: id_ not in memories):
        repairs = {memory.id: {key: rest}}
        yield _finding(memory, "reference-lost", key, repairs, gone=", ".join(gone))


def _halves(memory: Memory, memories: _Memories) -> Iterator[BrokenRule]:
    """Yield supersessions that are recorded in only one of the two memories concerned.

    If the old memory is superseded or forgotten, the repair completes the record. Otherwise it
    removes the reference.
    """
    for key, other_key in (("superseded_by", "supersedes"), ("supersedes", "superseded_by")):
        for target in getattr(memory, key):
            other = memories.get(target)
            if other is None or memory.id in getattr(other, other_key):
                continue
            repairs: dict[str, dict[str, object]]
            old = memory if key == "superseded_by" else other
            if old.status in ("superseded", "forgotten"):
                repairs = {target: {other_key: (*getattr(other, other_key), memory.id)}}
                fix = "complete"
            else:
                rest = tuple(t for t in getattr(memory, key) if t != target)
                repairs, fix = {memory.id: {key: rest or None}}, ""
            values = {"target": target, "other_key": other_key}
            yield _finding(memory, "supersession-half", key, repairs, fix, **values)


def _odd_status(memory: Memory) -> Iterator[BrokenRule]:
    if memory.status == "superseded":
        repairs = {memory.id: {"status": None, "superseded_at": None}}
        yield _finding(memory, "supersession-status", "status", repairs)
    elif memory.status != "forgotten":
        repairs = {memory.id: {"superseded_by": None, "superseded_at": None}}
        status = memory.status
        yield _finding(
            memory, "supersession-status", "superseded_by", repairs, "other", status=status
        )


def _cycles(memories: _Memories) -> Iterator[BrokenRule]:
    """Yield cycles of memories that supersede each other, with the one that remains active."""
    for ring in _rings(memories):
        from memrepo.merge.versions import rank

        stays = max((memories[i] for i in ring), key=lambda m: rank(m, None))
        repairs: dict[str, dict[str, object]] = {}
        for id_ in ring:
            rest = tuple(t for t in memories[id_].supersedes if t != stays.id)
            if rest != memories[id_].supersedes:
                repairs[id_] = {"supersedes": rest or None}
        heirs = tuple(t for t in stays.superseded_by if t not in ring)
        mine: dict[str, object] = {"superseded_by": heirs or None}
        if not heirs:
            mine |= {"superseded_at": None}
            if stays.status == "superseded":
                mine |= {"status": None}
        repairs[stays.id] = {**repairs.get(stays.id, {}), **mine}
        named = ", ".join(sorted(ring))
        yield _finding(stays, "supersession-cycle", "superseded_by", repairs, ring=named)


def _rings(memories: _Memories) -> Iterator[frozenset[str]]:
    """Yield the cycles of memories that supersede each other, ordered by smallest id."""
    done: set[str] = set()
    for start in sorted(i for i, m in memories.items() if "superseded_by" in m.fields):
        heirs = _heirs(start, memories) if start not in done else frozenset()
        if start in heirs:
            ring = frozenset(id_ for id_ in heirs if start in _heirs(id_, memories))
            done |= ring
            yield ring


def _heirs(id_: str, memories: _Memories) -> frozenset[str]:
    """Return the ids of all memories that superseded a memory, directly or indirectly."""
    found: set[str] = set()
    rest = [id_]
    while rest:
        memory = memories.get(rest.pop())
        new = {*memory.superseded_by} - found if memory is not None else set()
        found |= new
        rest += new
    return frozenset(found)


def _finding(
    memory: Memory,
    rule: str,
    key: str,
    repairs: Mapping[str, Mapping[str, object]],
    variant: str = "",
    **values: Any,
) -> BrokenRule:
    found = problem(rule, memory.path, variant, line=1, key=key, id=memory.id, **values)
    return BrokenRule(problem=found, repairs=repairs)
