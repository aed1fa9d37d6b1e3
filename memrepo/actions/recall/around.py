"""`memrepo show`, `related`, `thread` and `topics`: one memory, and what is around it.

Threads are groups of notes. They are computed on reading, not stored. Lineage: openclaw-engram,
conversation threading. Deliberate differences:

- A turn without a session key has the previous key, so that the next change of key is detected.
- Titles weight words by TF-IDF.
- A thread is computed from its notes and is not a file, so references to it cannot dangle.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from datetime import time as clock_time
from itertools import pairwise
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo.actions.past import find_present
from memrepo.actions.recall.lookup import (
    NotYetSetUp,
    as_json,
    find,
    heading,
    touch,
    work_at,
)
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recall import Derived, facts
from memrepo.actions.work import At, NoTouch, VerbResult, Work, option
from memrepo.core.errors import BeforeHistory, UsageError
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import cut
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.core.times import EARLIEST, format_time
from memrepo.policies.importance import (
    MOST,
    Lexicon,
    Scored,
    Topic,
    Trend,
    importance_of,
    keywords,
    rarity,
    topics_of,
    trends,
)
from memrepo.policies.links import Edge, edges_between
from memrepo.policies.rules import GAP
from memrepo.policies.standing import doubts, trust_of
from memrepo.store.run_files import Ledger
from memrepo.text.dates import find_clock
from memrepo.text.sentences import chunks
from memrepo.text.words import IS_SPACELESS


class ShowRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `show`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    explain: Annotated[
        bool, option("also its importance in detail, and its excerpt in search", "--explain")
    ] = False
    no_touch: NoTouch = False
    at: At = ""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of the text as search splits it, with character offsets and the number of tokens."""

    start: int
    end: int
    tokens: int


class Shown(VerbResult, frozen=True, kw_only=True):
    """One memory with everything that is known about it."""

    memory: Mapping[str, Any]
    """Its path, layer, text, and fields as spelled in the file."""
    threads: tuple[str, ...]
    doubts: tuple[str, ...]
    """Reasons to doubt it, as text."""
    trust: str
    """One of human-reviewed, machine-confirmed and unverified."""
    derived: Derived
    importance: Scored
    chunks: tuple[Piece, ...]
    evidence: tuple[Quote, ...]
    commit: str
    heading: tuple[str, ...]
    """The date or commit the answer refers to, if not the present."""
    zone: str
    """The time zone for showing times to a reader."""


def show(work: Work, request: ShowRequest) -> Shown:
    """Show a memory as it is at HEAD or as it was at another time."""
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id)
    found = evidence(there, memory)
    derived = Derived()
    if not request.at:
        accesses = Ledger(there.store).accesses()
        derived = facts(memory, accesses, work.call.now, there.config.rules)
    if not (request.no_touch or request.at):
        touch(work, [memory.id])
    return Shown(
        memory=as_json(memory),
        threads=tuple(threads_around(there, state, memory)),
        doubts=tuple(
            map(
                without_secrets, doubts(memory, state.memories.get, is_there=there.tree.files.id_of)
            )
        ),
        trust=trust_of(memory),
        derived=derived,
        importance=_scored(there, memory),
        chunks=tuple(Piece(start=c.start, end=c.end, tokens=c.tokens) for c in chunks(memory.body)),
        evidence=found,
        commit=there.tree.commit,
        heading=tuple(heading(there, request.at)),
        zone=there.config.zone.key,
    )


def _scored(work: Work, memory: Memory) -> Scored:
    """Return the importance of a memory with its keywords."""
    found = importance_of(memory, work.config.lexicon)
    if found.level == "trivial":
        return found
    return replace(found, keywords=keywords(memory.body.strip(), work.config.lexicon))


LABEL_WIDTH = 72


class RelatedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `related`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]


class RelatedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A related memory, and the strongest link between the two."""

    id: str
    path: str
    text: str
    status: str
    strength: float
    type: str
    way: Literal["to", "from"]
    """Whether the link points to this memory or comes from it."""
    in_body: bool
    label: str


class Related(VerbResult, frozen=True, kw_only=True):
    """The related memories, the strongest link first."""

    id: str
    label: str
    related: tuple[RelatedMemory, ...]


def related(work: Work, request: RelatedRequest) -> Related:
    """Return the memories that a memory is linked to or replaced, both ways."""
    state = work.tree.state()
    memory = find(state, request.id)
    every = {m.id: m for m in state.memories.values() if m.status != "forgotten"}
    strongest: dict[str, Edge] = {}
    for edge in edges_between(every.values(), lineage=True):
        if memory.id in (edge.source, edge.target):
            other = edge.target if edge.source == memory.id else edge.source
            if other not in strongest or strongest[other].strength < edge.strength:
                strongest[other] = edge
    rows = (
        RelatedMemory(
            id=id_,
            path=every[id_].path,
            text=every[id_].body,
            status=every[id_].status,
            strength=round(edge.strength, 4),
            type=edge.type,
            way="to" if edge.target == id_ else "from",
            in_body=edge.in_body,
            label=_label(every[id_]),
        )
        for id_, edge in sorted(strongest.items(), key=lambda row: (-row[1].strength, row[0]))
    )
    return Related(id=memory.id, label=_label(memory), related=tuple(rows))


def _label(memory: Memory) -> str:
    return cut(visible(without_secrets(memory.title or memory.body)), LABEL_WIDTH)


# -- threads ---------------------------------------------------------------------------------------


class ThreadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `thread`."""

    id: Annotated[
        str, option("a thread, or a memory that is part of one (default: all)", metavar="ID")
    ] = ""
    n: Annotated[int, option("at most N threads (20)", "-n", metavar="N", ge=1)] = 20


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


