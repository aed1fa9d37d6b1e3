"""Counting what recall was used for: which retrievals the ledger is told of, and in which session.

A retrieval is a memory opened by its id, or a hit handed over with its body: at most the first
three of a query.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import suppress

from memrepo.commands.session import Desk, Session
from memrepo.core.access import RETRIEVAL, Event, seconds
from memrepo.store.ledger import ledger_of
from memrepo.store.lock import Locked

HITS = 3
"""Hits of one query that count as retrieved."""
CURRENT = "session"
"""The file in memrepo's folder that names the session which began last in this clone."""


def touch_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the option of commands that count what they hand over."""
    parser.add_argument("--no-touch", action="store_true", help="do not count this as a retrieval")


def session_id(desk: Desk, session: Session) -> str:
    """Return the session a retrieval belongs to.

    The environment names it, else it is the one that `session start` began last, else the day:
    whoever starts no sessions has one a day.
    """
    if session.id:
        return session.id
    with suppress(OSError, UnicodeDecodeError):
        found = (desk.store.folder / CURRENT).read_text(encoding="utf-8").strip()
        if found:
            return found
    return f"day-{session.now:%Y-%m-%d}"


def touch(desk: Desk, session: Session, options: argparse.Namespace, ids: Iterable[str]) -> None:
    """Count retrievals of today; where the ledger cannot be written, reading works all the same.

    A look into the past (`--at`) is none, nor is what `--no-touch` asks for.
    """
    if options.no_touch or options.at:
        return
    name, at = session_id(desk, session), seconds(session.now)
    events = [Event(kind=RETRIEVAL, at=at, session=name, memory=id_) for id_ in ids]
    with suppress(OSError, Locked):
        ledger_of(desk.store).record(events, session.now)
