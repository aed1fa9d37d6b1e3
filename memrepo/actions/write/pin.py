"""`memrepo pin`: protect a memory from ageing, eviction and pruning, or end that."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step, Update
from memrepo.core.state import State


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `pin`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    off: Annotated[bool, option("end that protection", "--off")] = False
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Set or remove `pinned`, in one commit."""
    pinned = not request.off

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if memory.flag("pinned") == pinned:
            return unchanged(memory, "is pinned already" if pinned else "is not pinned")
        return Step(
            op="pin",
            reason="pinned by hand" if pinned else "unpinned by hand",
            changes=(Update(id=memory.id, fields={"pinned": True if pinned else None}),),
        )

    return write(work, request, draft)