class Threads(VerbResult, frozen=True, kw_only=True):
    """The newest threads, or the thread that was asked for and those linked to it."""

    threads: tuple[Thread, ...]
    count: int
    """Total number of threads."""
    memories: tuple[Mapping[str, Any], ...] = ()
    """The memories of the thread that was asked for, in order."""
    zone: str
    """The time zone for showing times to a reader."""


def thread(work: Work, request: ThreadRequest) -> Threads:
    """Return one thread with its members in order and its linked threads, or the newest threads."""
    state, zone = work.tree.state(), work.config.zone
    found = {one.id: one for one in threads_of(state.memories, work.config.lexicon, zone)}
    if not request.id:
        newest = tuple(reversed(found.values()))[: request.n]
        return Threads(threads=newest, count=len(found), zone=zone.key)
    fitting = [one for id_, one in found.items() if id_.startswith(request.id)]
    asked = found.get(request.id) or (fitting[0] if len(fitting) == 1 else None)
    if asked is None:
        memory = find(state, request.id)
        asked = next((one for one in found.values() if memory.id in one.members), None)
    if asked is None:
        raise UsageError(f"no thread is called {request.id!r}", fix="`memrepo thread` lists them")
    return Threads(
        threads=(asked, *(found[id_] for id_ in asked.linked)),
        count=len(found),
        memories=tuple(as_json(state.memories[id_]) for id_ in asked.members),
        zone=zone.key,
    )


