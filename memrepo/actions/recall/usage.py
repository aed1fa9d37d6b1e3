"""The retrieval counts in the ledger, by session.

A retrieval is a memory opened by its id, or a hit returned with its body. At most the first three
hits of a query count.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from memrepo.actions.work import Work
from memrepo.core.access import RETRIEVAL, SESSION, Event, seconds
from memrepo.store.ledger import ledger_of
from memrepo.store.lock import Locked

HITS = 3
"""Number of hits per query that count as retrieved."""
CURRENT = "session"
"""The file in memrepo's folder that names the session started last in this clone."""


def current(work: Work) -> Event:
    """Return the start event of the session to which a new retrieval belongs.

    The session is named by the environment, or is the one started last with `session start`. If
    neither exists, each day counts as one session.
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
    """Record retrievals at the current time, if access counting is enabled.

    If the ledger cannot be written, reading still works. Queries about the past must not call this.
    """
    found = tuple(ids)
    if found and work.config.get("access.enabled"):
        count_retrieval(work, found)


def count_retrieval(work: Work, ids: Iterable[str]) -> None:
    """Record one retrieval for each of the memories.

    Restores and pins call this, so that the memory stays in recall.
    """
    start, at = current(work), seconds(work.call.now)
    events = [Event(kind=RETRIEVAL, at=at, session=start.session, memory=id_) for id_ in ids]
    with suppress(OSError, Locked):
        ledger = ledger_of(work.store)
        ledger.record([start, *events], work.call.now, work.config.get("access.buffer"))
