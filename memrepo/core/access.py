"""Usage statistics: retrieval and session events, and the counts computed from them.

Each record stores only the newest entries (30 days, 16 retrievals, 64 sessions). Merging records in
any order or grouping therefore gives the same result. Times are whole seconds since 1970 (UTC).
Days are counted in UTC.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from heapq import nlargest
from types import MappingProxyType
from typing import Any

import msgspec

DAYS, RECENT, SESSIONS = 30, 16, 64
DAY_S = 86_400
RETRIEVAL, SESSION = "retrieval", "session"
KINDS = (RETRIEVAL, SESSION)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A usage event: `kind` is "retrieval" (of a memory) or "session" (a session start).

    `memory` is empty for session events. `at` is in seconds since 1970.
    """

    kind: str
    at: int
    session: str
    memory: str = ""

    def line(self) -> str:
        """Format the event as one line of JSON with a trailing newline."""
        parts = [self.kind, self.at, self.session, self.memory]
        return json.dumps(parts, ensure_ascii=True, separators=(",", ":")) + "\n"


def read_event(line: str) -> Event | None:
    """Parse a line written by `Event.line`. Return None for any other text or a truncated line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match found:
        case [str(kind), int(at), str(session), str(memory)] if kind in KINDS:
            return Event(kind=kind, at=at, session=session, memory=memory)
        case _:
            return None


class Access(msgspec.Struct, frozen=True):
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
        recent = self.since(cutoff)
        return Access(len(recent), tuple(Counter(at // DAY_S for at, _ in recent).items()), recent)

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

    def as_json(self) -> list[Any]:
        """Return the record as a list to write to a JSON ledger file."""
        return [self.total, [list(p) for p in self.days], [list(p) for p in self.recent]]


def read_access(found: Any) -> Access:
    """Parse a list returned by `Access.as_json`. Raise ValueError for any other structure."""
    match found:
        case [int(total), [*days], [*recent]]:
            return Access(
                total,
                tuple((int(d), int(n)) for d, n in days),
                tuple((int(t), str(s)) for t, s in recent),
            )
        case _:
            raise ValueError("not an account")


NEVER = Access()


class Accesses(msgspec.Struct, frozen=True, kw_only=True):
    """Usage records by memory id, and the newest sessions, computed from the ledger of events.

    `sessions` has (second, id) pairs. A session reported more than once is counted once.
    """

    by_memory: Mapping[str, Access] = msgspec.field(default_factory=lambda: MappingProxyType({}))
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
    return Accesses(by_memory=MappingProxyType(merged), sessions=sessions)


def fold(events: Iterable[Event]) -> Accesses:
    """Count events by memory and collect sessions. The order of events does not matter."""
    times: dict[str, list[tuple[int, str]]] = {}
    sessions: list[tuple[int, str]] = []
    for event in events:
        if event.kind == SESSION:
            sessions.append((event.at, event.session))
        else:
            times.setdefault(event.memory, []).append((event.at, event.session))
    return Accesses(
        by_memory=MappingProxyType({memory: _account(found) for memory, found in times.items()}),
        sessions=tuple(nlargest(SESSIONS, set(sessions))),
    )


def _account(found: list[tuple[int, str]]) -> Access:
    days = Counter(at // DAY_S for at, _ in found)
    return Access(len(found), tuple(nlargest(DAYS, days.items())), tuple(nlargest(RECENT, found)))


def seconds(when: datetime) -> int:
    """Convert a datetime to whole seconds since 1970."""
    return int(when.timestamp())


def moment(at: int) -> datetime:
    """Convert seconds since 1970 to a datetime in UTC."""
    return datetime.fromtimestamp(at, tz=UTC)
