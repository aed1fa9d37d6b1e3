"""`memrepo unpin`: see `memrepo.actions.write.pin`."""

from __future__ import annotations

import argparse

from memrepo.actions.write.pin import set_pinned
from memrepo.actions.work import Answer, Session
from memrepo.actions.write.single import write_arguments


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Remove `pinned`."""
    return set_pinned(session, options, pinned=False)
