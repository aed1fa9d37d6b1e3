"""Counting what recall was used for: which retrievals the ledger is told of, and in which session.

A retrieval is a memory opened by its id, or a hit passed with its body: at most the first
three of a query.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from memrepo.actions.work import Work
from memrepo.core.access import RETRIEVAL, SESSION, Event, seconds
from memrepo.store.ledger import ledger_of
from memrepo.store.lock import Locked

HITS = 3
"""Hits of one query that count as retrieved."""
CURRENT = "session"
"""The file in memrepo's folder that names the session which began last in this clone."""


def current(work: Work) -> Event:
    """Return the start of the session that a retrieval belongs to.

    The environment names it, else it is the one that `session start` began last, else the day:
    whoever starts no sessions has one a day.
    """
    day = work.call.now.astimezone(work.config.zone).replace(hour=0, minute=0, second=0)
    if work.call.id:
        return Event(kind=SESSION, at=seconds(day), session=work.call.id)
    with suppress(OSError, UnicodeDecodeError):
        at, _, id_ = (work.store.folder / CURRENT).read_text(encoding="utf-8").partition(" ")
        if at.isdecimal() and id_.strip():
            return Event(kind=SESSION, at=int(at), session=id_.strip())
    return Event(kind=SESSION, at=seconds(day), session=f"day-{day:%Y-%m-%d}")


def touch(work: Work, ids: Iterable[str]) -> None:
    """Count retrievals of today; where the ledger cannot be written, reading works all the same.

    A look into the past is none: whoever looks there does not call this.
    """
    found = tuple(ids)
    if found and work.config.get("access.enabled"):
        count_retrieval(work, found)


def count_retrieval(work: Work, ids: Iterable[str]) -> None:
    """Count a restore, or a pin, as one retrieval: what came back does not rest again at once."""
    start, at = current(work), seconds(work.call.now)
    events = [Event(kind=RETRIEVAL, at=at, session=start.session, memory=id_) for id_ in ids]
    with suppress(OSError, Locked):
        ledger = ledger_of(work.store)
        ledger.record([start, *events], work.call.now, work.config.get("access.buffer"))
