"""`memrepo promote`: put a memory on the hot cache, because somebody asked for it."""

from __future__ import annotations

import argparse

from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Hot, Memory
from memrepo.core.state import State
from memrepo.policies.hotcache import hot_of

REQUEST = "user request"


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


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory")
    parser.add_argument(
        "--critical", action="store_true", help="needed in every session: never evicted or pruned"
    )
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Set `hot`, and `critical` where asked for."""

    def draft(state: State) -> Step | Answer:
        memory = find(state, options.id)
        if memory.status != "active" or memory.type in ("note", "chunk"):
            raise NotForTheCache(memory)
        is_new = options.critical and not memory.flag("critical")
        if hot_of(memory) is not None and not is_new:
            return unchanged(memory, "is on the hot cache already")
        reason = "critical" if options.critical else REQUEST
        fields = {"hot": Hot(since=session.now, reason=reason)}
        marked = {**fields, "critical": True} if options.critical else fields
        return Step(
            op="promote",
            what=memory.label,
            reason=reason,
            changes=(Update(id=memory.id, fields=marked),),
        )

    with opened(session) as desk:
        return write(desk, session, options, draft)
