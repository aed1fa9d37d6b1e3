"""One call of a tool: the session it runs in, and the arguments that were checked."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memrepo.actions.work import Answer, Session
from memrepo.actions.write.single import NothingSaid
from memrepo.faces.cli.table import command_parser, run_command
from memrepo.core.ids import slugify
from memrepo.core.messages import REASON_LENGTH, fold

PROGRAM = "process:"
SINGLE = ("add", "supersede", "forget", "restore")
"""Commands of one commit each: its subject is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call; `arguments` fit the tool's schema."""

    session: Session
    arguments: Mapping[str, Any]

    def get(self, name: str, default: Any = "") -> Any:
        """Return an argument, or what it is when left out."""
        return self.arguments.get(name, default)

    def run(self, command: str, line: Sequence[str] = (), **options: Any) -> Answer:
        """Run a command as its command line would, with options that no parser looks at."""
        given = command_parser(command).parse_args(list(line))
        return run_command(self.session, command, argparse.Namespace(**{**vars(given), **options}))

    def write(self, command: str, line: Sequence[str] = (), **options: Any) -> Answer:
        """Run a command that writes, for the reason that the call names.

        A text is handed over as standard input, so that no text reads as an option.
        """
        reason = fold(self.get("reason"), REASON_LENGTH)
        if not reason:
            raise NothingSaid("the reason")
        session = replace(
            self.session,
            expect=self.get("expected_commit"),
            subject=reason if command in SINGLE else "",
            read=lambda: str(self.get("text")),
        )
        return replace(self, session=session).run(command, line, reason=reason, **options)


def acting(session: Session, client: str) -> Session:
    """Return the session of one call: quiet, at the time of now, and of a program.

    A tool never acts for a person, whatever the environment or the client's name says.
    """
    actor = session.actor
    if not actor.startswith(PROGRAM):
        actor = PROGRAM + (slugify(client)[:40].strip("-") if client.strip() else "mcp")
    now = session.clock() if session.clock else session.now
    return replace(
        session,
        now=now,
        actor=actor,
        json=True,
        quiet=True,
        colour=False,
        say=_nothing,
        tick=_nothing,
        read=str,
    )


def _nothing(_: str) -> None:
    return
