"""`memrepo demote`: take a memory off the hot cache; the memory itself stays as it is."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step
from memrepo.core.state import State
from memrepo.policies.directives import forgotten


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Record when it left; a critical memory is critical no longer, or it would come back."""

    def draft(state: State) -> Step | Answer:
        memory = find(state, options.id)
        for step in forgotten(memory, session.now, "demoted by hand"):
            return step
        return unchanged(memory, "is not on the hot cache")

    with opened(session) as desk:
        return write(desk, session, options, draft)
