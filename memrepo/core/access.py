"""Usage statistics: retrieval and session events, and the counts computed from them.

Each record stores only the newest entries (30 days, 16 retrievals, 64 sessions). Merging records in
any order or grouping therefore gives the same result. Times are whole seconds since 1970 (UTC).
Days are counted in UTC. msgspec writes and reads all of it as JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from heapq import nlargest
from typing import Literal

import msgspec

DAYS, RECENT, SESSIONS = 30, 16, 64
DAY_S = 86_400
RETRIEVAL: Literal["retrieval"] = "retrieval"
SESSION: Literal["session"] = "session"


class Event(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A usage event: `kind` is "retrieval" (of a memory) or "session" (a session start).

    `memory` is empty for session events. `at` is in seconds since 1970.
    """

    kind: Literal["retrieval", "session"]
    at: int
    session: str
    memory: str = ""


class Access(msgspec.Struct, frozen=True, array_like=True):
    """The usage record of one memory: total retrievals, counts per day, and newest retrievals.

    `days` has (day number, count) pairs and `recent` has (second, session) pairs. Both are ordered
    newest first.
    """

    total: int = 0
    days: tuple[tuple[int, int], ...] = ()
    recent: tuple[tuple[int, str], ...] = ()

    @property
    def last(self) -> datetime | None:
        """Return the time of the last retrieval, or None if there was none."""
        return moment(self.recent[0][0]) if self.recent else None

    def since(self, cutoff: datetime | None) -> tuple[tuple[int, str], ...]:
        """Return the recent retrievals after `cutoff`, newest first, or all if `cutoff` is None."""
        floor = -1 if cutoff is None else seconds(cutoff)
        return tuple(pair for pair in self.recent if pair[0] > floor)

    def after(self, cutoff: datetime) -> Access:
        """Return a usage record that contains only the entries of `recent` after `cutoff`."""
        return _access(self.since(cutoff))

    def within(self, days: int, now: datetime) -> int:
        """Count the retrievals in the last `days` days (UTC), including today."""
        today = seconds(now) // DAY_S
        return sum(count for day, count in self.days if today - days < day <= today)

    def __add__(self, other: Access) -> Access:
        sums = Counter(dict(self.days))
        sums.update(dict(other.days))
        return Access(
            self.total + other.total,
            tuple(nlargest(DAYS, sums.items())),
            tuple(nlargest(RECENT, (*self.recent, *other.recent))),
        )


NEVER = Access()


def _access(times: Iterable[tuple[int, str]]) -> Access:
    times = tuple(times)
    days = Counter(at // DAY_S for at, _ in times)
    return Access(len(times), tuple(nlargest(DAYS, days.items())), tuple(nlargest(RECENT, times)))


class Accesses(msgspec.Struct, frozen=True, kw_only=True, rename={"by_memory": "memories"}):
    """Usage records by memory id, and the newest sessions, computed from the ledger of events.

    `sessions` has (second, id) pairs. A session reported more than once is counted once.
    """

    by_memory: dict[str, Access] = msgspec.field(default_factory=dict)
    sessions: tuple[tuple[int, str], ...] = ()

    def of(self, memory: str) -> Access:
        """Return the usage record of a memory. The record is empty if there were no retrievals."""
        return self.by_memory.get(memory, NEVER)

    def sessions_since(self, when: datetime, now: datetime) -> int:
        """Count the sessions that began after `when` and no later than `now` (at most 64)."""
        low, high = seconds(when), seconds(now)
        return len({id_ for at, id_ in self.sessions if low < at <= high})


def united(parts: Iterable[Accesses]) -> Accesses:
    """Merge several sets of usage records. The order and grouping of the sets do not matter."""
    merged: dict[str, Access] = {}
    sessions: tuple[tuple[int, str], ...] = ()
    for part in parts:
        for memory, access in part.by_memory.items():
            merged[memory] = merged[memory] + access if memory in merged else access
        sessions = tuple(nlargest(SESSIONS, {*sessions, *part.sessions}))
    return Accesses(by_memory=merged, sessions=sessions)


def fold(events: Iterable[Event]) -> Accesses:
    """Count events by memory and collect sessions. The order of events does not matter."""
    times: dict[str, list[tuple[int, str]]] = {}
    sessions: set[tuple[int, str]] = set()
    for event in events:
        if event.kind == SESSION:
            sessions.add((event.at, event.session))
        else:
            times.setdefault(event.memory, []).append((event.at, event.session))
    return Accesses(
        by_memory={memory: _access(found) for memory, found in sorted(times.items())},
        sessions=tuple(nlargest(SESSIONS, sessions)),
    )


def seconds(when: datetime) -> int:
    """Convert a datetime to whole seconds since 1970."""
    return int(when.timestamp())


def moment(at: int) -> datetime:
    """Convert seconds since 1970 to a datetime in UTC."""
    return datetime.fromtimestamp(at, tz=UTC)
