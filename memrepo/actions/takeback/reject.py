"""`memrepo reject`: a memory is wrong or unwanted, and is not to come back by any way."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import barred_ids, with_pages, written
from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step, Update
from memrepo.core.messages import fold
from memrepo.core.state import State
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    path_of,
    tombstone_bytes,
    tombstone_of,
    tombstones_in,
    turned,
)

REASON_LENGTH = 500


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `reject`."""

    id: Annotated[str, option("the memory to reject", metavar="ID")]
    dry_run: DryRun = False
    reason: Annotated[str, option("why; kept in clear, so leave the value itself out", "--reason")]


def do(work: Work, request: Request) -> Written | Unchanged:
    """Write the tombstone and forget what it matches, in one commit."""
    actor, personal = work.actor, work.config.profile == "personal"

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        stone = tombstone_of(
            memory, reason=fold(request.reason, REASON_LENGTH), by=actor, at=work.call.now
        )
        stone = _set_again(tombstones_in(state).found.get(stone.key), stone)
        gone = barred_ids(state, stone, lambda m: Tombstones({"": stone}).bar(m) is not None)
        stone = replace(stone, forgotten=tuple(sorted({*stone.forgotten, *gone})))
        if stone == tombstones_in(state).found.get(stone.key):
            return unchanged(memory, f"is rejected already as {stone.key}")
        updates = [Update(id=id_, fields={"status": "forgotten"}) for id_ in gone]
        file = path_of(state.layout, stone.key), tombstone_bytes(stone)
        return Step(
            op="reject",
            what=f"{memory.id} as {stone.key}",
            memories=(memory.id,),
            changes=with_pages(state, written(*file, updates), personal=personal),
        )

    return write(work, request, draft)


def _set_again(old: Tombstone | None, new: Tombstone) -> Tombstone:
    """Return the tombstone as it stands from now on, over one that was lifted or stands already."""
    if old is None:
        return new
    united = replace(
        old,
        units=tuple(sorted({*old.units, *new.units})),
        forgotten=old.forgotten if old.state == "active" else (),
    )
    return turned(united, "active", by=new.by, at=new.at, reason=new.reason)
