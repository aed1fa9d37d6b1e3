"""`memrepo pin` and `memrepo unpin`: protect a memory from ageing, eviction and pruning."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step, Update
from memrepo.core.state import State


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Set `pinned`."""
    return set_pinned(session, options, pinned=True)


def set_pinned(session: Session, options: argparse.Namespace, *, pinned: bool) -> Answer:
    """Set or remove `pinned`, in one commit."""

    def draft(state: State) -> Step | Answer:
        memory = find(state, options.id)
        if memory.flag("pinned") == pinned:
            return unchanged(memory, "is pinned already" if pinned else "is not pinned")
        return Step(
            op="pin",
            what=memory.slug if pinned else f"{memory.slug} no longer",
            reason="pinned by hand" if pinned else "unpinned by hand",
            changes=(Update(id=memory.id, fields={"pinned": True if pinned else None}),),
        )

    with opened(session) as desk:
        return write(desk, session, options, draft)
