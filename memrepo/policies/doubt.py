"""What speaks against a memory that recall hands over, in words: who reads it must be told.

Standing (contested, retired ...), what contests it and since when, and that it grew stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import fold
from memrepo.core.patterns import regex
from memrepo.core.times import EARLIEST, format_time

SOURCES = "/sources/"
RETIRED = "retire_candidate"
QUOTED = 160
"""Characters of a memory that contests another."""
_WORDS = {
    "stale": "it is said to be no longer current",
    "unresolved": "nobody has settled whether it holds",
}


def is_retired(memory: Memory) -> bool:
    """Tell whether a run found the last line gone that an active memory rested on."""
    return memory.status == "active" and memory.standing == RETIRED


def counted_as(memory: Memory) -> str:
    """Return what a memory is counted as in figures: its status, or that it is retired."""
    return "retired" if is_retired(memory) else memory.status


def doubts(
    memory: Memory,
    find: Callable[[str], Memory | None],
    stale_at: datetime | None = None,
    is_there: Callable[[str], object] = bool,
) -> tuple[str, ...]:
    """Return what is to be told of a memory, a sentence each; nothing of one in good standing.

    `find` returns a memory by its id; `stale_at` is when its class says that its time was over.
    `is_there` tells whether a source is in the tree.
    """
    return (*_doubts(memory, find, stale_at), *_source_gone(memory, is_there))


_DAY = regex(r"\d{4}-?\d\d-?\d\d")


def _source_gone(memory: Memory, is_there: Callable[[str], object]) -> Iterator[str]:
    """Say that every file is gone that a claim rests on; logs of a day are rotated."""
    names = [source.resource for source in memory.sources]
    if memory.is_note or is_retired(memory) or memory.status != "active" or not names:
        return
    ours = all(SOURCES in f"/{name}" and not _DAY.search(name) for name in names)
    if ours and not any(map(is_there, names)):
        yield f"its source is gone: {visible(names[0])}"


def disputed(memories: Iterable[Memory], find: Callable[[str], Memory | None]) -> list[str]:
    """Return what contests each of some memories, each pair once, what came up last first."""
    pairs: dict[tuple[str, ...], tuple[datetime, str]] = {}
    for memory in memories:
        for other in _active(memory, find):
            pair = tuple(sorted((memory.id, other.id)))
            times = [m.time("created") or EARLIEST for m in (memory, other)]
            said = fold(visible(memory.body), QUOTED)
            pairs.setdefault(
                pair, (max(times), f'{memory.id} "{said}" is {_against(memory, other)}')
            )
    return [said for _, said in sorted(pairs.values(), key=lambda p: (p[0], p[1]), reverse=True)]


def _doubts(
    memory: Memory, find: Callable[[str], Memory | None], stale_at: datetime | None
) -> Iterator[str]:
    match memory.standing:
        case "contested":
            yield from _contested(memory, find)
        case "retire_candidate":
            yield _retired(memory)
        case "probable_duplicate":
            yield f"it probably says the same as {memory.text('duplicate_of') or 'another'}"
        case standing if standing in _WORDS:
            yield _WORDS[standing]
    if stale_at is not None:
        yield stale(format_time(stale_at))


def stale(when: str) -> str:
    """Say since when a memory is stale."""
    return f"it is stale since {when}: nothing has borne it out for longer than its class lives"


def contesting(memory: Memory) -> tuple[str, ...]:
    """Return the ids of what is on record as contradicting a contested memory."""
    if memory.standing != "contested":
        return ()
    links = memory.fields.get("links", ())
    return tuple(link.target for link in links if link.type == "contradicts")


def _contested(memory: Memory, find: Callable[[str], Memory | None]) -> Iterator[str]:
    """Say what contests a memory: each active one that a `contradicts` link names."""
    active = _active(memory, find)
    yield from (_against(memory, other) for other in active)
    if not active:
        yield "it is contested"


def _active(memory: Memory, find: Callable[[str], Memory | None]) -> list[Memory]:
    others = [find(id_) for id_ in contesting(memory)]
    return [other for other in others if other is not None and other.status == "active"]


def _against(memory: Memory, other: Memory) -> str:
    said = fold(visible(other.body), QUOTED)
    return f'contested by {other.id}{_since(memory, other)}: "{said}"'


def _since(one: Memory, other: Memory) -> str:
    """Say since when two memories contradict each other: since the later of them was there."""
    times = [at for m in (one, other) if (at := m.time("created")) is not None]
    return f" since {max(times):%Y-%m-%d}" if times else ""


def _retired(memory: Memory) -> str:
    """Say when and where the line went that a memory rested on."""
    retired = memory.fields.get("retired", ())
    if not retired:
        return "it is about to be retired: the line it rested on is gone"
    last = retired[-1]
    where = last.reason.partition(": ")[2] or "its source"
    day = last.run[:8]
    since = f" since {day[:4]}-{day[4:6]}-{day[6:]}" if day.isdigit() and len(day) == 8 else ""
    return f"retired{since}: the line it rested on is gone from {where}"
