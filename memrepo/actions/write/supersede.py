"""`memrepo supersede`: replace a memory by a newer statement, both files in one commit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, said, successor, unchanged, write
from memrepo.core.changes import Create, Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import text_hash
from memrepo.core.memory import Memory
from memrepo.core.state import State


class NotActive(MemrepoError):
    """The memory is not in effect: replacing it again would fork its history."""

    exit_code = Exit.DECIDE

    def __init__(self, memory: Memory) -> None:
        after = ", ".join(memory.texts("superseded_by"))
        super().__init__(
            f"{memory.id} is {memory.status}{f' by {after}' if after else ''}, not active",
            fix=f"supersede {after} instead" if after else "add a memory instead",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `supersede`."""

    id: Annotated[str, option("the memory to replace", metavar="ID")]
    text: Annotated[
        str, option("what holds now, or - for standard input", metavar="TEXT", piped=True)
    ]
    also: Annotated[
        tuple[str, ...], option("replace this one too: two become one", "--also", metavar="ID")
    ] = ()
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Write the successor and mark the old memory, indivisibly."""
    text = said(request.text, "the text")

    def draft(state: State) -> Step | Unchanged:
        old = find(state, request.id)
        every = tuple(
            {m.id: m for m in (old, *(find(state, word) for word in request.also))}.values()
        )
        if any(text_hash(one.body) == text_hash(text) for one in every):
            return unchanged(old, "says this already")
        for one in every:
            if one.status != "active":
                raise NotActive(one)
        ids = tuple(one.id for one in every)
        now, zone = work.call.now, work.config.zone
        new = successor(state, old, text, now, actor, replaces=ids, zone=zone)
        return Step(
            op="supersede",
            reason="replaced by hand",
            changes=(Create(memory=new), *(_gone(one, new, work.call.now) for one in every)),
        )

    actor = work.actor
    return write(work, request, draft)


def _gone(old: Memory, new: Memory, now: datetime) -> Update:
    fields = {
        "status": "superseded",
        "superseded_at": now,
        "superseded_by": (*old.texts("superseded_by"), new.id),
    }
    return Update(id=old.id, fields=fields)
