"""`memrepo demote`: take a memory off the hot cache; the memory itself stays as it is."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step
from memrepo.core.state import State
from memrepo.policies.directives import forgotten


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `demote`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Record when it left; a critical memory is critical no longer, or it would come back."""

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        for step in forgotten(memory, work.call.now, "demoted by hand"):
            return step
        return unchanged(memory, "is not on the hot cache")

    return write(work, request, draft)
