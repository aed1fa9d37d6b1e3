"""Determine the trust, doubts, succession and contradictions of memories.

All of it is computed on reading. A contradiction is a `contradicts` link between two memories. Its
id is a hash of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from memrepo.core.ids import digest, visible
from memrepo.core.memory import Memory, Source
from memrepo.core.messages import fold
from memrepo.core.patterns import regex
from memrepo.core.times import EARLIEST, format_time
from memrepo.policies.claims import is_by_person

if TYPE_CHECKING:
    from memrepo.core.state import State


def trust_of(memory: Memory) -> str:
    """Return the trust level of a memory: `human-reviewed`, `machine-confirmed` or `unverified`.

    A confirmation only applies to the wording that was confirmed. A confirmation before the last
    change is ignored. Trust is limited by the evidence: if all of it is inferred, only a person's
    confirmation counts.
    """
    written = memory.stamp
    stamps = memory.verified
    since = written.at if written else None
    held = [s for s in stamps if since is None or s.at is None or s.at >= since]
    if any(s.by.startswith("human:") for s in held):
        return "human-reviewed"
    if memory.sources and all(source.kind == "inferred" for source in memory.sources):
        return "unverified"
    if written and written.by.startswith("human:"):
        return "human-reviewed"
    return "machine-confirmed" if held else "unverified"


SOURCES = "/sources/"
RETIRED = "retire_candidate"
"""The standing of a memory whose lines left the sources, until a person decides about it."""
QUOTED = 160
"""The number of characters quoted from a contesting memory."""
_WORDS = {
    "stale": "a later statement says what came after it",
    "unresolved": "nobody has decided whether it is true",
}


def is_retired(memory: Memory) -> bool:
    """Return whether a memory is active and retired."""
    return memory.status == "active" and memory.standing == RETIRED


def counted_as(memory: Memory) -> str:
    """Return a memory's status for statistics, which is `retired` for retired memories."""
    return "retired" if is_retired(memory) else memory.status


def doubts(
    memory: Memory,
    find: Callable[[str], Memory | None],
    stale_at: datetime | None = None,
    is_there: Callable[[str], object] = bool,
) -> tuple[str, ...]:
    """Return the reasons to doubt a memory as sentences. Return none if there is no doubt.

    `find` returns a memory by id. `stale_at` is when the lifetime of its class ended. `is_there`
    returns whether a source is in the work tree.
    """
    found: list[str] = []
    match memory.standing:
        case "contested":
            others = _active(memory, find)
            found += [_against(memory, other) for other in others] or ["it is contested"]
        case "retire_candidate":
            found.append(_retired(memory))
        case "probable_duplicate":
            found.append(f"it probably says the same as {memory.duplicate_of or 'another'}")
        case standing if standing in _WORDS:
            found.append(_WORDS[standing])
    if stale_at is not None:
        found.append(stale(format_time(stale_at)))
    names = [source.resource for source in memory.sources]
    if memory.is_note or is_retired(memory) or memory.status != "active" or not names:
        return tuple(found)
    # Daily logs are rotated, so a missing one is no reason for doubt.
    ours = all(SOURCES in f"/{name}" and not _DAY.search(name) for name in names)
    if ours and not any(map(is_there, names)):
        found.append(f"its source is gone: {visible(names[0])}")
    return tuple(found)


_DAY = regex(r"\d{4}-?\d\d-?\d\d")


def disputed(memories: Iterable[Memory], find: Callable[[str], Memory | None]) -> list[str]:
    """Describe the contradictions of the given memories with active ones, latest first."""
    pairs: dict[tuple[str, ...], tuple[datetime, str]] = {}
    for memory in memories:
        for other in _active(memory, find):
            pair = tuple(sorted((memory.id, other.id)))
            times = [m.created or EARLIEST for m in (memory, other)]
            text = fold(visible(memory.body), QUOTED)
            pairs.setdefault(
                pair, (max(times), f'{memory.id} "{text}" is {_against(memory, other)}')
            )
    return [text for _, text in sorted(pairs.values(), key=lambda p: (p[0], p[1]), reverse=True)]


def stale(when: str) -> str:
    """Return a sentence that states since when a memory is stale."""
    return f"it is stale since {when}: not confirmed for longer than the lifetime of its class"


