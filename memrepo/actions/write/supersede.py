"""`memrepo supersede`: replace a memory by a newer statement, both files in one commit."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import successor, text_of, unchanged, write, write_arguments
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


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory to replace")
    parser.add_argument("text", metavar="TEXT", help="what holds now, or - for standard input")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Write the successor and mark the old memory, indivisibly."""
    text = text_of(session, options.text, "the text")

    def draft(state: State) -> Step | Answer:
        old = find(state, options.id)
        if text_hash(old.body) == text_hash(text):
            return unchanged(old, "says this already")
        if old.status != "active":
            raise NotActive(old)
        new = successor(state, old, text, session.now, actor, replaces=(old.id,))
        return Step(
            op="supersede",
            what=f"{old.label} by {new.label}",
            reason="replaced by hand",
            changes=(
                Create(memory=new),
                Update(
                    id=old.id,
                    fields={
                        "status": "superseded",
                        "superseded_at": session.now,
                        "superseded_by": (*old.texts("superseded_by"), new.id),
                    },
                ),
            ),
        )

    with opened(session) as desk:
        actor = desk.actor(session)
        return write(desk, session, options, draft)
