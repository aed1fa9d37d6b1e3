"""Requests of agents that a person must approve, such as removing a person's memory from recall.

Such a request is stored as a run with one decision on its own branch. The verbs `status`, `diff`,
`accept` and `discard` treat it like any other pending run. Commands that a person runs are never
delayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.landing import prepare
from memrepo.actions.pending import (
    ASKED,
    PREFIX,
    Waiting,
    all_waiting,
    is_wish,
    put_away,
    refuse_no_room,
)
from memrepo.actions.run.land import run_stamp
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Asked
from memrepo.core.changes import Change, Create, Delete, Plan, Remove, Step, Update, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.manifest import Manifest
from memrepo.core.memory import Memory
from memrepo.core.messages import Context, counted, subject_of
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import is_retired
from memrepo.purify.known import by_person
from memrepo.store.history import RECORD

ASKS = "Ask a person: "
"""Prefix of the subject of a request.

The rest becomes the commit subject when a person accepts it.
"""
_ENDS = ("valid_until", "scope")
"""Fields that can end an active memory or move it to another scope."""
_MARKS = ("pinned", "critical")


def waits_for_person(work: Work, before: State, after: State) -> tuple[Memory, ...]:
    """Return the memories for which a step needs a person's approval; empty if there are none.

    These are memories of a person that an agent would remove from recall. With `agents.additions =
    "review"`, they also include memories that the agent adds. Leaving the hot cache, or losing a
    mark that retains a memory there, counts as removal: sessions start with the hot cache.
    """
    if not is_agent(work):
        return ()
    added: tuple[Memory, ...] = ()
    if work.config.get("agents.additions") == "review":
        added = tuple(m for m in after.active if m.id not in before.memories and not m.is_note)
    if not _held_up(work):
        return added
    touched = _touched(before, after)
    return added + tuple(m for m, new in touched if not (_stays(m, new) and _seen(m, new)))


def refuse_taking(work: Work, before: State, after: State) -> None:
    """Raise if an agent would remove a person's memory from recall."""
    found = [m for m, new in _touched(before, after) if not _stays(m, new)]
    if found and _held_up(work):
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise MemrepoError(
            f"{work.actor} may not take {found[0].id}{more} out of recall: a person wrote or"
            " confirmed it, and must decide",
            fix="ask that person to do it, or allow it with `agents.removals` in memrepo.toml",
            exit_code=Exit.DECIDE,
        )


def is_agent(work: Work) -> bool:
    """Return whether the caller is a program rather than a person."""
    return bool(work.call.actor) and not work.call.actor.startswith("human:")


def _held_up(work: Work) -> bool:
    return is_agent(work) and bool(work.config.get("agents.removals") == "wait")


def _touched(before: State, after: State) -> Iterator[tuple[Memory, Memory | None]]:
    """Yield (old, new) for each changed memory in recall that a person worded or confirmed.

    `new` is None if the memory was removed.
    """
    for memory in before.active:
        new = after.memories.get(memory.id)
        if new is not memory and by_person(memory) and not is_retired(memory):
            yield memory, new


def _stays(old: Memory, new: Memory | None) -> bool:
    if new is None or new.status != "active" or is_retired(new):
        return False
    return old.body == new.body and all(old.text(key) == new.text(key) for key in _ENDS)


def _seen(old: Memory, new: Memory | None) -> bool:
    """Return whether a changed memory keeps its marks and its place in the hot cache."""
    if new is None or any(old.flag(mark) and not new.flag(mark) for mark in _MARKS):
        return False
    return hot_of(old) is None or hot_of(new) is not None


def leave(at: Work, state: State, step: Step, taken: Sequence[Memory], *, dry_run: bool) -> Asked:
    """Store a step as a request for a person to decide, or reuse an equal pending request.

    A new request replaces older requests about the same memories.
    """
    notices = [_wish_key(change) for change in step.changes]
    mark = digest([at.actor, step.op, notices])[:8]
    mine = [w for w in all_waiting(at) if is_wish(at, w)]
    same = next((w for w in mine if w.run.endswith(f"-{mark}")), None)
    if same is None and not dry_run:
        return _asked(state, taken, _left(at, state, step, taken, mark, mine))
    return _asked(state, taken, same.run if same else "")