def contesting(memory: Memory) -> tuple[str, ...]:
    """Return the ids of the memories that contradict a memory, or none if it is not contested."""
    links = memory.links if memory.standing == "contested" else ()
    return tuple(link.target for link in links if link.type == "contradicts")


def _active(memory: Memory, find: Callable[[str], Memory | None]) -> list[Memory]:
    others = [find(id_) for id_ in contesting(memory)]
    return [other for other in others if other is not None and other.status == "active"]


def _against(memory: Memory, other: Memory) -> str:
    """Describe which memory contradicts a memory, and since when both have existed."""
    times = [at for m in (memory, other) if (at := m.created) is not None]
    since = f" since {max(times):%Y-%m-%d}" if times else ""
    return f'contested by {other.id}{since}: "{fold(visible(other.body), QUOTED)}"'


def _retired(memory: Memory) -> str:
    """Describe when and where the last source line of a memory was deleted."""
    retired = memory.retired
    if not retired:
        return "marked for removal: its source line is gone"
    last = retired[-1]
    where = last.reason.partition(": ")[2] or "its source"
    day = last.run[:8]
    since = f" since {day[:4]}-{day[4:6]}-{day[6:]}" if day.isdigit() and len(day) == 8 else ""
    return f"marked for removal{since}: its source line is gone from {where}"


