"""`memrepo forget`: recall no longer sees a memory; its file and history stay."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.finding import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Answer, Work
from memrepo.actions.write.single import unchanged, write
from memrepo.core.changes import Step, Update
from memrepo.core.state import State


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `forget`."""

    id: Annotated[str, option("the memory to forget", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Answer:
    """Set the status to forgotten."""

    def draft(state: State) -> Step | Answer:
        memory = find(state, request.id)
        if memory.status == "forgotten":
            return unchanged(memory, "is forgotten already")
        return Step(
            op="forget",
            what=memory.slug,
            reason="forgotten by hand",
            changes=(Update(id=memory.id, fields={"status": "forgotten"}),),
        )

    return write(work, request, draft)
