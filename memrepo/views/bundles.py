"""Export memories for other programs, and their usage in the tracker files of earlier tools.

The formats are JSON objects, hygiene.json and its monthly logs (lineage: layered-memory-manager)
and refcount.json (lineage: context-clear).
Log entries older than 180 days move to the file of their month. If the tracker is still too large,
the oldest months move too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from memrepo.core.access import Access, Accesses
from memrepo.core.ids import visible
from memrepo.core.memory import FIELDS, Memory, defaults_of, node_of
from memrepo.core.messages import counted
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.formats.records import spell_lines
from memrepo.policies.ageing import Nomination, effective
from memrepo.policies.hotcache import hot_of, unused
from memrepo.policies.rules import TierRules


def layer_pages(state: State) -> dict[str, str]:
    """Return the whole text of active memories as `memory/LAYER.md` pages, by path."""
    layers: dict[str, list[Memory]] = defaultdict(list)
    for memory in state.active:
        if memory.type not in ("note", "chunk"):
            layers[memory.layer].append(memory)
    return {
        f"memory/{layer}.md": _bytes(
            [
                f"# {layer.capitalize()}",
                "",
                *(f"- {_safe_text(m.body or m.title)}".replace("\n", "\n  ") for m in members),
            ]
        ).decode()
        for layer, members in sorted(layers.items())
    }


def _safe_text(text: str) -> str:
    """Escape HTML comments in a text, since some programs treat comments as commands."""
    return visible(without_secrets(text)).replace("\\<!--", "<!--").replace("<!--", "&lt;!--")


def _bytes(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


MEMORIES = "memories.jsonl"


def memory_json(memory: Memory) -> dict[str, object]:
    """Return a memory's path, layer, fields and text as JSON values."""
    given = {**memory.fields, **({"sources": memory.sources} if memory.sources else {})}
    fields = {f.name: _value(given[f.name]) for f in FIELDS if f.name in given}
    return {"path": memory.path, "layer": memory.layer, **fields, "text": memory.body}


def _value(value: Any) -> Any:
    match value:
        case msgspec.Struct():
            defaults = defaults_of(type(value))
            names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
            parts = ((key, getattr(value, name), defaults[name]) for key, name in names)
            return {key: _value(part) for key, part, default in parts if part != default}
        case tuple():
            return [_value(part) for part in value]
        case bool() | int() | float():
            return value
        case _:
            return str(node_of(value))


def jsonl(memories: Iterable[Memory]) -> dict[str, bytes]:
    """Return one JSON lines file with the memories by path."""
    ordered = sorted(memories, key=lambda m: m.path)
    return {MEMORIES: spell_lines(memory_json(memory) for memory in ordered)}


HYGIENE, REFCOUNT, REPORT = "hygiene.json", "refcount.json", "promote_report.md"
LOG = "hygiene-log-{month}.json"
RETENTION = timedelta(days=180)
SIZE = 50 * 1024
WEEK = 7
_LOGS = ("promotionLog", "demotionLog")


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """A promotion, demotion or archiving recorded in the history."""

    op: str
    memory: str
    when: datetime
    reason: str


def key_of(memory: Memory) -> str:
    """Return a memory's name in the hot cache's log: `<layer>:<slug>`."""
    return f"{memory.layer}:{memory.slug}"


def file_key(memory: Memory) -> str:
    """Return a memory's name in the log of memory files: `memory/<layer>.md:<slug>`."""
    return f"memory/{memory.layer}.md:{memory.slug}"


def hygiene_files(
    memories: Mapping[str, Memory], accesses: Accesses, logged: Iterable[Logged], now: datetime
) -> dict[str, bytes]:
    """Return hygiene.json and its monthly logs, by file name.

    Memories without an access are omitted, except those that left the hot cache, whose count
    restarts.
    """
    found = sorted(
        (
            m
            for m in memories.values()
            if m.type not in ("note", "chunk") and m.status in ("active", "archived")
        ),
        key=lambda m: m.path,
    )
    events = [e for e in logged if e.memory in memories]
    hot = {key_of(m): _hot_entry(m, accesses, now) for m in found if hot_of(m) is not None}
    cold = {}
    for memory in found:
        if memory.status == "active" and hot_of(memory) is None:
            left = memory.hot
            recent = accesses.of(memory.id).since(left.until if left is not None else None)
            if recent or left is not None:
                sessions = sorted({id_ for _, id_ in recent})
                cold[file_key(memory)] = {
                    "accessCount": len(sessions),
                    "sessions": sessions,
                    "lastAccess": _day(Access(recent=tuple(recent)).last),
                }
    archived = []
    for memory in found:
        if memory.status == "archived":
            mine = [e for e in events if e.op == "archive" and e.memory == memory.id]
            reason = max(mine, key=lambda e: e.when).reason if mine else ""
            at = _day(memory.archived_at)
            archived.append({"entry": file_key(memory), "archivedAt": at, "reason": reason})
    tracker: dict[str, object] = {
        "L1accessLog": hot,
        "accessLog": cold,
        "promotionLog": _log("promote", events, memories),
        "demotionLog": _log("demote", events, memories),
        "archiveQueue": archived,
    }
    return _cut(tracker, (now - RETENTION).date().isoformat())