def before(memory: Memory, memories: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """Return the direct and indirect predecessors of a memory, nearest first."""
    return _line(memory, memories, "supersedes")


def after(memory: Memory, memories: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """Return the direct and indirect successors of a memory, nearest first."""
    return _line(memory, memories, "superseded_by")


def _line(memory: Memory, memories: Mapping[str, Memory], key: str) -> tuple[Memory, ...]:
    seen = {memory.id}
    found: list[Memory] = []
    near = [memory]
    while near:
        ids = dict.fromkeys(id_ for m in near for id_ in getattr(m, key) if id_ not in seen)
        seen.update(ids)
        near = [memories.get(id_) or Memory.of(path="", fields={"id": id_}) for id_ in ids]
        found += near
    return tuple(found)


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories that contradict each other, the newer one first, until a person decides."""

    id: str
    sides: tuple[Memory, Memory]


def open_contradictions(state: State) -> tuple[Contradiction, ...]:
    """Return the contradictions between memories that a person has to decide, sorted by id."""
    linked = (
        (id_, link.target)
        for id_, memory in state.memories.items()
        for link in memory.links
        if link.type == "contradicts" and link.target != id_
    )
    found = []
    for pair in sorted({tuple(sorted(pair)) for pair in (*linked, *_rivals(state))}):
        sides = [memory for id_ in pair if (memory := state.memories.get(id_)) is not None]
        if len(sides) == 2 and _is_open(state, *sides):
            old, new = sorted(sides, key=lambda memory: memory.created or EARLIEST)
            found.append(Contradiction(id=contradiction_id(*pair), sides=(new, old)))
    return tuple(sorted(found, key=lambda one: one.id))


def contradiction_id(one: str, other: str) -> str:
    """Return the id of a contradiction between two memories, which may be given in either order."""
    return f"con-{digest(['contradiction', *sorted((one, other))])[:16]}"


def _rivals(state: State) -> Iterator[tuple[str, str]]:
    """Yield the pairs of active memories with which people replaced one memory, each in a clone."""
    for memory in state.memories.values():
        if memory.status == "superseded" and len(memory.superseded_by) > 1:
            heirs = filter(None, map(state.memories.get, sorted(memory.superseded_by)))
            own = [heir.id for heir in heirs if heir.status == "active" and is_by_person(heir)]
            yield from combinations(own, 2)


def _is_open(state: State, one: Memory, other: Memory) -> bool:
    """Return whether a contradiction is undecided, also if a replaced statement was made again."""
    if is_settled(state, one, other):
        return False
    if one.status == other.status == "active":
        return True
    is_contested = one.standing == other.standing == "contested"
    return is_contested and (replaced(one, other) or replaced(other, one))


def is_settled(state: State, one: Memory, other: Memory) -> bool:
    """Return whether somebody decided between two memories as they are worded now."""
    from memrepo.merge.tombstones import tombstones_in  # a search needs none

    return as_settled(one, other) in tombstones_in(state).changes


def as_settled(one: Memory, other: Memory) -> str:
    """Return the decision between two memories as a text, like those of `traits`."""
    sides = sorted((memory.id, digest([memory.body])[:12]) for memory in (one, other))
    return " and ".join(f"{id_} {hash_}" for id_, hash_ in sides)


def replaced(old: Memory, new: Memory) -> bool:
    """Return whether `new` is active and replaced `old`."""
    marked = old.status == "superseded" and new.id in old.superseded_by
    return marked and new.status == "active"


def contradicts(one: Memory, other: Memory) -> bool:
    """Return whether a memory has a `contradicts` link to another memory."""
    return any(x.type == "contradicts" and x.target == other.id for x in one.links)


def uncontested(memory: Memory, other: str, is_active: Callable[[str], bool]) -> dict[str, Any]:
    """Return the fields of a memory that another one no longer contests.

    They are none while a third active memory contradicts it.
    """
    rivals = (x.target for x in memory.links if x.type == "contradicts" and x.target != other)
    is_free = memory.standing == "contested" and not any(map(is_active, rivals))
    return {"standing": None} if is_free else {}


def reconciled(memory: Memory, other: str, is_active: Callable[[str], bool]) -> dict[str, Any]:
    """Return the fields of a memory that does not contradict another one."""
    links = tuple(x for x in memory.links if (x.type, x.target) != ("contradicts", other))
    fields = uncontested(memory, other, is_active)
    return fields if links == memory.links else {**fields, "links": links or None}


def superseded(memory: Memory, heir: str, now: datetime) -> dict[str, Any]:
    """Return the fields of a memory that another one supersedes."""
    by = tuple(dict.fromkeys((*memory.superseded_by, heir)))
    return {"status": "superseded", "superseded_by": by, "superseded_at": now}


def is_of_project(memory: Memory) -> bool:
    """Return whether a memory is of one project's scope, which other projects do not see."""
    return memory.scope.startswith("project:")


SESSION_TAG = "agent-session"
"""The tag of a note about what an agent was asked in one session."""


def is_of_session(memory: Memory) -> bool:
    """Return whether a memory is the note of an agent's session."""
    return memory.is_note and SESSION_TAG in memory.tags


Newer = Literal["first", "second", "unknown"]
Basis = Literal["dated", "later", ""]
"""How the newer statement was found: by a day in a text, heading or file name, by order, or not."""
_EXPLICIT = ("unit", "heading", "file")


def newer_of(first: Iterable[Source], second: Iterable[Source]) -> tuple[Newer, Basis]:
    """Return which of two statements is newer, and whether a date or only the order shows it."""
    one, two = tuple(first), tuple(second)
    days = _latest_day(one), _latest_day(two)
    seen = _latest_seen(one), _latest_seen(two)
    if days[0] and seen[1] and days[0] > seen[1]:
        return "first", "dated"
    if days[1] and seen[0] and days[1] > seen[0]:
        return "second", "dated"
    if all(seen) and seen[0] != seen[1]:
        return ("first" if seen[0] > seen[1] else "second"), "later"
    places = {s.resource: s.lines for s in one}, {s.resource: s.lines for s in two}
    for resource in places[0].keys() & places[1].keys():
        lines = places[0][resource], places[1][resource]
        if lines[0] != lines[1]:
            return ("first" if lines[0] > lines[1] else "second"), "later"
    return "unknown", ""


def changed_at(memory: Memory) -> datetime:
    """Return when the meaning of a memory last changed."""
    stamp = memory.stamp
    return (stamp.at if stamp else None) or memory.created or EARLIEST


def is_dated(sources: Iterable[Source]) -> bool:
    """Return whether the date of any source comes from its text, a heading or its file name."""
    return bool(_latest_day(sources))


def same_place(first: Iterable[Source], second: Iterable[Source]) -> bool:
    """Return whether two statements share a source: the same file, text and lines."""
    places = {(s.resource, s.text_hash, s.lines) for s in first if s.text_hash}
    return any((s.resource, s.text_hash, s.lines) in places for s in second)


def _latest_day(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources if s.captured_from in _EXPLICIT), default="")


def _latest_seen(sources: Iterable[Source]) -> str:
    return max((s.captured[:10] for s in sources), default="")
