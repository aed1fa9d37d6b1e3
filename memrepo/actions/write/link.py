"""`memrepo link`: a typed edge from one memory to another."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.actions.write.drafts import checked
from memrepo.core.changes import Step, Update
from memrepo.core.errors import UsageError
from memrepo.core.state import State

TYPES = ("follows", "references", "contradicts", "supports", "related")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `link`."""

    id: Annotated[str, option("the memory the link starts from", metavar="A")]
    type: Annotated[str, option(", ".join(TYPES), metavar="TYPE", choices=TYPES)]
    target: Annotated[str, option("the memory it points at", metavar="B")]
    strength: Annotated[str, option("0 to 1 (1)", "--strength", metavar="S")] = "1.0"
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Add the link to A; a link of the same type and target gets the new strength."""

    def draft(state: State) -> Step | Unchanged:
        memory, target = find(state, request.id), find(state, request.target)
        if memory.id == target.id:
            raise UsageError(
                f"both ends are {memory.id}",
                fix="name two memories",
            )
        (link,) = checked(
            "links", [{"target": target.id, "type": request.type, "strength": request.strength}]
        )
        old = memory.fields.get("links", ())
        if link in old:
            return unchanged(memory, "has this link already")
        rest = tuple(x for x in old if (x.target, x.type) != (link.target, link.type))
        return Step(
            op="link",
            reason="linked by hand",
            changes=(Update(id=memory.id, fields={"links": (*rest, link)}),),
            memories=(memory.id, target.id),
        )

    return write(work, request, draft)
