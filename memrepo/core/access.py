"""What recall was used for: events of retrieval and of sessions, and their exact fold.

Every part of an account keeps the newest of its kind (30 days, 16 retrievals, 64 sessions), which
is what makes the fold exact: uniting accounts in any order or grouping gives the same account.
Times are whole seconds since 1970 (UTC); days are counted in UTC.
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
    """One thing that happened: `kind` retrieval (of a memory) or session (its start).

    `memory` is empty for a session's start; `at` is in seconds since 1970.
    """

    kind: str
    at: int
    session: str
    memory: str = ""

    def line(self) -> str:
        """Format the event as one line of JSON with its line end."""
        parts = [self.kind, self.at, self.session, self.memory]
        return json.dumps(parts, ensure_ascii=True, separators=(",", ":")) + "\n"


def read_event(line: str) -> Event | None:
    """Read a line that `Event.line` wrote; None for anything else, such as half a line."""
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
    """The account of one memory: how often it was retrieved, on which days, when last.

    `days` are (day number, count) pairs, newest first; `recent` (second, session) pairs, newest
    first.
    """

    total: int = 0
    days: tuple[tuple[int, int], ...] = ()
    recent: tuple[tuple[int, str], ...] = ()

    @property
    def last(self) -> datetime | None:
        """Return when it was last retrieved, or None."""
        return moment(self.recent[0][0]) if self.recent else None

    def since(self, cutoff: datetime | None) -> tuple[tuple[int, str], ...]:
        """Return the newest retrievals after a moment (all of them for None), newest first."""
        floor = -1 if cutoff is None else seconds(cutoff)
        return tuple(pair for pair in self.recent if pair[0] > floor)

    def after(self, cutoff: datetime) -> Access:
        """Return the account of the retrievals after a moment, as far back as single ones go."""
        recent = self.since(cutoff)
        return Access(len(recent), tuple(Counter(at // DAY_S for at, _ in recent).items()), recent)

    def within(self, days: int, now: datetime) -> int:
        """Count retrievals of the last days: today and the `days` - 1 days before it, in UTC."""
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
        """Return the account as a list for a file of the ledger."""
        return [self.total, [list(p) for p in self.days], [list(p) for p in self.recent]]


def read_access(found: Any) -> Access:
    """Read what `as_json` gave; raises ValueError on anything else."""
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
    """The folded ledger: accounts by memory, and the newest sessions as (second, id) pairs.

    A session that is told of twice is one: commands may say again which one they belong to.
    """

    by_memory: Mapping[str, Access] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    sessions: tuple[tuple[int, str], ...] = ()

    def of(self, memory: str) -> Access:
        """Return the account of a memory; one never retrieved has an empty one."""
        return self.by_memory.get(memory, NEVER)

    def sessions_since(self, when: datetime, now: datetime) -> int:
        """Count the sessions that began after a moment and not after now (at most 64)."""
        low, high = seconds(when), seconds(now)
        return len({id_ for at, id_ in self.sessions if low < at <= high})


def united(parts: Iterable[Accesses]) -> Accesses:
    """Add accounts up; the order and the grouping of the parts do not matter."""
    merged: dict[str, Access] = {}
    sessions: tuple[tuple[int, str], ...] = ()
    for part in parts:
        for memory, access in part.by_memory.items():
            merged[memory] = merged[memory] + access if memory in merged else access
        sessions = tuple(nlargest(SESSIONS, {*sessions, *part.sessions}))
    return Accesses(by_memory=MappingProxyType(merged), sessions=sessions)


def fold(events: Iterable[Event]) -> Accesses:
    """Count events; their order does not matter."""
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
    """Return a moment in whole seconds since 1970."""
    return int(when.timestamp())


def moment(at: int) -> datetime:
    """Return the moment of a number of seconds since 1970."""
    return datetime.fromtimestamp(at, tz=UTC)
