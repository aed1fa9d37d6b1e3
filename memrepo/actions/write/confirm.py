"""`memrepo confirm`: somebody looked at a memory and says that it holds."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step, Update
from memrepo.core.memory import Stamp
from memrepo.core.state import State


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory that holds")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Add the actor and the time to `verified`; the text is not touched."""
    with opened(session) as desk:
        stamp = Stamp(by=desk.actor(session), at=session.now)

        def draft(state: State) -> Step | Answer:
            memory = find(state, options.id)
            verified = memory.fields.get("verified", ())
            if stamp in verified:
                return unchanged(memory, "is confirmed already")
            return Step(
                op="confirm",
                what=memory.slug,
                reason="confirmed by hand",
                changes=(Update(id=memory.id, fields={"verified": (*verified, stamp)}),),
            )

        return write(desk, session, options, draft)
