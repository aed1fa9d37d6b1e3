"""`memrepo thread`: group notes into conversations; show one in order, or list the newest ones.

Threads are computed on reading, not stored. Lineage: openclaw-engram, conversation threading.
Deliberate differences:

- A turn without a session key has the previous key, so that the next change of key is detected.
- Titles weight words by TF-IDF.
- A thread is computed from its notes and is not a file, so references to it cannot dangle.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock_time
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict

from memrepo.actions.recall.lookup import as_json as memory_json
from memrepo.actions.recall.lookup import find
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.policies.importance import Lexicon, rarity
from memrepo.policies.links import Graph
from memrepo.policies.rules import GAP
from memrepo.text.dates import find_clock
from memrepo.text.words import SPACELESS

UNTITLED = "Untitled Thread"
_WORDS = 3
_LETTERS = 4
_KEY = regex(r"\bsession[ _-]?(key|id)\b[\s*`:=]{1,8}([\w@][\w@.:/-]{0,99})", re.I)
_HEAD = 400
"""The number of characters of a note that are searched for a session key."""
_NO_BLANKS = regex(f"[{SPACELESS}]")


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a conversation. Its time is None if only the day is known."""

    id: str
    at: datetime | None
    key: str = ""
    place: str = ""


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with the ids of its notes in order."""

    id: str
    title: str
    key: str = ""
    """The session that its notes name."""
    begin: str = ""
    end: str = ""
    members: tuple[str, ...]
    linked: tuple[str, ...] = ()
    """Ids of other threads on the same subject."""


def assign(turns: Iterable[Turn], gap: timedelta = GAP) -> list[list[Turn]]:
    """Split ordered turns into threads where the session key changes or the gap is too long."""
    found: list[list[Turn]] = []
    key, last = "", None
    for turn in turns:
        if last is None or (key and turn.key and turn.key != key) or _apart(last, turn, gap):
            found.append([])
        key, last = turn.key or key, turn
        found[-1].append(turn)
    return found


def _apart(last: Turn, turn: Turn, gap: timedelta) -> bool:
    """Return whether two turns are more than `gap` apart."""
    if last.at is None or turn.at is None:
        return last.place != turn.place
    return turn.at - last.at > gap


def turns_of(memories: Iterable[Memory], zone: tzinfo) -> list[Turn]:
    """Return the notes as turns, sorted by time, then by line."""
    notes = [m for m in memories if m.is_note and m.status != "forgotten"]
    placed = [(_day(note, zone), _place(note), note) for note in notes]
    placed.sort(key=lambda p: (p[0], p[1][0], p[1][1], p[2].id))
    at_file: dict[str, datetime] = {}
    rows = []
    for number, (day, (place, _), note) in enumerate(placed):
        at = _moment(note, day, zone)
        if at is not None and place:
            at_file[place] = at
        at = at or at_file.get(place)
        first = at or datetime.combine(day, clock_time(), zone)
        rows.append((first, number, Turn(id=note.id, at=at, key=_key(note), place=place)))
    return [turn for _, _, turn in sorted(rows, key=lambda row: row[:2])]


def _place(note: Memory) -> tuple[str, int]:
    source = note.sources[0] if note.sources else None
    return (source.resource, source.lines[0]) if source else ("", 0)


def _day(note: Memory, zone: tzinfo) -> date:
    """Return the day of a note's evidence, or the day of its creation if undated."""
    try:
        return date.fromisoformat(note.captured[:10])
    except ValueError:
        created = note.time("created")
        return created.astimezone(zone).date() if created else date.min


def _moment(note: Memory, day: date, zone: tzinfo) -> datetime | None:
    if clock := find_clock(note.text("title")):
        hour, minute = map(int, clock.split(":"))
        return datetime.combine(day, clock_time(hour % 24, minute), zone)
    return None if note.sources else note.time("created")


def _key(note: Memory) -> str:
    """Return the session key at the beginning of a note, or the session id if it has no key."""
    found = _KEY.findall(f"{note.text('title')}\n{note.body}"[:_HEAD])
    keys = sorted(found, key=lambda pair: pair[0].lower() != "key")
    return keys[0][1].rstrip(".:/-") if keys else ""


def threads_of(
    memories: Mapping[str, Memory], lexicon: Lexicon, zone: tzinfo, gap: timedelta = GAP
) -> tuple[Thread, ...]:
    """Return the computed threads of notes, oldest first, then those named in field `threads`."""
    parts = assign(turns_of(memories.values(), zone), gap)
    named = _named(memories)
    members = [tuple(turn.id for turn in part) for part in parts] + list(named.values())
    ids = [thread_id(part[0].id) for part in parts] + list(named)
    titles = _titles([[memories[id_] for id_ in group] for group in members], lexicon)
    keys = [next((turn.key for turn in part if turn.key), "") for part in parts]
    keys += [""] * len(named)
    linked = _linked(memories, ids, members, keys)
    spans = [[turn.at for turn in part if turn.at] for part in parts] + [[] for _ in named]
    return tuple(
        Thread(
            id=id_,
            title=title,
            members=group,
            key=key,
            linked=linked.get(id_, ()),
            begin=format_time(min(span)) if span else "",
            end=format_time(max(span)) if span else "",
        )
        for id_, title, group, key, span in zip(ids, titles, members, keys, spans, strict=True)
    )


