"""What hygiene.json and refcount.json tell of memories that are here: steps and retrievals.

Only what is not known yet is taken: an import twice, or of one's own export, changes nothing.
Entries are known by layer and slug, with or without the digits of the id.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from memrepo.core.access import RETRIEVAL, Access, Accesses, Event
from memrepo.core.changes import Op, Step, Update
from memrepo.core.memory import Hot, Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.times import parse_time
from memrepo.policies.hotcache import CRITICAL, hot_of

SESSION_ID = "import"
_DIGITS = regex(r"-[0-9a-f]{6}$")


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What a tracker asks for: steps on memories, events for the ledger, entries not known here."""

    steps: tuple[Step, ...] = ()
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_refcount(data: bytes, name: str, notes: Iterable[Memory], accesses: Accesses) -> Counts:
    """Read refcount.json: when notes were made, how often retrieved, which are marked or promoted.

    Of two times at which a note was made the earlier one counts.
    """
    record, bad = _record(data, name)
    known = _Known(notes, lambda m: m.slug)
    steps: list[Step] = []
    events: list[Event] = []
    for key, entry in record.items():
        note = known.find(key.rpartition("/")[2].removesuffix(".md"), key, name)
        if note is None or not isinstance(entry, dict):
            continue
        news: dict[str, object] = {
            f: True for f in ("user_marked", "promoted") if entry.get(f) and not note.flag(f)
        }
        created, known_since = moment_of(entry.get("created")), note.time("created")
        if created is not None and known_since is not None and created < known_since:
            news["created"] = created
        if news:
            steps.append(_step("edit", note, f"{name}: {', '.join(news)}", news))
        events += _missing(note, accesses.of(note.id), entry)
    return Counts(steps=tuple(steps), events=tuple(events), problems=(*bad, *known.problems))


def read_hygiene(
    data: bytes, name: str, memories: Iterable[Memory], accesses: Accesses, now: datetime
) -> Counts:
    """Read hygiene.json: what was hot, pinned, demoted and archived, and who used it when.

    How many sessions passed since is not taken: it starts at none, as in the lineage's recovery.
    """
    record, bad = _record(data, name)
    known = _Known(memories, lambda m: f"{m.layer}:{m.slug}")
    steps: list[Step] = []
    events: list[Event] = []
    promoted, demoted = (_newest(record.get(log)) for log in ("promotionLog", "demotionLog"))
    for key, entry in _entries(record.get("L1accessLog")):
        if (memory := known.find(key, key, name)) is not None:
            steps += _hot(memory, entry, promoted.get(_plain(key)), now)
            events += _sessions(
                memory,
                accesses.of(memory.id),
                {
                    "sessions": [entry.get("lastSessionId")],
                    "lastAccess": entry.get("lastAccess"),
                },
            )
    for key, entry in _entries(record.get("accessLog")):
        if (memory := known.find(_plain(key), key, name)) is not None:
            row = demoted.get(_plain(key))
            if "hot" not in memory.fields and row is not None:
                until = Hot(until=_day(row.get("at")) or now)
                steps.append(_step("demote", memory, f"{name}: demoted", {"hot": until}))
            events += _sessions(memory, accesses.of(memory.id), entry)
    queue = record.get("archiveQueue")
    for entry in queue if isinstance(queue, list) else ():
        key = str(entry.get("entry", "")) if isinstance(entry, dict) else ""
        memory = known.find(_plain(key), key, name)
        if memory is not None and memory.status == "active":
            at = _day(entry.get("archivedAt")) or now
            why = str(entry.get("reason") or f"{name}: archived")
            fields = {"status": "archived", "archived_at": at}
            steps.append(_step("archive", memory, why, fields))
    return Counts(steps=tuple(steps), events=tuple(events), problems=(*bad, *known.problems))


class _Known:
    """Memories by the name that a tracker gives them."""

    def __init__(self, memories: Iterable[Memory], name: Any) -> None:
        self._by: dict[str, list[Memory]] = defaultdict(list)
        for memory in memories:
            for key in {name(memory), _DIGITS.sub("", name(memory))}:
                self._by[key].append(memory)
        self.problems: list[Problem] = []

    def find(self, word: str, key: str, file: str) -> Memory | None:
        """Return the one memory of a name; none or several are told of."""
        found = self._by.get(word, [])
        if len(found) == 1:
            return found[0]
        what = f"names {len(found)} memories" if found else "names no memory here"
        self.problems.append(
            Problem(
                path=file,
                key=key,
                rule="import-unknown-entry",
                severity="warning",
                message=f"{key!r} {what}",
                fix="add the memory, then import again",
            )
        )
        return None


