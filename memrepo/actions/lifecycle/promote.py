"""`memrepo promote`: put a memory on the hot cache because somebody asked, or take it off."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Hot, Memory
from memrepo.core.state import State
from memrepo.policies.directives import forgotten
from memrepo.policies.hotcache import CRITICAL, REQUEST, hot_of


class NotForTheCache(MemrepoError):
    """Notes, chunks and what recall does not see have no place on the hot cache."""

    exit_code = Exit.USAGE

    def __init__(self, memory: Memory) -> None:
        what = memory.type if memory.status == "active" else memory.status
        super().__init__(
            f"{memory.id} is {'a ' if memory.status == 'active' else ''}{what}:"
            " expected an active memory that is no note",
            fix="`memrepo nominate` lists the notes that earned a place among the memories",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `promote`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    critical: Annotated[
        bool,
        option("needed in every session: never evicted or pruned", "--critical", group="way"),
    ] = False
    off: Annotated[
        bool,
        option("take it off the hot cache; the memory stays as it is", "--off", group="way"),
    ] = False
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Set `hot`, and `critical` where asked for; or record when the memory left."""

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if request.off:
            return _demoted(memory, work.call.now)
        if memory.status != "active" or memory.type in ("note", "chunk"):
            raise NotForTheCache(memory)
        is_new = request.critical and not memory.flag("critical")
        if hot_of(memory) is not None and not is_new:
            return unchanged(memory, "is on the hot cache already")
        reason = CRITICAL if request.critical else REQUEST
        fields = {"hot": Hot(since=work.call.now, reason=reason)}
        marked = {**fields, "critical": True} if request.critical else fields
        return Step(
            op="promote",
            reason=reason,
            changes=(Update(id=memory.id, fields=marked),),
        )

    return write(work, request, draft)


def _demoted(memory: Memory, now: datetime) -> Step | Unchanged:
    """Record when it left; a critical memory is critical no longer, or it would come back."""
    for step in forgotten(memory, now, "demoted by hand"):
        return step
    return unchanged(memory, "is not on the hot cache")
