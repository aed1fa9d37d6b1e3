"""`memrepo history`: every commit of one memory, wherever its file lay, and what each changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from memrepo.actions.past.timeline import Past, changing, find_past, who
from memrepo.actions.recall.quotes import span
from memrepo.actions.recall.show import plain
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.request import At, option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.schema import BY_NAME, FIELDS
from memrepo.store.trace import Version

BODY = "text"
SHORT = 60
_INDENT = " " * 30


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `history`."""

    id: Annotated[str, option("the memory, also one that left the tree", metavar="ID")]
    n: Annotated[int, option("at most N commits", "-n", metavar="N", ge=1)] = 0
    at: At = ""


def do(work: Work, request: Request) -> Answer:
    """List the commits that touched the memory, newest first."""
    there = work_at(work, request.at)
    past = find_past(there, there.tree.state(), request.id)
    head = heading(there, request.at)
    zone = there.config.zone
    rows = _rows(past)[: request.n or None]
    lines = list(head)
    for version, row in rows:
        entry = version.entry
        when = f"{entry.when.astimezone(zone):%Y-%m-%d %H:%M}"
        lines.append(f"{when}  {entry.commit[:10]}  {visible(entry.subject)}")
        why = visible(entry.trailer("Reason"))
        lines.append(f"{_INDENT}{why + '; ' if why else ''}by {visible(who(entry))}")
        lines += [f"{_INDENT}{line}" for line in _told(row)]
    data = {"id": past.id, "entries": [row for _, row in rows]}
    return Answer(data=data, text="\n".join(lines))


def _rows(past: Past) -> list[tuple[Version, dict[str, Any]]]:
    order = {v.entry.commit: n for n, v in enumerate(past.versions)}
    rows = []
    for version, before in changing(past.versions):
        older = past.versions[order[version.entry.commit] + 1 :]
        again = any(v.memory is not None for v in older)
        rows.append((version, _row(version, before, again=again)))
    return rows


def _row(version: Version, before: Sequence[Version], *, again: bool) -> dict[str, Any]:
    """Return one commit as JSON; a merge is compared with the nearest of its sides."""
    pairs = [(b.memory, changes(b.memory, version.memory)) for b in before] or [
        (None, changes(None, version.memory))
    ]
    old, changed = min(pairs, key=lambda pair: (pair[0] is None, len(pair[1])))
    if version.unreadable:
        kind = "unreadable"
    elif version.memory is None:
        kind = "removed"
    elif old is None:
        kind = "restored" if again else "created"
    else:
        kind = "moved" if not changed else "changed"
    new = version.memory or old
    moved = old is not None and version.memory is not None and old.path != version.memory.path
    return {
        **version.entry.as_json(),
        "change": kind,
        "path": version.unreadable or (new.path if new else ""),
        "moved_from": old.path if moved and old else "",
        "fields": list(changed) if kind in ("changed", "moved") else ["everything"],
        "changes": {name: list(pair) for name, pair in changed.items()},
        "cut": version.cut,
    }


def changes(old: Memory | None, new: Memory | None) -> dict[str, tuple[Any, Any]]:
    """Return what differs between two versions, by field (and `text`): before and after."""
    if old is None or new is None:
        return {}
    names = [f.name for f in FIELDS if old.fields.get(f.name) != new.fields.get(f.name)]
    found = {name: (value_of(name, old), value_of(name, new)) for name in names}
    return {**found, **({BODY: (old.body, new.body)} if old.body != new.body else {})}


def value_of(name: str, memory: Memory) -> Any:
    """Return a field's value, or the default that its absence means."""
    default = BY_NAME[name].default
    return plain(name, memory) if name in memory.fields else default or None


def _told(row: dict[str, Any]) -> list[str]:
    """Spell what a commit did to the memory."""
    if row["change"] == "unreadable":
        return [f"left {visible(row['path'])} unreadable"]
    if row["change"] in ("created", "restored", "removed"):
        return [f"{row['change']} {visible(row['path'])}" + _cut(row)]
    lines = [f"moved from {visible(row['moved_from'])}"] if row["moved_from"] else []
    for name, (old, new) in row["changes"].items():
        lines.append(f"{name}: {brief(old)} -> {brief(new)}")
    return lines


def _cut(row: dict[str, Any]) -> str:
    return ", or before: this shallow clone ends here" if row["cut"] else ""


def brief(value: Any) -> str:
    """Spell a value on one short line; `none` where there is none."""
    if value in (None, [], ""):
        return "none"
    if isinstance(value, list):
        first = brief(value[-1])
        return first if len(value) == 1 else f"{len(value)}, last {first}"
    if isinstance(value, dict) and "resource" in value:
        value = f"{value['resource']}{span([int(n) for n in value.get('lines', (0, 0))])}"
    if isinstance(value, dict):
        keys = [f"{key} {part}" for key, part in value.items() if key not in ("blob", "text_hash")]
        value = ", ".join(keys)
    text = " ".join(visible(str(value)).split())
    return text if len(text) <= SHORT else f"{text[: SHORT - 1].rstrip()}…"
