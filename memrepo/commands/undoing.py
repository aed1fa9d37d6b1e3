"""Taking back an operation that is not the latest: per field, and later work stays.

A merge in reverse: base is the tree after the operation, theirs the tree before it, ours HEAD. What
nothing wrote since returns to its old value; what a later commit wrote stays, also where it wrote
an equal value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from memrepo.commands.session import Desk
from memrepo.core import codec
from memrepo.core.changes import Delete, Write
from memrepo.core.memory import Memory
from memrepo.core.merge import Facts, MergeResult, merge_states
from memrepo.core.schema import FIELDS
from memrepo.core.state import Effect, State
from memrepo.store import history
from memrepo.store.tree import file_at
from memrepo.views.pages import render_views

BODY = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Why something cannot simply be taken back.

    `edited-later`: the operation made it and somebody edited it since, or it removed what was made
    again; `text-overlaps`: later edits touch the same lines; `depended-on`: something later refers
    to a memory that would vanish.
    """

    kind: str
    memory: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The files that take an operation back, and what stands in the way."""

    effect: Effect
    clashes: tuple[Clash, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One operation to take back: the trees around it, and what of it is meant.

    `only` limits it to some memories; `spared` leaves some out; `forced` takes them back whatever
    came later; `kept` names files that stay (a settled manifest).
    """

    before: str
    after: str
    only: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()
    forced: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


def take_back(desk: Desk, taken: Taken) -> Undone:
    """Compute what takes an operation back on top of HEAD; writes nothing."""
    work = desk.store.work
    base = desk.store.snapshot(taken.after).state()
    theirs = desk.store.snapshot(taken.before).state()
    ours = desk.tree.state()
    touched = frozenset(work.changed(taken.before, taken.after)) - taken.kept
    later = frozenset(work.changed(taken.after, desk.tree.commit))
    ids = {i for s in (base, theirs) for i, m in s.memories.items() if m.path in touched}
    meant = {i for i in ids if (not taken.only or i in taken.only) and i not in taken.spared}
    theirs = _limited(base, theirs, ids - meant, taken.kept, whole=not taken.only)
    theirs = _without_later_fields(desk, taken, base, theirs, meant - taken.forced)
    result = merge_states(
        base, _forced(base, ours, taken.forced), theirs,
        our_facts=Facts(paths=later, people=frozenset(meant)),
        their_facts=Facts(paths=touched, people=frozenset(meant)),
    )  # fmt: skip
    clashes = [*_clashes(result), *_dependents(base, ours, result.state)]
    clashes = [c for c in clashes if c.memory not in taken.forced]
    return Undone(effect=_with_views(desk, ours, result), clashes=tuple(clashes))


def _with_views(desk: Desk, ours: State, result: MergeResult) -> Effect:
    """Return the merge's effect on HEAD together with the views that follow it."""
    files = {
        path: result.state.files.get(path)
        for path in {*result.effect.files, *(m.path for m in ours.memories.values())}
        if result.state.files.get(path) != ours.files.get(path)
    }
    pages = render_views(result.state, personal=desk.config.profile == "personal")
    for page in pages:
        match page:
            case Write(path=path, data=data):
                files[path] = data
            case Delete(path=path):
                files[path] = None
            case _:
                raise TypeError(f"a view is a file, not {page!r}")
    return Effect(files=files)


def _forced(base: State, ours: State, ids: frozenset[str]) -> State:
    """Return HEAD as if nothing had touched some memories since the operation."""
    edits: dict[str, bytes | None] = {}
    memories = dict(ours.memories)
    for id_ in ids:
        if id_ in ours.memories:
            edits[ours.memories[id_].path] = None
            del memories[id_]
        if id_ in base.memories:
            path = base.memories[id_].path
            edits[path] = base.files[path]
            memories[id_] = base.memories[id_]
    return replace(ours, memories=memories, files=ours.files.edited(edits))


def _limited(
    base: State, theirs: State, out: Iterable[str], kept: frozenset[str], *, whole: bool
) -> State:
    """Return `theirs` as if it had not touched some memories; unless `whole`, nor other files."""
    memories = dict(theirs.memories)
    edits: dict[str, bytes | None] = {p: base.files.get(p) for p in kept}
    for id_ in out:
        for state in (theirs, base):
            if id_ in state.memories:
                path = state.memories[id_].path
                edits[path] = base.files.get(path)
        if id_ in base.memories:
            memories[id_] = base.memories[id_]
        else:
            memories.pop(id_, None)
    if not whole:
        others = {*base.files, *theirs.files}
        edits.update({
            p: base.files.get(p) for p in others
            if not base.layout.is_memory(p) and not p.startswith(base.layout.area("sources"))
        })  # fmt: skip
    return replace(theirs, memories=memories, files=theirs.files.edited(edits))


def _without_later_fields(
    desk: Desk, taken: Taken, base: State, theirs: State, ids: Iterable[str]
) -> State:
    """Leave out of `theirs` the fields that a later commit wrote, whatever value it wrote."""
    for id_ in sorted(ids):
        old, after = theirs.memories.get(id_), base.memories.get(id_)
        if old is None or after is None:
            continue
        written = later_fields(desk, taken.after, after.path) - {BODY}
        changes = {name: after.fields.get(name) for name in written}
        if not any(old.fields.get(n) != v for n, v in changes.items()):
            continue
        kept = old.with_fields(changes)
        data = codec.edit(theirs.files[old.path], kept)
        theirs = replace(
            theirs, memories={**theirs.memories, id_: kept},
            files=theirs.files.edited({old.path: data}),
        )  # fmt: skip
    return theirs


def later_fields(desk: Desk, commit: str, path: str) -> frozenset[str]:
    """Return the fields (and `body`) of one file that commits after one wrote."""
    repo, found = desk.store.repo, set[str]()
    span = f"{commit}..{desk.tree.commit}"
    for entry in history.entries(repo, "--no-merges", span, "--", path):
        new, old = file_at(repo, entry.commit, path), file_at(repo, entry.parents[0], path)
        after = codec.decode(path, new)[0] if new is not None else None
        before = codec.decode(path, old)[0] if old is not None else None
        if after is None or before is None:
            continue
        found |= {f.name for f in FIELDS if after.fields.get(f.name) != before.fields.get(f.name)}
        found |= {BODY} if after.body != before.body else set()
    return frozenset(found)


def _clashes(result: MergeResult) -> list[Clash]:
    found = [
        Clash(kind="edited-later", memory=c.id, path=c.path)
        for c in result.conflicts
    ]  # fmt: skip
    found += [
        Clash(kind="text-overlaps", memory=k.id, path=k.path) for k in result.kept if k.key == BODY
    ]
    return found


def _dependents(base: State, ours: State, after: State) -> list[Clash]:
    """Return what began to refer, after the operation, to a memory that would vanish."""
    gone = ours.memories.keys() - after.memories.keys()
    found = []
    for id_ in sorted(ours.memories.keys() - gone if gone else ()):
        holder, before = ours.memories[id_], base.memories.get(id_)
        if (_references(holder) - _references(before)) & gone:
            found.append(Clash(kind="depended-on", memory=id_, path=holder.path))
    return found


def _references(memory: Memory | None) -> frozenset[str]:
    if memory is None:
        return frozenset()
    lists = (*memory.texts("supersedes"), *memory.texts("superseded_by"))
    links = tuple(link.target for link in memory.fields.get("links", ()))
    return frozenset({*lists, *links, memory.text("parent"), memory.text("duplicate_of")} - {""})
