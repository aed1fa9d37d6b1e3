"""`memrepo check-message`: the commit-msg hook's question, whether a message poses as memrepo's."""

from __future__ import annotations

import argparse

from memrepo.checks.messages import message_problems
from memrepo.actions.work import Answer, Session
from memrepo.faces.cli.table import UsageError
from memrepo.core.errors import Exit


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file."""
    parser.add_argument("file", metavar="FILE", help="the message, as git hands it to its hook")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Answer 1 where the message has trailers of memrepo's, or a secret."""
    path = session.where / options.file
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"memrepo check-message: {options.file}: {error.strerror}",
            fix="name the file that holds the message",
        ) from error
    found = tuple(message_problems(options.file, text))
    return Answer(
        data={"problems": [p.as_json() for p in found]},
        text="\n".join(map(str, found)),
        exit=Exit.NO if found else Exit.DONE,
    )
