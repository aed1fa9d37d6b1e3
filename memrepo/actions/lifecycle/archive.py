"""`memrepo archive`: let a memory rest; it stays in the tree and recall no longer sees it."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step
from memrepo.core.state import State
from memrepo.policies.archive import archive


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Set the status to archived; its decay clock stops."""

    def draft(state: State) -> Step | Answer:
        memory = find(state, options.id)
        if memory.status != "active":
            return unchanged(memory, f"is {memory.status} already")
        return archive(memory, session.now, "archived by hand")

    with opened(session) as desk:
        return write(desk, session, options, draft)