def refcount_file(
    notes: Iterable[Memory], accesses: Accesses, now: datetime, rules: TierRules
) -> bytes:
    """Return refcount.json: how often and when each note was retrieved, by tier and file."""
    found = {}
    for note in sorted(notes, key=lambda m: m.path):
        access = accesses.of(note.id)
        created = note.created
        entry: dict[str, object] = {
            "total": access.total,
            "7d": access.within(WEEK, now),
            "timestamps": sorted(at for at, _ in access.recent),
            "user_marked": note.user_marked,
            "summarized": "gist" in note.fields,
            "created": int(created.timestamp()) if created else 0,
        }
        if note.promoted:
            entry["promoted"] = True
        found[f"{effective(note, access, now, rules)}/{note.slug}.md"] = entry
    return _spelled(found)


def _hot_entry(memory: Memory, accesses: Accesses, now: datetime) -> dict[str, object]:
    last = next(iter(accesses.of(memory.id).recent), None)
    return {
        "sessionsSinceAccess": unused(memory, accesses, now),
        "lastAccess": _day(accesses.of(memory.id).last),
        "lastSessionId": last[1] if last else None,
        "pinned": memory.pinned,
    }


def _log(op: str, events: Sequence[Logged], memories: Mapping[str, Memory]) -> list[dict[str, str]]:
    """Return the log entries of one operation, oldest first."""
    ends = ("L2", "L1") if op == "promote" else ("L1", "L2")
    rows, newest = [], set[str]()
    for event in sorted(events, key=lambda e: (e.when, e.memory), reverse=True):
        if event.op != op:
            continue
        hot = memories[event.memory].hot
        known = None if hot is None else hot.since if op == "promote" else hot.until
        at = event.when if event.memory in newest or known is None else known
        newest.add(event.memory)
        rows.append(
            {
                "entry": file_key(memories[event.memory]),
                "from": ends[0],
                "to": ends[1],
                "at": at.date().isoformat(),
                "reason": event.reason,
            }
        )
    return rows[::-1]


def _cut(tracker: dict[str, Any], oldest: str) -> dict[str, bytes]:
    """Move old log entries to monthly files, and more months while the tracker is too large."""
    months: dict[str, dict[str, list[object]]] = defaultdict(lambda: {name: [] for name in _LOGS})
    while rows := sorted(row["at"] for name in _LOGS for row in tracker[name]):
        if rows[0] >= oldest and len(_spelled(tracker)) <= SIZE:
            break
        month = rows[0][:7]
        for name in _LOGS:
            moved = [
                r
                for r in tracker[name]
                if r["at"][:7] == month and (r["at"] < oldest or rows[0] >= oldest)
            ]
            months[month][name] += moved
            tracker[name] = [r for r in tracker[name] if r not in moved]
    files = {LOG.format(month=month): _spelled(logs) for month, logs in sorted(months.items())}
    return {HYGIENE: _spelled(tracker), **files}


def _day(when: datetime | None) -> str | None:
    return when.date().isoformat() if when is not None else None


def _spelled(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=1).encode() + b"\n"


def report(found: Sequence[Nomination]) -> list[str]:
    """Return the lines of a markdown report on nominated notes, with proposed destinations."""
    count = counted(len(found), "note is", "notes are")
    lines = ["# Promotion report", "", f"{count} nominated."]
    for one in found:
        lines += [
            "",
            f"## {one.name}",
            "",
            f"- file: `{one.path}`",
            f"- retrievals: {one.retrievals}" + (f", last {one.last}" if one.last else ""),
            f"- why: {', '.join(one.why)}",
            f"- destination: {one.destination}",
        ]
    return lines