def thread_id(first: str) -> str:
    """Return the id of the thread whose first note has the id `first`."""
    return f"thread-{first.removeprefix('mem-')}"


def _named(memories: Mapping[str, Memory]) -> dict[str, tuple[str, ...]]:
    """Map each thread name in the field `threads` to its memories' ids, oldest first."""
    found: dict[str, list[Memory]] = {}
    for memory in memories.values():
        for name in memory.texts("threads"):
            found.setdefault(name, []).append(memory)
    start = datetime.min.replace(tzinfo=UTC)
    return {
        name: tuple(
            m.id
            for m in sorted(
                found[name], key=lambda m: (m.captured, m.time("created") or start, m.id)
            )
        )
        for name in sorted(found)
    }


def _titles(groups: Sequence[Sequence[Memory]], lexicon: Lexicon) -> list[str]:
    texts = ("\n".join(f"{m.text('title')}\n{m.body}" for m in group) for group in groups)
    words = [lexicon.content(text) for text in texts]
    holders = Counter(word for found in words for word in set(found))
    return [title_of(found, holders, len(words)) for found in words]


def title_of(words: Sequence[str], holders: Mapping[str, int], size: int) -> str:
    """Return the title of a thread: the three words with the highest TF-IDF."""
    counts = Counter(w for w in words if len(w) >= _LETTERS or _NO_BLANKS.match(w))
    best = sorted(counts, key=lambda word: -counts[word] * rarity(size, holders[word]))[:_WORDS]
    return ", ".join(word[:1].upper() + word[1:] for word in best) or UNTITLED


def _linked(
    memories: Mapping[str, Memory],
    ids: Sequence[str],
    members: Sequence[Sequence[str]],
    keys: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """Map each thread to its linked threads, connected by links of members or by session key."""
    within: dict[str, list[str]] = {}
    for id_, group in zip(ids, members, strict=True):
        for member in group:
            within.setdefault(member, []).append(id_)
    found: dict[str, dict[str, None]] = {}
    last: dict[str, str] = {}
    for id_, key in zip(ids, keys, strict=True):
        if key and key in last:
            found.setdefault(id_, {})[last[key]] = None
        last[key] = id_
    for edge in Graph(memories.values()).edges:
        for source in within.get(edge.source, ()):
            for target in within.get(edge.target, ()):
                if source != target:
                    found.setdefault(source, {})[target] = None
    return {id_: tuple(others) for id_, others in found.items()}


class NoSuchThread(MemrepoError):
    """Raised when no thread has the given id, and no memory with that name is in a thread."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(f"no thread is called {word!r}", fix="`memrepo thread` lists them")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `thread`."""

    id: Annotated[
        str, option("a thread, or a memory that is part of one (default: all)", metavar="ID")
    ] = ""
    n: Annotated[int, option("at most N threads (20)", "-n", metavar="N", ge=1)] = 20


class Threads(VerbResult, frozen=True, kw_only=True):
    """The newest threads of the repository."""

    threads: tuple[Thread, ...]
    count: int
    """Total number of threads."""
    zone: str
    """The time zone for showing times to a reader."""


class Result(VerbResult, frozen=True, kw_only=True):
    """One thread, and its memories in chronological order."""

    id: str
    title: str
    key: str
    begin: str
    end: str
    members: tuple[str, ...]
    linked: tuple[str, ...]
    linked_titles: tuple[str, ...]
    memories: tuple[Mapping[str, Any], ...]
    zone: str
    """The time zone for showing times to a reader."""


def do(work: Work, request: Request) -> Result | Threads:
    """Return one thread with its members in order, or the newest threads."""
    found = all_threads(work)
    if not request.id:
        newest = found[::-1][: request.n]
        return Threads(threads=newest, count=len(found), zone=work.config.zone.key)
    state = work.tree.state()
    thread = thread_of(found, state, request.id)
    titles = {other.id: other.title for other in found}
    return Result(
        **asdict(thread),
        linked_titles=tuple(titles[id_] for id_ in thread.linked),
        memories=tuple(memory_json(state.memories[id_]) for id_ in thread.members),
        zone=work.config.zone.key,
    )


def thread_of(found: Sequence[Thread], state: State, word: str) -> Thread:
    """Return the thread with an id, or the thread that contains the memory with that name.

    Raises NoSuchThread, NoSuchMemory or Ambiguous.
    """
    fitting = [t for t in found if t.id.startswith(word) and word]
    exact = [t for t in fitting if t.id == word]
    if exact or len(fitting) == 1:
        return (exact or fitting)[0]
    memory = find(state, word)
    thread = next((thread for thread in found if memory.id in thread.members), None)
    if thread is None:
        raise NoSuchThread(word)
    return thread


def all_threads(work: Work) -> tuple[Thread, ...]:
    """Return the threads of a commit, oldest first, followed by those that memories name."""
    memories = work.tree.state().memories
    return threads_of(memories, work.config.lexicon, work.config.zone, GAP)


def threads_around(work: Work, state: State, memory: Memory) -> list[str]:
    """Return the ids of the threads that contain a memory."""
    named = memory.texts("threads")
    if not memory.is_note:
        return list(named)
    zone = work.config.zone
    parts = assign(turns_of(state.memories.values(), zone), GAP)
    mine = [part[0].id for part in parts if any(turn.id == memory.id for turn in part)]
    return [*map(thread_id, mine), *named]
