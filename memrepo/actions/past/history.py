"""`memrepo why --show history`: every commit of one memory, and what each changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from memrepo.actions import result
from memrepo.actions.past.timeline import Commit, Past, changing, fields_of, find_past
from memrepo.actions.recall.show import plain
from memrepo.actions.recall.when import heading, work_at
from memrepo.actions.work import Work
from memrepo.core.memory import Memory
from memrepo.core.schema import BY_NAME, FIELDS
from memrepo.store.trace import Version

BODY = "text"
Kind = Literal["created", "restored", "changed", "moved", "removed", "unreadable"]


class Change(Commit, frozen=True, kw_only=True):
    """One commit of the memory, and what it did to it."""

    change: Kind
    path: str
    moved_from: str
    fields: tuple[str, ...]
    """What differs by name (`text` is the memory's own), or `everything`."""
    changes: Mapping[str, tuple[Any, Any]]
    """Before and after, by field."""
    cut: bool
    """Whether a shallow clone ends here, so that it may have been made before."""


class History(result.Result, frozen=True, kw_only=True):
    """The commits that touched the memory, newest first."""

    id: str
    entries: tuple[Change, ...]
    heading: tuple[str, ...]
    """Of when the answer is, where it is not of now."""
    zone: str
    """The time zone in which a reader is shown its times."""


def history_of(work: Work, id_: str, *, at: str = "", most: int = 0) -> History:
    """List the commits that touched a memory, newest first; it may have left the tree."""
    there = work_at(work, at)
    past = find_past(there, there.tree.state(), id_)
    return History(
        id=past.id,
        entries=tuple(_entries(past))[: most or None],
        heading=tuple(heading(there, at)),
        zone=there.config.zone.key,
    )


def _entries(past: Past) -> Iterator[Change]:
    order = {v.entry.commit: n for n, v in enumerate(past.versions)}
    for version, before in changing(past.versions):
        older = past.versions[order[version.entry.commit] + 1 :]
        again = any(v.memory is not None for v in older)
        yield _change(version, before, again=again)


def _change(version: Version, before: Sequence[Version], *, again: bool) -> Change:
    """Return what one commit did; a merge is compared with the nearest of its sides."""
    pairs = [(b.memory, changes(b.memory, version.memory)) for b in before] or [
        (None, changes(None, version.memory))
    ]
    old, changed = min(pairs, key=lambda pair: (pair[0] is None, len(pair[1])))
    kind: Kind
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
    return Change(
        **fields_of(version.entry),
        change=kind,
        path=version.unreadable or (new.path if new else ""),
        moved_from=old.path if moved and old else "",
        fields=tuple(changed) if kind in ("changed", "moved") else ("everything",),
        changes=changed,
        cut=version.cut,
    )


def changes(old: Memory | None, new: Memory | None) -> dict[str, tuple[object, object]]:
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
