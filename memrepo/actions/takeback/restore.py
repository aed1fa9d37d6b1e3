"""`memrepo restore`: restore a memory that was pruned, forgotten, archived or superseded.

If another memory replaced it, the user must choose between `--instead` and `--beside`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import Rejected, with_pages
from memrepo.actions.past.log import find_removed
from memrepo.actions.recall.lookup import NoSuchMemory, count_retrieval, find
from memrepo.actions.work import DryRun, Reason, Work, option
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.errors import Exit, MemrepoError, Problem
from memrepo.core.memory import Memory, Stamp
from memrepo.core.state import Change, State, Step, Update, apply
from memrepo.merge import closure
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.standing import RETIRED
from memrepo.store.errors import problem


class Replaced(MemrepoError):
    """Raised when an active memory replaced the memory and the user did not choose an option."""

    exit_code = Exit.DECIDE

    def __init__(self, memory: Memory, heirs: tuple[Memory, ...]) -> None:
        names = ", ".join(heir.id for heir in heirs)
        super().__init__(
            f"{memory.id} was replaced by {names}, which is in effect",
            fix="`--instead` restores it in its place, `--beside` keeps both as contested",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo restore`."""

    id: Annotated[
        str, option("the memory; only its id if it is no longer in the tree", metavar="ID")
    ]
    instead: Annotated[
        bool,
        option("for a superseded memory: it replaces its successor", "--instead", group="how"),
    ] = False
    beside: Annotated[
        bool,
        option("for a superseded memory: keep both, as contested", "--beside", group="how"),
    ] = False
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
        changes = _changes(state, memory, stamp, request)
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


def _changes(state: State, memory: Memory, stamp: Stamp, request: Request) -> list[Update]:
    """Return the updates needed to restore a memory.

    They end or reverse its supersession in both memories.
    """
    if memory.status == "forgotten" and memory.superseded_by:
        # If a superseded memory was forgotten, the first restore only makes it superseded again.
        heirs = _heirs(state, memory)
        if heirs and not (request.instead or request.beside):
            return [_update(memory, stamp, {"status": "superseded"})]
    heirs = _heirs(state, memory)
    if heirs and not (request.instead or request.beside):
        raise Replaced(memory, heirs)
    contested = {"standing": "contested"} if heirs and request.beside else {}
    after: dict[str, dict[str, object]] = {}
    for id_ in memory.superseded_by:
        if (heir := state.memories.get(id_)) is not None:
            after[id_] = {"supersedes": _but(heir.supersedes, memory.id)}
    for heir in heirs:
        edit = after.setdefault(heir.id, {})
        edit |= contested
        if request.instead:
            edit |= {
                "status": "superseded",
                "superseded_at": stamp.at,
                "superseded_by": (*heir.superseded_by, memory.id),
            }
    fields: dict[str, object] = {"superseded_by": None, "superseded_at": None, **contested}
    if request.instead and heirs:
        new = [h.id for h in heirs if h.id not in memory.supersedes]
        fields["supersedes"] = (*memory.supersedes, *new)
    return [
        _update(memory, stamp, {"status": None, **fields}),
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


def _but(ids: tuple[str, ...], gone: str) -> tuple[str, ...] | None:
    return tuple(id_ for id_ in ids if id_ != gone) or None


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
