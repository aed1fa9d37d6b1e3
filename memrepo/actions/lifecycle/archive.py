"""`memrepo archive`: let a memory rest; it stays in the tree and recall no longer sees it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step
from memrepo.core.state import State
from memrepo.policies.archive import archive


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `archive`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Set the status to archived; its decay clock stops."""

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if memory.status != "active":
            return unchanged(memory, f"is {memory.status} already")
        return archive(memory, work.call.now, "archived by hand")

    return write(work, request, draft)
