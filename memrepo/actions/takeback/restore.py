"""`memrepo restore`: restore a memory that was pruned, forgotten, archived or superseded.

If another memory replaced it, it takes that memory's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import Rejected, with_pages
from memrepo.actions.past.log import find_removed
from memrepo.actions.recall.lookup import NoSuchMemory, count_retrieval, find
from memrepo.actions.work import DryRun, Reason, Work, option
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.errors import Problem
from memrepo.core.memory import Memory, Stamp
from memrepo.core.state import Change, State, Step, Update, apply
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.standing import RETIRED
from memrepo.store.errors import problem


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo restore`."""

    id: Annotated[
        str, option("the memory; only its id if it is no longer in the tree", metavar="ID")
    ]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Restore a memory from the tree, or from the last commit that contained it."""
    actor, personal = work.actor, work.config.is_personal
    gone: list[str] = []
    passed: list[Problem] = []

    def lay(at: Work, state: State) -> State:
        try:
            find(state, request.id)
        except NoSuchMemory as error:
            passed.clear()
            back = _from_history(at, state, request.id, passed)
            if back is None:
                raise error from None
            gone[:] = [request.id]
            return back
        return state

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if memory.status == "active":
            return unchanged(memory, "is in recall already")
        if (stone := tombstones_in(state).find_barring(memory)) is not None:
            raise Rejected(memory, stone)
        stamp = Stamp(by=actor, at=work.call.now)
        changes = _changes(state, memory, stamp)
        return Step(
            op="restore",
            reason="restored by hand" + (" from history" if gone else f", was {memory.status}"),
            memories=(memory.id,),
            changes=with_pages(state, _closed(state, changes), personal),
        )

    done = write(work, request, draft, lay)
    if done.commit:
        count_retrieval(work, [done.id])
    return done.after(tuple(passed))


def _from_history(work: Work, state: State, word: str, passed: list[Problem]) -> State | None:
    """Return the state with the last version of a removed memory added, marked as forgotten.

    `passed` receives a notice if later versions cannot be read.
    """
    past = find_removed(work, word)
    broken = None
    for version in past.versions if past is not None else ():
        commit, memory = version.entry.commit, version.memory
        if version.unreadable:
            broken = broken or version
        elif memory is not None:
            if broken:
                last = broken.entry.commit[:10]
                name, took = broken.unreadable, commit[:10]
                passed += [problem("restored-earlier", name, took=took, last=last, name=name)]
            data = work.store.repo.read(f"{commit}:{memory.path}")
            memory = replace(memory, path=state.free_path(memory))
            # A memory outside the tree is not active. The restore step activates it.
            held = memory if memory.status == "superseded" else memory.with_fields(_ABSENT)
            return replace(
                state,
                files=state.files.edited({memory.path: data}),
                memories={**state.memories, memory.id: held},
            )
    return None


_ABSENT: Mapping[str, object] = {"status": "forgotten"}


def _changes(state: State, memory: Memory, stamp: Stamp) -> list[Update]:
    """Return the updates needed to restore a memory. It supersedes its active successors."""
    heirs = _heirs(state, memory)
    after: dict[str, dict[str, object]] = {}
    for id_ in memory.superseded_by:
        if (heir := state.memories.get(id_)) is not None:
            rest = tuple(old for old in heir.supersedes if old != memory.id)
            after[id_] = {"supersedes": rest or None}
    for heir in heirs:
        after.setdefault(heir.id, {}).update(
            status="superseded",
            superseded_at=stamp.at,
            superseded_by=(*heir.superseded_by, memory.id),
        )
    fields: dict[str, object] = {"status": None, "superseded_by": None, "superseded_at": None}
    if new := [heir.id for heir in heirs if heir.id not in memory.supersedes]:
        fields["supersedes"] = (*memory.supersedes, *new)
    return [
        _update(memory, stamp, fields),
        *(Update(id=id_, fields=edit) for id_, edit in after.items()),
    ]


def _update(memory: Memory, stamp: Stamp, fields: Mapping[str, object]) -> Update:
    """Return the memory's update. It restarts timestamps, or else upkeep would undo the restore."""
    fresh: dict[str, object] = {"verified": (*memory.verified, stamp)}
    if memory.is_note:
        fresh = {"tier": "warm", "tier_since": stamp.at, "user_marked": True}
    if memory.standing == RETIRED:
        fresh["standing"] = None
    return Update(id=memory.id, fields={"archived_at": None, **fresh, **fields})


def _heirs(state: State, memory: Memory) -> tuple[Memory, ...]:
    """Return the active memories at the end of a memory's chain of successors."""
    seen: set[str] = set()
    rest = list(memory.superseded_by)
    while rest:
        id_ = rest.pop()
        if id_ in state.memories and id_ not in seen:
            seen.add(id_)
            rest += state.memories[id_].superseded_by
    found = (state.memories[id_] for id_ in sorted(seen - {memory.id}))
    return tuple(m for m in found if m.status == "active")


def _closed(state: State, changes: list[Update]) -> list[Change]:
    """Return the changes plus the updates that fix references to missing memories."""
    own = {update.id for update in changes[:1]}
    known = {n for n in closure.known_in(state) if not any(id_ in n[2] for id_ in own)}
    updates, _ = closure.close(apply(state, changes), known)
    return [*changes, *updates]
