"""`memrepo reject`: stop a memory's statements from returning, list rejections, or undo one."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.landing import back_in_recall, refuse_lifting, with_pages
from memrepo.actions.pending import all_waiting
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.work import DryRun, VerbResult, Work, option
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.errors import UsageError
from memrepo.core.memory import Memory
from memrepo.core.messages import SUBJECT_LENGTH, fold, words_of
from memrepo.core.state import Change, Delete, State, Step, Write
from memrepo.core.times import EARLIEST
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    join_tombstones,
    path_of,
    sweep,
    tombstone_bytes,
    tombstone_of,
    tombstones_in,
)

REASON_LENGTH = 500


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo reject`."""

    id: Annotated[
        str,
        option(
            "memory to reject, current or pending; with --undo, also a tombstone's key",
            metavar="ID",
        ),
    ] = ""
    statement: Annotated[
        str, option("reject only this line or sentence of it", "--statement", metavar="TEXT")
    ] = ""
    undo: Annotated[bool, option("lift the rejection", "--undo", group="way")] = False
    list: Annotated[bool, option("list all rejections", "--list", group="way")] = False
    dry_run: DryRun = False
    reason: Annotated[
        str, option("reason; stored as plain text, so do not repeat a secret in it", "--reason")
    ] = ""


class Rejections(VerbResult, frozen=True, kw_only=True):
    """The list of rejections, oldest first."""

    rejected: tuple[Tombstone, ...]


class RejectedStatement(Written, frozen=True, kw_only=True):
    """A rejection, and the memories that lost only the statement, such as notes."""

    shortened: tuple[str, ...] = ()


def do(work: Work, request: Request) -> Written | Unchanged | Rejections:
    """Reject a memory and forget all matching ones in one commit, undo this, or list rejections."""
    if request.list and request.id:
        raise UsageError(
            f"reject: --list names all that is rejected, and {request.id} was given too",
            fix=f"leave out one of them; `memrepo show {request.id}` shows that memory",
        )
    if request.list:
        return _listed(work)
    if not request.id:
        raise UsageError(
            "reject: no memory was given",
            fix="name one, or list all rejections with --list",
        )
    if request.undo:
        return _lifted(work, request)
    if not request.reason:
        _there_or_waiting(work, work.tree.state(), request.id)  # report an unknown memory first
        raise UsageError(
            "reject: no reason was given", fix="add --reason; leave the value itself out"
        )
    return _rejected(work, request)


def _rejected(work: Work, request: Request) -> Written | Unchanged:
    actor, personal = work.actor, work.config.is_personal
    shortened: list[str] = []

    def draft(state: State) -> Step | Unchanged:
        memory = _there_or_waiting(work, state, request.id)
        reason = fold(request.reason, REASON_LENGTH)
        rejected = _statement(memory, request.statement) if request.statement else memory
        stone = tombstone_of(rejected, reason=reason, by=actor, at=work.call.now)
        if request.statement:
            stone = replace(stone, units=(), memory="")
        updates = list(sweep(state, Tombstones({"": stone})))
        updates.sort(key=lambda update: (update.id != stone.memory, update.id))
        gone = [update.id for update in updates if update.body is None]
        shortened[:] = [update.id for update in updates if update.body is not None]
        stone = replace(stone, forgotten=tuple(sorted(gone)))
        if (known := tombstones_in(state).found.get(stone.key)) is not None:
            stone = join_tombstones(stone, known)
            if replace(stone, by=known.by, at=known.at, reason=known.reason) == known:
                return unchanged(memory, f"is rejected already as {stone.key}")
        file = Write(path=path_of(state.layout, stone.key), data=tombstone_bytes(stone))
        return Step(
            op="reject",
            what=f"Reject {memory.type}: {words_of(memory, SUBJECT_LENGTH)}",
            memories=(memory.id,),
            changes=with_pages(state, (file, *updates), personal),
        )

    done = write(work, request, draft)
    if isinstance(done, Unchanged):
        return done
    return RejectedStatement(**asdict(done), shortened=tuple(shortened))


def _statement(memory: Memory, text: str) -> Memory:
    """Return a copy of a memory that contains only one of its statements."""
    only_this = memory.with_fields({"former": None}, text.strip())
    stone = replace(tombstone_of(only_this, reason="", by="", at=EARLIEST), memory="")
    if not Tombstones({"": stone}).stated_in(memory):
        raise UsageError(
            f"{memory.id} has no statement {text!r} that could be recognised elsewhere",
            fix="copy a complete line or sentence of the memory, or omit --statement",
        )
    return only_this


def _there_or_waiting(work: Work, state: State, word: str) -> Memory:
    """Return the memory that a word identifies at HEAD or, failing that, in a pending run."""
    try:
        return find(state, word)
    except NoSuchMemory:
        for waits in reversed(all_waiting(work)):
            with suppress(NoSuchMemory):
                return find(work.store.snapshot(waits.tip).state(), word)
        raise


def _listed(work: Work) -> Rejections:
    """List the tombstones, oldest first."""
    stones = tombstones_in(work.tree.state())
    shown = sorted(stones.found.values(), key=lambda s: (s.at, s.key))
    return Rejections(rejected=tuple(shown), notices=stones.problems)


def _lifted(work: Work, request: Request) -> Written:
    """Delete the files of rejections, and return the memories that they removed to recall."""
    actor, personal = work.actor, work.config.is_personal

    def draft(state: State) -> Step:
        lifted = tombstones_named(state, request.id)
        refuse_lifting(lifted, actor)
        keys = {stone.key for stone in lifted}
        found = tombstones_in(state).found
        rest = Tombstones({key: stone for key, stone in found.items() if key not in keys})
        ids = dict.fromkeys(id_ for stone in lifted for id_ in stone.forgotten)
        known = (state.memories[id_] for id_ in ids if id_ in state.memories)
        freed = [m for m in known if m.status == "forgotten" and rest.find_barring(m) is None]
        changes: list[Change] = [
            *(Delete(path=path_of(state.layout, key)) for key in sorted(keys)),
            *map(back_in_recall, freed),
        ]
        return Step(
            op="unreject", reason="lifted by hand", changes=with_pages(state, changes, personal)
        )

    done = write(work, request, draft)
    if not isinstance(done, Written):
        raise TypeError(f"lifting a rejection always writes, not {done!r}")
    return done


def tombstones_named(state: State, word: str) -> list[Tombstone]:
    """Return the tombstones that a word identifies by key, unique key prefix or memory."""
    found = tombstones_in(state).found
    digits = word.removeprefix("ts-")
    keyed = [s for key, s in found.items() if digits and key.startswith(f"ts-{digits}")]
    if len(keyed) == 1:
        return keyed
    try:
        memory = find(state, word)
    except NoSuchMemory:
        memory = None
    named = [
        s
        for s in found.values()
        if s.memory == (memory.id if memory else word)
        or (memory is not None and Tombstones({"": s}).find_barring(memory) is not None)
    ]
    if not named:
        raise UsageError(
            f"{word!r} is neither a rejection nor a rejected memory",
            fix="`memrepo reject --list` lists them",
        )
    return named
