"""Archive unused memories, compress small ones into summaries, and remove memories.

Archiving is a status (lineage: layered-memory-manager). An archived memory stays in the work tree.
Recall no longer returns it, and its confidence no longer decays. Only a person can decide to remove
an archived memory.

Removal leaves no dangling references. The predecessors of a removed memory and its chunks are
removed with it, because a predecessor would otherwise have no successor. Links from other memories
are deleted in the same change.

Lineage of summaries: openclaw-engram, compression. Deliberate differences:

- Scores can fall below the importance limit.
- A source names the summary that replaces it.
- A summary has the layer and scope of its sources.
- A memory that a person restored is never compressed again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from memrepo.core.access import Access, Accesses
from memrepo.core.changes import Change, Create, Remove, Step, Update
from memrepo.core.ids import claim_id, normalise
from memrepo.core.judge import Summary
from memrepo.core.layout import Layout
from memrepo.core.memory import (
    REFERENCES,
    Hot,
    Link,
    Memory,
    Stamp,
    having,
    references,
)
from memrepo.core.state import State
from memrepo.core.times import format_duration, format_time
from memrepo.policies.decay import class_of
from memrepo.policies.entities import mentions
from memrepo.policies.gists import body_of, day_of
from memrepo.policies.hotcache import hot_of
from memrepo.policies.rules import ArchiveRules
from memrepo.text.terms import STOP_WORDS
from memrepo.text.tokens import content_words

_LISTS = ("supersedes", "superseded_by")
_SINGLE = ("compressed_into", "parent", "duplicate_of")


class Leaving:
    """A copy of a state's memories that computes the changes for removing individual memories."""

    def __init__(self, memories: Mapping[str, Memory]) -> None:
        self._memories = dict(memories)

    @cached_property
    def _users(self) -> Mapping[str, set[str]]:
        """Map each memory id to the ids of the memories that refer to it.

        The map is computed at the first removal.
        """
        users: dict[str, set[str]] = defaultdict(set)
        for memory in having(self._memories.values(), REFERENCES):
            for target in references(memory):
                users[target].add(memory.id)
        return users

    def leave(self, id_: str) -> tuple[Change, ...]:
        """Remove a memory, its chunks and its predecessors, and return the resulting changes.

        Return nothing if the memory was removed already. Return nothing if a pinned or critical
        memory would have to be removed with it.
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
    """Return the time at which a memory is due for archiving, or None if it is never archived.

    The period starts at the later of creation and last retrieval. For a memory that left the hot
    cache later than both, it starts when the memory left and has another length (`demoted_after`).
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
    """Return whether a memory is exempt from automatic archiving."""
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
    """Return the memories due for archiving as (memory, due time) pairs, earliest first."""
    found: list[tuple[Memory, datetime]] = []
    ages = [age for age in (rules.after, rules.demoted_after) if age is not None]
    if not ages:
        return found
    for memory in memories:
        created = memory.time("created")
        if created is None or now - created < min(ages):
            continue  # too young for any rule
        due = archive_due(memory, accesses.of(memory.id), rules)
        if due is not None and now >= due:
            found.append((memory, due))
    return sorted(found, key=lambda pair: (pair[1], pair[0].id))


def archive(memory: Memory, now: datetime, why: str) -> Step:
    """Return a step that archives a memory."""
    return Step(
        op="archive",
        reason=why,
        changes=(Update(id=memory.id, fields={"status": "archived", "archived_at": now}),),
    )


def unarchive(memory: Memory, why: str) -> Step:
    """Return a step that restores an archived memory and raises its `status_epoch`.

    Because of the higher epoch, the restored status wins a merge.
    """
    epoch = int(memory.fields.get("status_epoch", 0)) + 1
    fields = {"status": None, "status_epoch": epoch, "archived_at": None}
    change = Update(id=memory.id, fields=fields)
    return Step(op="restore", reason=why, changes=(change,))


def told(memory: Memory, access: Access, due: datetime, rules: ArchiveRules) -> str:
    """Return the reason for archiving a memory, as text for a commit message."""
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
    """Return memories archived so long ago that a person should review them, oldest first."""
    found = [
        (at, memory.path, memory)
        for memory in memories
        if memory.status == "archived"
        and (at := memory.time("archived_at")) is not None
        and now - at > rules.review_after
    ]
    return tuple(memory for _, _, memory in sorted(found, key=lambda f: f[:2]))


LEAST = 10
"""Compress only if there are at least this many candidates."""
SMALLEST, LARGEST = 3, 20
"""The minimum and maximum number of memories per summary."""
_COMMON = 0.5
"""A word in more than this share of the candidates is too common to be a topic."""


class CompressionRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for compression: when a run compresses memories, and which memories are exempt.

    `trigger` is the number of active memories from which compression starts. The newest `keep`
    memories and those scoring at least `below` are exempt.
    """

    enabled: bool = True
    trigger: int = 1000
    keep: int = 300
    below: float = 0.45
    protected: tuple[str, ...] = ("commitment", "preference", "decision")
    entities: bool = True
    """Whether memories with an entity that a person or a model named are exempt."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A group of memories with a common topic, oldest first.

    The topic is empty if the memories are grouped by time only.
    """

    topic: str
    memories: tuple[Memory, ...]


Score = Callable[[Memory], float]


def candidates(
    state: State, rules: CompressionRules, score: Score, spared: Collection[str] = ()
) -> list[Memory]:
    """Return the memories that may be compressed, oldest first.

    Return nothing if the active memories are fewer than the trigger, or the candidates fewer than
    `LEAST`. Notes are not counted, because tiers govern them. `spared` has the ids of memories for
    which a person reverted the compression.
    """
    if not rules.enabled:
        return []
    active = [memory for memory in state.active if memory.type not in ("note", "chunk")]
    if len(active) < rules.trigger:
        return []
    proper = sorted(active, key=_age)
    shown = {normalise(word) for word in rules.protected}
    found = [
        m
        for m in proper[: max(0, len(proper) - rules.keep)]
        if score(m) < rules.below and m.id not in spared and not _is_protected(m, shown, rules)
    ]
    return found if len(found) >= LEAST else []


def _age(memory: Memory) -> tuple[str, str]:
    created = memory.time("created")
    return created.isoformat() if created else "", memory.id


def _is_protected(memory: Memory, words: Collection[str], rules: CompressionRules) -> bool:
    """Return whether a memory is exempt from compression."""
    return (
        is_kept(memory)
        or memory.type == "summary"
        or memory.standing == "contested"  # a person has yet to decide
        or memory.flag("user_marked")
        or (rules.entities and bool(memory.texts("entities")))
        or bool(memory.text("compressed_into"))  # restored from a summary
        or any(normalise(word) in words for word in (memory.type, *memory.texts("tags")))
    )


def groups(found: Sequence[Memory]) -> list[Group]:
    """Split candidates for compression by scope and layer, then by topic, then by time.

    Names are tried as topics first, then tags, then words, the most frequent first. Memories
    without a common topic are grouped by time. Groups are sorted by their oldest memory.
    """
    parts: dict[tuple[str, str], list[Memory]] = {}
    for memory in found:
        parts.setdefault((memory.text("scope"), memory.layer), []).append(memory)
    made = [group for part in parts.values() for group in _grouped(part)]
    return sorted(made, key=lambda group: (_age(group.memories[0]), group.topic))


def _grouped(part: Sequence[Memory]) -> Iterator[Group]:
    rest = {memory.id: memory for memory in part}
    for features, share in ((_names, 1.0), (_tags, 1.0), (_words, _COMMON)):
        most = max(LARGEST, int(len(rest) * share))
        for topic, ids in _topics(rest.values(), features, most):
            shared = [rest[id_] for id_ in ids if id_ in rest]
            for cut in _cuts(shared):
                yield Group(topic=topic, memories=tuple(cut))
                for memory in cut:
                    del rest[memory.id]
    for cut in _cuts(list(rest.values())):
        yield Group(topic="", memories=tuple(cut))


def _topics(
    memories: Iterable[Memory], features: Callable[[Memory], Iterable[str]], most: int
) -> list[tuple[str, list[str]]]:
    """Return (topic, memory ids) pairs, most frequent first.

    A topic is a feature that at least SMALLEST and at most `most` memories share.
    """
    holding: dict[str, list[str]] = {}
    spelled: dict[str, Counter[str]] = {}
    for memory in memories:
        told = {normalise(word): word for word in features(memory)}
        for key, word in told.items():
            holding.setdefault(key, []).append(memory.id)
            spelled.setdefault(key, Counter())[word] += 1
    shared = (key for key, ids in holding.items() if SMALLEST <= len(ids) <= most)
    ranked = sorted(shared, key=lambda key: (-len(holding[key]), key))
    return [(min(spelled[k], key=lambda w: (-spelled[k][w], w)), holding[k]) for k in ranked]


def _names(memory: Memory) -> Iterator[str]:
    if subject := memory.text("subject"):
        yield subject
    yield from mentions(memory.body)[0]


def _tags(memory: Memory) -> Iterable[str]:
    return memory.texts("tags")


def _words(memory: Memory) -> list[str]:
    return sorted(
        w for w in content_words(memory.body) - STOP_WORDS if len(w) > 3 or not w.isascii()
    )


def _cuts(memories: list[Memory]) -> Iterator[list[Memory]]:
    """Sort memories by day and split them into groups of SMALLEST to LARGEST memories."""
    ordered = sorted(memories, key=lambda m: (day_of(m), m.id))
    count = -(-len(ordered) // LARGEST)
    for turn in range(count):
        cut = ordered[turn * len(ordered) // count : (turn + 1) * len(ordered) // count]
        if len(cut) >= SMALLEST:
            yield cut


def compressed(
    group: Group, said: Summary, layout: Layout, now: datetime, *, by: str, why: str
) -> Step:
    """Return a step that adds a summary of a group and archives the memories of the group."""
    summary = _summary(group, said, layout, now, by)
    rests: dict[str, object] = {
        "status": "archived",
        "archived_at": now,
        "compressed_into": summary.id,
    }
    return Step(
        op="compress",
        reason=why,
        changes=(Create(memory=summary), *(Update(id=m.id, fields=rests) for m in group.memories)),
    )


def summary_id(group: Group) -> str:
    """Compute the id of a group's summary from the scope and the ids of the group's memories."""
    ids = " ".join(sorted(m.id for m in group.memories))
    scope = group.memories[0].text("scope")
    return claim_id(scope=scope, subject="summary", predicate="", object_="", text=ids)


def _summary(group: Group, said: Summary, layout: Layout, now: datetime, by: str) -> Memory:
    first, id_ = group.memories[0], summary_id(group)
    path = layout.memory(
        id_=id_,
        type_="summary",
        text=said.title,
        layer=first.layer,
        captured=max(map(day_of, group.memories)),
    )
    fields: dict[str, object] = {
        "id": id_,
        "type": "summary",
        "title": said.title,
        "created": now,
        "generated": Stamp(by=by, at=now),
        "origin": "compression",
        "links": tuple(Link(target=m.id, type="references") for m in group.memories),
    }
    if scope := first.text("scope"):
        fields["scope"] = scope
    return Memory(path=path, fields=fields, body=body_of(said, group.memories))
