"""The manifest of a run: the sources read, the counts, the judgement of each memory, and its uses.

Manifests also record progress: the input read so far is the union of all manifests in a tree.

Of retrievals and sessions, each record stores only the newest entries (30 days, 16 retrievals, 64
sessions). Merging records in any order or grouping therefore gives the same result. Times are whole
seconds since 1970 (UTC), days are counted in UTC. msgspec writes and reads all of it as JSON.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import reduce
from heapq import nlargest
from operator import add
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Problem, problem
from memrepo.core.judge import Usage
from memrepo.core.layout import Layout
from memrepo.core.patterns import regex
from memrepo.core.times import local_day, parse_time

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


IMPORT = "import"
"""The mode of the manifest of an import, which made memories but was no run."""
SCHEMA_VERSION = 1
LOGIC_VERSION = 1
"""Incremented if equal input may be judged or assembled differently. All input is then judged
again."""
_RUN = regex(r"(\d{8}T\d{6}Z)-[0-9a-f]{8}(?:-import)?", re.ASCII)
_BLOB = regex(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")


class Consumed(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A source read by a run, with its blobs from the previous run (or empty) and from this run."""

    resource: str
    to: str
    from_: str = ""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of judging, the hash of the prompts, and why judging is incomplete, if it is.

    `arranged` is whether a model arranged the shelf.
    """

    usage: Usage = msgspec.field(default_factory=Usage)
    prompt_hash: str = ""
    batches_done: int = 0
    batches_left: int = 0
    partial: str = ""
    arranged: bool = False

    @property
    def trailer(self) -> str:
        """Return the cost as one line for a commit message, or an empty string if it is zero."""
        used = self.usage
        if not used.calls:
            return ""
        cost = "price unknown" if used.cost_usd is None else f"{used.cost_usd:.4f} USD"
        calls = f"{used.calls} call{'s' if used.calls > 1 else ''}"
        return f"{cost}, {used.total} tokens ({used.source}), {calls}"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What a run decided about a statement, stored here because headers have no field for it.

    `rank` and `signs` say why rules chose it.
    """

    disposition: str = ""
    reason: str = ""
    rank: float = 0.0
    signs: tuple[str, ...] = ()


class Manifest(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"logic": "logic_version", "schema": "schema_version", "package": "package_version"},
):
    """The record of one run. It contains no durations, so identical runs write identical bytes.

    A run writes it. Later runs, `why` and exports read it.
    """

    run: str
    mode: str = ""
    judge: str = ""
    profile: str = ""
    base: str = ""
    """The commit that the run was computed on, or an empty string."""
    now: str = ""
    package: str = ""
    consumed: tuple[Consumed, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, tuple[Judged, ...]] = msgspec.field(default_factory=dict)
    warnings: tuple[Any, ...] = ()
    quarantined: tuple[Mapping[str, str], ...] = ()
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    used: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Segments of the access ledger, by name."""
    logic: int = 0
    """The versions of judging and of this record. A manifest without them is of an older one."""
    schema: int = 0

    @property
    def when(self) -> datetime | None:
        """Return the time of the run, or None if a damaged manifest has none."""
        try:
            return parse_time(self.now)
        except ValueError:
            return None

    def to_bytes(self) -> bytes:
        """Format the manifest as JSON with sorted keys and a trailing newline."""
        record = msgspec.to_builtins(self, enc_hook=dict)
        if not self.used:
            del record["used"]
        text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True)
        return f"{text}\n".encode()


def spent_in_month(now: datetime, recorded: Iterable[Manifest], zone: tzinfo) -> Usage:
    """Return the total usage in one calendar month of a time zone."""
    return _spent(local_day(now, zone)[:7], recorded, zone)


def spent_in_day(now: datetime, recorded: Iterable[Manifest], zone: tzinfo) -> Usage:
    """Return the total usage on one calendar day of a time zone."""
    return _spent(local_day(now, zone), recorded, zone)


def _spent(since: str, recorded: Iterable[Manifest], zone: tzinfo) -> Usage:
    return reduce(
        add, (m.receipt.usage for m in recorded if _day(m, zone).startswith(since)), Usage()
    )


def _day(run: Manifest, zone: tzinfo) -> str:
    return local_day(run.when, zone) if run.when else ""


def read_manifest(path: str, data: bytes) -> Manifest | Problem:
    """Decode a manifest, or return the problem if it is damaged: its input will be read again."""
    try:
        found = msgspec.json.decode(data, type=Manifest)
        if _BLOB.fullmatch(found.base) is None:
            found = replace(found, base="")
        _check_run(found.run)
        if not all(_BLOB.fullmatch(id_) for c in found.consumed for id_ in (c.to, c.from_)):
            raise ValueError("a source without the id of its blob")
    except _UNREADABLE as error:
        return problem("manifest-unreadable", path, error=type(error).__name__, cause=error)
    return found


_UNREADABLE = (
    msgspec.MsgspecError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)


def _check_run(run: str) -> None:
    """Raise ValueError if a run id is malformed, or OverflowError if no later second exists."""
    found = _RUN.fullmatch(run)
    if found is None:
        raise ValueError(f"{run!r} is not the id of a run")
    # The id of the next run is based on this time, so it must be valid.
    datetime.fromisoformat(found[1]) + timedelta(seconds=1)


def read_manifests(
    files: Mapping[str, bytes], layout: Layout
) -> tuple[tuple[Manifest, ...], tuple[Problem, ...]]:
    """Decode all manifests of a tree. Return them, oldest run first, and the problems found."""
    area = layout.area("runs")
    found, problems = [], []
    for path in sorted(p for p in files if p.startswith(area) and p.endswith(".json")):
        match read_manifest(path, files[path]):
            case Manifest() as manifest:
                found.append(manifest)
            case Problem() as problem:
                problems.append(problem)
    return tuple(sorted(found, key=lambda m: m.run)), tuple(problems)
