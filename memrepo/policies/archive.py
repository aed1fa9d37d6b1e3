"""Which memories rest, and how one leaves the tree so that nothing left behind refers to it.

Taking memories out of the tree so that nothing left behind refers to them.

What a memory replaced, and the chunks that are parts of it, leave with it: a predecessor that
stayed would have no successor. Links of others to it are dropped in the same change.

Which memories rest: still in the tree, no longer recalled, their decay clock stopped.

Lineage: layered-memory-manager, archive and forgetting. Archiving is a status: a memory leaves the
tree from there only by a person's decision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from memrepo.core.access import Access, Accesses
from memrepo.core.changes import Change, Remove, Step, Update
from memrepo.core.memory import Hot, Memory, references
from memrepo.core.times import format_duration, format_time
from memrepo.policies.decay import class_of
from memrepo.policies.hotcache import hot_of
from memrepo.policies.rules import ArchiveRules

_LISTS = ("supersedes", "superseded_by")
_SINGLE = ("compressed_into", "parent", "duplicate_of")


class Leaving:
    """The memories of a state while some of them leave, one after the other."""

    def __init__(self, memories: Mapping[str, Memory]) -> None:
        self._memories = dict(memories)
        self._users: dict[str, set[str]] = defaultdict(set)
        for id_, memory in memories.items():
            for target in references(memory):
                self._users[target].add(id_)

    def leave(self, id_: str) -> tuple[Change, ...]:
        """Return the changes by which a memory leaves; nothing where it already has.

        Nothing either where something that a person protects would have to go along.
        """
        if id_ not in self._memories:
            return ()
        gone = self._with_parts(id_)
        if any(self._memories[g].flag(f) for g in gone - {id_} for f in ("pinned", "critical")):
            return ()
        updates = list(self._cut(gone))
        for one in gone:
            del self._memories[one]
        return (*updates, *(Remove(id=one) for one in sorted(gone)))

    def _with_parts(self, id_: str) -> set[str]:
        gone, open_ = {id_}, [id_]
        while open_:
            one = open_.pop()
            for user in self._users[one] - gone:
                memory = self._memories.get(user)
                if memory is not None and self._is_part(memory, one, gone):
                    gone.add(user)
                    open_.append(user)
        return gone

    def _is_part(self, memory: Memory, of: str, gone: set[str]) -> bool:
        heirs = set(memory.texts("superseded_by"))
        return memory.text("parent") == of or (of in heirs and not heirs - gone)

    def _cut(self, gone: set[str]) -> Iterable[Update]:
        users = {u for one in gone for u in self._users[one] if u in self._memories} - gone
        for user in sorted(users):
            fields = _without(self._memories[user], gone)
            self._memories[user] = self._memories[user].with_fields(fields)
            yield Update(id=user, fields=fields)


def _without(memory: Memory, gone: set[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    links = memory.fields.get("links", ())
    if any(link.target in gone for link in links):
        fields["links"] = tuple(link for link in links if link.target not in gone) or None
    for key in _LISTS:
        if gone & set(memory.texts(key)):
            fields[key] = tuple(id_ for id_ in memory.texts(key) if id_ not in gone) or None
    fields |= {key: None for key in _SINGLE if memory.text(key) in gone}
    if memory.text("duplicate_of") in gone and memory.standing == "probable_duplicate":
        fields["standing"] = None
    return fields


def archive_due(memory: Memory, access: Access, rules: ArchiveRules) -> datetime | None:
    """Return when a memory falls due for the archive, or None for one that never does.

    A memory that was demoted from the hot cache has longer, counted from then or from its last
    retrieval.
    """
    created = memory.time("created")
    if created is None or is_kept(memory):
        return None
    hot: Hot | None = memory.fields.get("hot")
    until = hot.until if hot is not None else None
    last = max(filter(None, (created, access.last)), default=created)
    if until is not None and until >= last:
        return until + rules.demoted_after if rules.demoted_after else None
    return last + rules.after if rules.after else None


def is_kept(memory: Memory) -> bool:
    """Tell whether a memory is never archived by itself."""
    return (
        memory.status != "active"
        or memory.type in ("note", "chunk")
        or memory.flag("critical")
        or memory.flag("pinned")
        or hot_of(memory) is not None
        or class_of(memory) == "permanent"
    )


def archivable(
    memories: Iterable[Memory], accesses: Accesses, now: datetime, rules: ArchiveRules
) -> list[tuple[Memory, datetime]]:
    """Return what is due for the archive with the moment it fell due, oldest first."""
    found: list[tuple[Memory, datetime]] = []
    ages = [age for age in (rules.after, rules.demoted_after) if age is not None]
    if not ages:
        return found
    for memory in memories:
        created = memory.time("created")
        if created is None or now - created < min(ages):
            continue  # too young, whatever happened to it
        due = archive_due(memory, accesses.of(memory.id), rules)
        if due is not None and now >= due:
            found.append((memory, due))
    return sorted(found, key=lambda pair: (pair[1], pair[0].id))


def archive(memory: Memory, now: datetime, why: str) -> Step:
    """Return the step that archives a memory."""
    return Step(
        op="archive",
        what=memory.label,
        reason=why,
        changes=(Update(id=memory.id, fields={"status": "archived", "archived_at": now}),),
    )


def unarchive(memory: Memory, why: str) -> Step:
    """Return the step that brings a memory back; its epoch rises, so that this wins a merge."""
    epoch = int(memory.fields.get("status_epoch", 0)) + 1
    fields = {"status": None, "status_epoch": epoch, "archived_at": None}
    change = Update(id=memory.id, fields=fields)
    return Step(op="restore", what=memory.label, reason=why, changes=(change,))


def told(memory: Memory, access: Access, due: datetime, rules: ArchiveRules) -> str:
    """Say why a memory is archived."""
    hot: Hot | None = memory.fields.get("hot")
    last = f"last retrieved {format_time(access.last)}" if access.last else "never retrieved"
    demoted, age = hot.until if hot is not None else None, rules.demoted_after
    if demoted is not None and age is not None and due == demoted + age:
        since = f"no longer hot since {format_time(demoted)}"
        return f"{last}, {since}, {format_duration(age)} ago at {format_time(due)}"
    idle = f"idle for {format_duration(rules.after)} or more" if rules.after else "idle"
    return f"{last}, {idle} at {format_time(due)}"


def for_review(
    memories: Iterable[Memory], now: datetime, rules: ArchiveRules
) -> tuple[Memory, ...]:
    """Return what has been archived for so long that a person should decide, oldest first."""
    found = [
        (at, memory.path, memory)
        for memory in memories
        if memory.status == "archived"
        and (at := memory.time("archived_at")) is not None
        and now - at > rules.review_after
    ]
    return tuple(memory for _, _, memory in sorted(found, key=lambda f: f[:2]))