def leave_all(at: Work, steps: Sequence[Step], *, dry_run: bool) -> tuple[Problem, ...]:
    """Store steps as requests for a person, one per kind of operation, and return warnings."""
    state = at.whole.state()
    notices: list[Problem] = []
    for op in dict.fromkeys(step.op for step in steps):
        mine = [step for step in steps if step.op == op]
        one = mine[0]
        if mine[1:]:
            changes = tuple(change for step in mine for change in step.changes)
            one = replace(one, what="", changes=changes)
        taken = waits_for_person(at, state, apply(state, one.changes))
        if taken:
            asked = leave(at, state, one, taken, dry_run=dry_run)
            notices.append(_waits(asked))
    return tuple(notices)


def _waits(asked: Asked) -> Problem:
    return Problem(
        path=asked.path,
        rule="waits-for-person",
        severity="warning",
        message=f"{asked.id} {asked.unchanged}",
        fix="ask that person to run `memrepo accept` or `memrepo discard`",
    )


def _wish_key(change: Change) -> object:
    """Return a key that identifies a request by its content.

    The key does not depend on the time.
    """
    match change:
        case Create(memory=memory):
            return [memory.body, memory.text("scope")]
        case Update(id=id_, fields=fields, body=body):
            keys = [k for k in sorted(fields) if k in ("status", *_ENDS, *_MARKS)]
            hot = fields.get("hot")
            cached = [hot is not None and hot.until is None] if "hot" in fields else []
            return [id_, body, [[k, str(fields[k])] for k in keys], cached]
        case Remove(id=id_):
            return id_
        case Write(path=path) | Delete(path=path):
            return path


def _asked(state: State, taken: Sequence[Memory], run: str) -> Asked:
    first = taken[0]
    more = f", with {counted(len(taken) - 1, 'other', 'others')}" if len(taken) > 1 else ""
    where = f" as {PREFIX}{run}" if run else ""
    said = (
        f"was written or confirmed by a person{more}: your request waits for that"
        f" person{where}, and nothing changes until then"
    )
    if first.id not in state.memories:
        said = f"waits for a person{where}{more}: it is stored when that person accepts it"
    return Asked(
        id=first.id,
        path=first.path,
        unchanged=said,
        waits=run,
        exit=Exit.DECIDE,
    )


def _left(
    at: Work, state: State, step: Step, taken: Sequence[Memory], mark: str, mine: Sequence[Waiting]
) -> str:
    refuse_no_room(at)
    area = at.tree.layout.area("runs")
    names = (p for p in at.tree.blobs if p.startswith(area) and p.endswith(".json"))
    runs = sorted(path.removeprefix(area).removesuffix(".json") for path in names)
    run = f"{run_stamp(at.call.now, runs)}-{mark}"
    manifest = Manifest(
        run=run,
        mode=ASKED,
        judge=at.actor,
        profile=at.config.profile,
        base=at.tree.commit,
        now=format_time(at.call.now),
        package=__version__,
    )
    record = Step(
        op="run",
        what=RECORD,
        reason=f"asked by {at.actor}",
        changes=(Write(path=at.tree.layout.manifest(run), data=manifest.to_bytes()),),
    )
    merge = Step(
        op="run",
        what=f"{ASKS}{subject_of(step, state, apply(state, step.changes))}",
        reason=f"{at.actor} asks to {step.op} {taken[0].id}"
        f"{', which is a person' + chr(39) + 's' if taken[0].id in state.memories else ''}"
        f": {step.reason}",
    )
    landing = prepare(
        at.store,
        state,
        Plan(base=at.tree.commit, steps=(step, record)),
        Context(actor=at.actor, run=run),
        at.call.now,
        merge=merge,
        author=at.author,
    )
    ids = {memory.id for memory in taken}
    for older in mine:
        if ids & {id_ for entry in older.chain(at) for id_ in entry.trailers.get("Memory", ())}:
            put_away(at, older)
    at.store.leave(landing.chain, PREFIX + run)
    return run
