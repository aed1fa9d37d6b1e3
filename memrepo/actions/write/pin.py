"""`memrepo pin` and `memrepo unpin`: protect a memory from ageing, eviction and pruning."""

from __future__ import annotations

from typing import Annotated, Protocol

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, Writes, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, unchanged, write
from memrepo.core.changes import Step, Update
from memrepo.core.state import State


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `pin`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Set `pinned`."""
    return set_pinned(work, request, pinned=True)


class _Pins(Writes, Protocol):
    @property
    def id(self) -> str:
        """Return the memory."""


def set_pinned(work: Work, request: _Pins, *, pinned: bool) -> Written | Unchanged:
    """Set or remove `pinned`, in one commit."""

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if memory.flag("pinned") == pinned:
            return unchanged(memory, "is pinned already" if pinned else "is not pinned")
        return Step(
            op="pin",
            what=memory.slug if pinned else f"{memory.slug} no longer",
            reason="pinned by hand" if pinned else "unpinned by hand",
            changes=(Update(id=memory.id, fields={"pinned": True if pinned else None}),),
        )

    return write(work, request, draft)