def _record(data: bytes, name: str) -> tuple[Mapping[str, object], tuple[Problem, ...]]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        found, why = None, str(error)
    else:
        why = f"found {type(found).__name__}"
    if isinstance(found, dict):
        return found, ()
    problem = Problem(
        path=name,
        rule="import-unreadable",
        fix="name the file that the tool wrote",
        message=f"{why}, expected a JSON object",
    )
    return {}, (problem,)


def _entries(found: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    items = found.items() if isinstance(found, dict) else ()
    yield from ((str(key), entry) for key, entry in items if isinstance(entry, dict))


def _plain(key: str) -> str:
    """Return `<layer>:<slug>` for `memory/<layer>.md:<slug>`."""
    folder, _, slug = key.partition(":")
    return f"{folder.removeprefix('memory/').removesuffix('.md')}:{slug}"


def _newest(log: object) -> dict[str, Mapping[str, object]]:
    rows = [r for r in log if isinstance(r, dict)] if isinstance(log, list) else []
    return {_plain(str(r.get("entry"))): r for r in sorted(rows, key=lambda r: str(r.get("at")))}


def _hot(
    memory: Memory, entry: Mapping[str, object], row: Mapping[str, object] | None, now: datetime
) -> Iterator[Step]:
    if hot_of(memory) is None and memory.status == "active":
        since = _day(row.get("at")) if row else None
        reason = str(row.get("reason") or "user request") if row else "user request"
        hot = Hot(since=since or now, reason=reason)
        marked = {"critical": True} if reason == CRITICAL else {}
        yield _step("promote", memory, reason, {"hot": hot, **marked})
    if entry.get("pinned") and not memory.flag("pinned"):
        yield _step("pin", memory, "pinned before", {"pinned": True})


def _sessions(memory: Memory, access: Access, entry: Mapping[str, object]) -> Iterator[Event]:
    """Yield a retrieval for each session that is not known, on the day of the last access."""
    at, sessions = _day(entry.get("lastAccess")), entry.get("sessions")
    seen = {id_ for _, id_ in access.recent}
    if at is not None and isinstance(sessions, list):
        for id_ in sorted({str(s) for s in sessions if s} - seen):
            yield Event(kind=RETRIEVAL, at=int(at.timestamp()), session=id_[:100], memory=memory.id)


def _missing(note: Memory, access: Access, entry: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the retrievals that the ledger lacks; those without a time happened at the start."""
    times = entry.get("timestamps")
    stamps = sorted(int(t) for t in times if isinstance(t, int | float)) if times else []
    total = max(int(entry.get("total") or 0), len(stamps)) if _is_count(entry) else len(stamps)
    known = {at for at, _ in access.recent}
    fresh = [t for t in stamps if t not in known]
    start = int(entry["created"]) if isinstance(entry.get("created"), int | float) else 0
    start = start or (stamps[0] if stamps else 0)
    rest = [start] * (total - len(stamps)) if start else []
    for at in [*rest, *fresh][max(0, len(rest) + len(fresh) - max(0, total - access.total)) :]:
        yield Event(kind=RETRIEVAL, at=at, session=SESSION_ID, memory=note.id)


def _is_count(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("total"), int) and entry["total"] < 10**6


def moment_of(found: object) -> datetime | None:
    """Return a time in seconds since 1970, as the counter has it; None for no such number."""
    if type(found) not in (int, float) or not 0 < found < 10**11:  # type: ignore[operator]
        return None
    return datetime.fromtimestamp(int(found), tz=UTC)  # type: ignore[call-overload]


def _day(found: object) -> datetime | None:
    try:
        return parse_time(str(found)).astimezone(UTC) if found else None
    except ValueError:
        return None


def _step(op: Op, memory: Memory, reason: str, fields: Mapping[str, object]) -> Step:
    change = Update(id=memory.id, fields=fields)
    return Step(op=op, reason=reason, changes=(change,))
