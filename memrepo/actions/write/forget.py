"""`memrepo forget`: recall no longer sees a memory; its file and history stay."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step, Update
from memrepo.core.state import State


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory to forget")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Set the status to forgotten."""

    def draft(state: State) -> Step | Answer:
        memory = find(state, options.id)
        if memory.status == "forgotten":
            return unchanged(memory, "is forgotten already")
        return Step(
            op="forget",
            what=memory.slug,
            reason="forgotten by hand",
            changes=(Update(id=memory.id, fields={"status": "forgotten"}),),
        )

    with opened(session) as desk:
        return write(desk, session, options, draft)
