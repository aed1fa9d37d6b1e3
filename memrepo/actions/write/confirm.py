"""`memrepo confirm`: somebody looked at a memory and says that it holds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step, Update
from memrepo.core.memory import Stamp
from memrepo.core.state import State


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `confirm`."""

    id: Annotated[str, option("the memory that holds", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Add the actor and the time to `verified`; the text is not touched."""
    stamp = Stamp(by=work.actor, at=work.call.now)

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        verified = memory.fields.get("verified", ())
        if stamp in verified:
            return unchanged(memory, "is confirmed already")
        return Step(
            op="confirm",
            reason="confirmed by hand",
            changes=(Update(id=memory.id, fields={"verified": (*verified, stamp)}),),
        )

    return write(work, request, draft)
