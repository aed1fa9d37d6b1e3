"""Group notes into threads by session and time. Threads are computed on reading, not stored.

Lineage: openclaw-engram, conversation threading. Deliberate differences:

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

import msgspec

from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
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
    """A conversation: the ids of its notes in order, its session key, and the linked threads."""

    id: str
    title: str
    members: tuple[str, ...]
    key: str = ""
    begin: datetime | None = None
    end: datetime | None = None
    linked: tuple[str, ...] = ()


def assign(turns: Iterable[Turn], gap: timedelta = GAP) -> list[list[Turn]]:
    """Split ordered turns into threads where the session key changes or the time gap is too long.

    A turn without a key belongs to the last key.
    """
    found: list[list[Turn]] = []
    key, last = "", None
    for turn in turns:
        if last is None or (key and turn.key and turn.key != key) or _apart(last, turn, gap):
            found.append([])
        key, last = turn.key or key, turn
        found[-1].append(turn)
    return found


def _apart(last: Turn, turn: Turn, gap: timedelta) -> bool:
    """Return whether two turns are more than `gap` apart.

    Turns without clock times are apart if they are in different files.
    """
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
            begin=min(span, default=None),
            end=max(span, default=None),
        )
        for id_, title, group, key, span in zip(ids, titles, members, keys, spans, strict=True)
    )


def thread_id(first: str) -> str:
    """Return the id of the thread whose first note has the id `first`.

    It does not change when notes are added.
    """
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
    """Return the title of a thread: the three words with the highest TF-IDF.

    `holders` counts the threads that contain each word. `size` is the number of threads.
    """
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
