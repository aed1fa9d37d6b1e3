"""`memrepo forget`: recall no longer sees a memory; its file and history stay."""

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
    """What is asked of `forget`."""

    id: Annotated[str, option("the memory to forget", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Set the status to forgotten."""

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if memory.status == "forgotten":
            return unchanged(memory, "is forgotten already")
        return Step(
            op="forget",
            reason="forgotten by hand",
            changes=(Update(id=memory.id, fields={"status": "forgotten"}),),
        )

    return write(work, request, draft)
