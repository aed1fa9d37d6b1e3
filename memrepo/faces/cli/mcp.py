"""`memrepo mcp`: serve the memory's tools to an agent over standard input and output."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from memrepo.actions.work import Answer, Session, opened
from memrepo.core.errors import Exit, MemrepoError


class NotInstalled(MemrepoError):
    """The package that speaks the protocol comes with an extra."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            "found no package `mcp`, which `memrepo mcp` speaks the protocol with",
            fix='pip install "memrepo[mcp]"',
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--toolset",
        choices=("default", "admin"),
        default="default",
        help="admin adds tools to review, take back and restore",
    )
    parser.add_argument(
        "--connector", action="store_true", help="add `search` and `fetch` for connector clients"
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Serve until the client leaves; a folder without memories is said at once."""
    if find_spec("mcp") is None:
        raise NotInstalled
    with opened(session):
        pass
    from memrepo.faces.mcp.server import serve

    serve(session, admin=options.toolset == "admin", connector=options.connector)
    return Answer()
