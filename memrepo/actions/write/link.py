"""`memrepo link`: a typed edge from one memory to another."""

from __future__ import annotations

import argparse

from memrepo.actions.write.adding import checked
from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.write.single import unchanged, write, write_arguments
from memrepo.core.changes import Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.state import State

TYPES = ("follows", "references", "contradicts", "supports", "related")


class LinkToItself(MemrepoError):
    """A memory cannot be linked to itself."""

    exit_code = Exit.USAGE

    def __init__(self, id_: str) -> None:
        super().__init__(f"both ends are {id_}", fix="name two memories")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="A", help="the memory the link starts from")
    parser.add_argument("type", metavar="TYPE", choices=TYPES, help=", ".join(TYPES))
    parser.add_argument("target", metavar="B", help="the memory it points at")
    parser.add_argument("--strength", default="1.0", metavar="S", help="0 to 1 (1)")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Add the link to A; a link of the same type and target gets the new strength."""

    def draft(state: State) -> Step | Answer:
        memory, target = find(state, options.id), find(state, options.target)
        if memory.id == target.id:
            raise LinkToItself(memory.id)
        (link,) = checked(
            "links", [{"target": target.id, "type": options.type, "strength": options.strength}]
        )
        old = memory.fields.get("links", ())
        if link in old:
            return unchanged(memory, "has this link already")
        rest = tuple(x for x in old if (x.target, x.type) != (link.target, link.type))
        return Step(
            op="link",
            what=f"{memory.label} {link.type} {target.label}",
            reason="linked by hand",
            changes=(Update(id=memory.id, fields={"links": (*rest, link)}),),
            memories=(memory.id, target.id),
        )

    with opened(session) as desk:
        return write(desk, session, options, draft)
