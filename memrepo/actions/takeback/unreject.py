"""`memrepo unreject`: lift a rejection; what it took out of recall comes back."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.guard import back_in_recall, refuse_lifting, with_pages
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, write
from memrepo.core.changes import Change, Step, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.state import State
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    path_of,
    tombstone_bytes,
    tombstones_in,
    turned,
)


class NotRejected(MemrepoError):
    """Nothing of this name is rejected."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(
            f"{word!r} is no rejection, nor a memory that is rejected",
            fix="`memrepo rejected` lists them",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `unreject`."""

    id: Annotated[str, option("a rejected memory, or a tombstone's key", metavar="ID|KEY")]
    dry_run: DryRun = False
    reason: Reason = ""


class LiftedAlready(Unchanged, frozen=True, kw_only=True):
    """Nothing was to be done: the tombstones of these keys bar nothing any more."""

    keys: tuple[str, ...]


def do(work: Work, request: Request) -> Written | Unchanged:
    """Lift the tombstones, never delete them, and raise the epoch of what comes back."""
    actor, personal = work.actor, work.config.profile == "personal"

    def draft(state: State) -> Step | Unchanged:
        stones = meant(state, request.id)
        if all(stone.state == "lifted" for stone in stones):
            return LiftedAlready(
                unchanged="is lifted already", keys=tuple(stone.key for stone in stones)
            )
        refuse_lifting(stones, actor)
        lifted = [
            turned(stone, "lifted", by=actor, at=work.call.now, reason=request.reason)
            for stone in stones
        ]
        still = Tombstones({**tombstones_in(state).found, **{s.key: s for s in lifted}})
        ids = dict.fromkeys(id_ for stone in stones for id_ in stone.forgotten)
        held = [state.memories[i] for i in ids if i in state.memories]
        back = [m for m in held if m.status == "forgotten" and still.bar(m) is None]
        changes: list[Change] = [
            *(Write(path=path_of(state.layout, s.key), data=tombstone_bytes(s)) for s in lifted),
            *map(back_in_recall, back),
        ]
        return Step(
            op="unreject",
            what=", ".join(s.key for s in lifted),
            reason="lifted by hand",
            changes=with_pages(state, changes, personal=personal),
        )

    return write(work, request, draft)


def meant(state: State, word: str) -> list[Tombstone]:
    """Return the tombstones that a key, a unique prefix of one, or a memory names."""
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
        or (memory is not None and Tombstones({"": s}).bar(memory) is not None)
    ]
    if not named:
        raise NotRejected(word)
    standing = [stone for stone in named if stone.state == "active"]
    return standing or named