def threads_around(work: Work, state: State, memory: Memory) -> list[str]:
    """Return the ids of the threads that contain a memory."""
    named = memory.threads
    if not memory.is_note:
        return list(named)
    parts = assign(turns_of(state.memories.values(), work.config.zone))
    mine = (part[0].id for part in parts if any(turn.id == memory.id for turn in part))
    return [*map(_thread_id, mine), *named]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a conversation. Its time is None if only the day is known."""

    id: str
    at: datetime | None
    key: str = ""
    place: str = ""


def assign(turns: Iterable[Turn], gap: timedelta = GAP) -> list[list[Turn]]:
    """Split ordered turns into threads where the session key changes or the gap is too long."""
    found: list[list[Turn]] = []
    key = ""
    for turn in turns:
        is_other = bool(key and turn.key and turn.key != key)
        if not found or is_other or _apart(found[-1][-1], turn, gap):
            found.append([])
        key = turn.key or key
        found[-1].append(turn)
    return found


def _apart(last: Turn, turn: Turn, gap: timedelta) -> bool:
    if last.at is None or turn.at is None:
        return last.place != turn.place
    return turn.at - last.at > gap


def turns_of(memories: Iterable[Memory], zone: tzinfo) -> list[Turn]:
    """Return the notes as turns, sorted by time, then by line."""
    notes = [m for m in memories if m.is_note and m.status != "forgotten"]
    placed = sorted(((_day(note, zone), *_place(note), note.id), note) for note in notes)
    at_file: dict[str, datetime] = {}
    rows = []
    for number, ((day, place, _, _), note) in enumerate(placed):
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
        created = note.created
        return created.astimezone(zone).date() if created else date.min


def _moment(note: Memory, day: date, zone: tzinfo) -> datetime | None:
    if clock := find_clock(note.title):
        hour, minute = map(int, clock.split(":"))
        return datetime.combine(day, clock_time(hour % 24, minute), zone)
    return None if note.sources else note.created


_KEY = regex(r"\bsession[ _-]?(key|id)\b[\s*`:=]{1,8}([\w@][\w@.:/-]{0,99})", re.I)
_HEAD = 400
"""The number of characters of a note that are searched for a session key."""


def _key(note: Memory) -> str:
    """Return the session key at the beginning of a note, or the session id if it has no key."""
    found = _KEY.findall(f"{note.title}\n{note.body}"[:_HEAD])
    keys = sorted(found, key=lambda pair: pair[0].lower() != "key")
    return keys[0][1].rstrip(".:/-") if keys else ""


def threads_of(
    memories: Mapping[str, Memory], lexicon: Lexicon, zone: tzinfo
) -> tuple[Thread, ...]:
    """Return the computed threads of notes, oldest first, then those named in field `threads`."""
    named: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories.values():
        for name in memory.threads:
            named[name].append(memory)
    parts: dict[str, list[Turn]] = {
        _thread_id(part[0].id): part for part in assign(turns_of(memories.values(), zone))
    }
    members = {id_: tuple(turn.id for turn in part) for id_, part in parts.items()}
    for name, found in sorted(named.items()):
        found.sort(key=lambda m: (m.captured, m.created or EARLIEST, m.id))
        members[name] = tuple(memory.id for memory in found)
    keys = {id_: next((t.key for t in part if t.key), "") for id_, part in parts.items()}
    spans = {id_: [turn.at for turn in part if turn.at] for id_, part in parts.items()}
    linked = _linked(memories, members, keys)
    titles = _titles([[memories[id_] for id_ in group] for group in members.values()], lexicon)
    return tuple(
        Thread(
            id=id_,
            title=title,
            members=group,
            key=keys.get(id_, ""),
            linked=linked.get(id_, ()),
            begin=format_time(min(span)) if (span := spans.get(id_)) else "",
            end=format_time(max(span)) if span else "",
        )
        for (id_, group), title in zip(members.items(), titles, strict=True)
    )


def _thread_id(first: str) -> str:
    return f"thread-{first.removeprefix('mem-')}"


UNTITLED = "Untitled Thread"
_WORDS, _LETTERS = 3, 4


def _titles(groups: Sequence[Sequence[Memory]], lexicon: Lexicon) -> list[str]:
    texts = ("\n".join(f"{m.title}\n{m.body}" for m in group) for group in groups)
    words = [lexicon.content(text) for text in texts]
    holders = Counter(word for found in words for word in set(found))
    return [title_of(found, holders, len(words)) for found in words]


def title_of(words: Sequence[str], holders: Mapping[str, int], size: int) -> str:
    """Return the title of a thread: the three words with the highest TF-IDF."""
    counts = Counter(w for w in words if len(w) >= _LETTERS or IS_SPACELESS.match(w))
    best = sorted(counts, key=lambda word: -counts[word] * rarity(size, holders[word]))[:_WORDS]
    return ", ".join(word[:1].upper() + word[1:] for word in best) or UNTITLED


def _linked(
    memories: Mapping[str, Memory], members: Mapping[str, Sequence[str]], keys: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Map each thread to its linked threads, connected by links of members or by session key."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for key in filter(None, dict.fromkeys(keys.values())):
        of_key = [id_ for id_, own in keys.items() if own == key]
        for last, id_ in pairwise(of_key):
            found[id_][last] = None
    within: dict[str, list[str]] = defaultdict(list)
    for id_, group in members.items():
        for member in group:
            within[member].append(id_)
    for edge in edges_between(memories.values()):
        for source in within.get(edge.source, ()):
            for target in within.get(edge.target, ()):
                if source != target:
                    found[source][target] = None
    return {id_: tuple(others) for id_, others in found.items()}


# -- topics ---------------------------------------------------------------------------------------

TREND_PERIOD = timedelta(days=30)


class TopicsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `topics`."""

    n: Annotated[int, option("at most N topics (20)", "-n", metavar="N", ge=1)] = 20


class Topics(VerbResult, frozen=True, kw_only=True):
    """The topics by descending score, and the topics whose scores rose or fell."""

    topics: tuple[Topic, ...]
    since: str
    """Start of the trend; empty if the repository is too young."""
    rising: tuple[Trend, ...]
    falling: tuple[Trend, ...]


def topics(work: Work, request: TopicsRequest) -> Topics:
    """List topics of the active memories, and their trend over the last thirty days."""
    lexicon = work.config.lexicon
    now = topics_of(work.tree.state().active, lexicon, max(MOST, request.n))
    since = format_time(work.call.now - TREND_PERIOD)
    rising, falling = tuple[Trend, ...](), tuple[Trend, ...]()
    try:
        old = work_at(work, since)
    except (BeforeHistory, NotYetSetUp):
        since = ""
    else:
        rising, falling = trends(now[:MOST], topics_of(old.tree.state().active, lexicon))
    return Topics(
        topics=tuple(replace(t, score=round(t.score, 4)) for t in now[: request.n]),
        since=since,
        rising=tuple(map(_rounded, rising)),
        falling=tuple(map(_rounded, falling)),
    )


def _rounded(trend: Trend) -> Trend:
    return replace(trend, score=round(trend.score, 4), change=round(trend.change, 4))
