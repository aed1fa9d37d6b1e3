"""The policies played forward in memory: what would survive, day by day.

One upkeep a day, by the very rules of a run. A day's upkeep is given only the memories that it
could move (`wake`), with all that refers to them, so a quiet day costs nothing; of those whose turn
to leave has to wait as many as the pace lets go. Sessions retrieve
by a fixed rule: all memories but chunks stand in an order that the seed gives, and each of a
session's three draws takes the n-th with a probability that falls as 1/n. A draw that recall would
not find is lost, as a question is that comes too late.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from heapq import heappop, heappush, nlargest
from types import MappingProxyType

import msgspec

from memrepo.core.access import (
    RETRIEVAL,
    SESSION,
    SESSIONS,
    Access,
    Accesses,
    Event,
    fold,
    seconds,
)
from memrepo.core.changes import Remove, Step, Update
from memrepo.core.memory import Memory, references
from memrepo.core.state import Files, State
from memrepo.core.times import whole_seconds
from memrepo.policies.archive import archive_due
from memrepo.policies.decay import FLOOR, class_of, decays, is_over, is_protected, keeping
from memrepo.policies.hotcache import hot_of, why_hot
from memrepo.policies.rules import Rules
from memrepo.policies.tiers import TIERS, place_of
from memrepo.policies.upkeep import Turn, pace_of, upkeep

DRAWS = 3
"""Retrievals of a session: as many as a search counts."""
DAY = timedelta(days=1)


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """Counts after the upkeep of a day; day 0 is the state at the start, as its files say.

    `tiers` counts active notes, `classes` other active memories; `gone` left the tree since then.
    """

    day: int
    at: datetime
    tiers: Mapping[str, int]
    classes: Mapping[str, int]
    archived: int
    hot: int
    gone: int

    @property
    def recalled(self) -> int:
        """Return how many memories but notes recall finds."""
        return sum(self.classes.values())


class Simulation(msgspec.Struct, frozen=True, kw_only=True):
    """The days, the memories at the end, what was retrieved when, and how many draws were lost."""

    days: tuple[Day, ...]
    memories: Mapping[str, Memory]
    events: tuple[Event, ...]
    lost: int


def simulate(
    state: State,
    accesses: Accesses,
    now: datetime,
    rules: Rules,
    *,
    days: int,
    sessions: int = 0,
    seed: int = 0,
) -> Simulation:
    """Play days from a moment on; `sessions` of them all are spread evenly over the whole span."""
    play = _Play(state, accesses, now, rules, seed)
    series = [play.counted(0, now)]
    gap, turn = (days * DAY / sessions if sessions else DAY), 0
    for day in range(1, days + 1):
        end = now + day * DAY
        while turn < sessions and (at := whole_seconds(now + (turn + 0.5) * gap)) <= end:
            play.session(turn, at)
            turn += 1
        play.upkeep(end)
        series.append(play.counted(day, end))
    return Simulation(
        days=tuple(series),
        memories=MappingProxyType(play.memories),
        events=tuple(play.events),
        lost=play.lost,
    )


def wake(
    memory: Memory, accesses: Accesses, now: datetime, rules: Rules, *, waits: bool = False
) -> datetime | None:
    """Return the first moment at which an upkeep could move a memory that no one retrieves.

    Called after an upkeep at `now`. May be too early, never too late; None: never. Of a memory
    whose turn to leave `waits`, it is the first moment that may give it another turn.
    """
    access = accesses.of(memory.id)
    if memory.status != "active":
        return None
    if hot_of(memory) is not None or (access.last is not None and access.last > now):
        return now
    if memory.is_note:
        return None if waits else _wake_note(memory, access, rules)
    if not decays(memory):
        return None
    if why_hot(memory, accesses, now, rules.hot):
        return now  # there was no room for it; there may be tomorrow
    kept = keeping(memory, access, now, rules.decay)
    found = [archive_due(memory, access, rules.archive)]
    found.append(kept.until)
    if not is_protected(memory, kept.cls):
        found += [kept.leaves, now if kept.confidence < FLOOR else None]
    return min((at for at in found if at is not None and not (waits and at <= now)), default=None)


def _wake_note(note: Memory, access: Access, rules: Rules) -> datetime | None:
    place = place_of(note, access, rules.tiers)
    if note.flag("pinned"):
        return None
    if note.text("tier") == "forgotten":
        written, after = note.time("tier_written"), rules.tiers.clean_after
        if written is None or after is None or note.flag("user_marked"):
            return None
        return written + after
    if place is None:
        return None
    touched = max(place.touched, access.last) if access.last else place.touched
    ahead = TIERS[TIERS.index(place.tier) + 1 :]
    return min(touched + rules.tiers.after(goal) for goal in ahead)


class _Play:
    """The state while it is played: mutable here, never outside this module."""

    def __init__(
        self, state: State, accesses: Accesses, now: datetime, rules: Rules, seed: int
    ) -> None:
        self.layout, self.rules, self.seed = state.layout, rules, seed
        self.memories = dict(state.memories)
        self.accounts = dict(accesses.by_memory)
        self.accesses = Accesses(by_memory=self.accounts, sessions=accesses.sessions)
        self.order = sorted(
            (id_ for id_, m in self.memories.items() if m.type != "chunk"),
            key=lambda id_: _digest(f"{seed} {id_}"),
        )
        self.users: dict[str, set[str]] = defaultdict(set)
        for id_, memory in self.memories.items():
            for target in references(memory):
                self.users[target].add(id_)
        self.due: list[tuple[datetime, str]] = sorted((now, id_) for id_ in self.memories)
        self.touched: set[str] = set()
        self.turns: dict[str, Turn] = {}
        self.line: list[Turn] = []
        self.groups = {id_: _groups(memory) for id_, memory in self.memories.items()}
        self.counts = Counter(g for groups in self.groups.values() for g in groups)
        self.began, self.lost = len(self.memories), 0
        self.events: list[Event] = []

    def session(self, number: int, at: datetime) -> None:
        """Begin a session and retrieve what its draws find."""
        name, second = f"simulated-{number + 1}", seconds(at)
        found = [Event(kind=SESSION, at=second, session=name)]
        for draw in range(DRAWS):
            part = _digest(f"{self.seed} {number} {draw}") / 2**64
            memory = self._recalled(int(len(self.order) ** part) - 1, at) if self.order else None
            if memory is None:
                self.lost += 1
                continue
            found.append(Event(kind=RETRIEVAL, at=second, session=name, memory=memory.id))
        self.events += found
        told = fold(found)
        for id_, account in told.by_memory.items():
            self.accounts[id_] = self.accesses.of(id_) + account
            self.touched.add(id_)
        begun = tuple(nlargest(SESSIONS, {*self.accesses.sessions, *told.sessions}))
        self.accesses = Accesses(by_memory=self.accounts, sessions=begun)

    def _recalled(self, rank: int, at: datetime) -> Memory | None:
        memory = self.memories.get(self.order[rank])
        if memory is None or memory.status != "active":
            return None
        kept = keeping(memory, self.accesses.of(memory.id), at, self.rules.decay)
        return None if decays(memory) and is_over(memory, kept) else memory

    def upkeep(self, now: datetime) -> None:
        """Do what is owed at a moment, on what could move."""
        awake = self._awake(now)
        near = self._with_users(awake)
        some = State(
            layout=self.layout,
            files=Files({}, {}),
            memories=MappingProxyType({id_: self.memories[id_] for id_ in sorted(near)}),
        )
        done = upkeep(some, self.accesses, now, self.rules, total=len(self.memories), play=played)
        after = done.state.memories
        changed = {id_ for id_ in near if id_ in after and after[id_] is not some.memories[id_]}
        for id_ in near:
            self._put(id_, after.get(id_))
        waits = {turn[2]: turn for turn in done.later}
        for id_ in near - waits.keys():
            self.turns.pop(id_, None)
        for id_, turn in waits.items():
            if self.turns.get(id_) != turn:
                self.turns[id_] = turn
                heappush(self.line, turn)
        for id_ in sorted((awake | changed) & after.keys()):
            at = wake(after[id_], self.accesses, now, self.rules, waits=id_ in waits)
            if at is not None:
                heappush(self.due, (at, id_))

    def _awake(self, now: datetime) -> set[str]:
        found, self.touched = self.touched, set()
        while self.due and self.due[0][0] <= now:
            found.add(heappop(self.due)[1])
        room = pace_of(len(self.memories), self.rules)
        while self.line and room > 0:
            turn = heappop(self.line)
            id_ = turn[2]
            if self.turns.get(id_) != turn:
                continue  # something happened to it: it left, or has another turn
            del self.turns[id_]
            if id_ in found:
                continue  # it may have lost its turn, and takes nobody's room then
            found.add(id_)
            # What refers to another may go along with it, which takes no turn of its own.
            room -= not references(self.memories[id_])
        return found & self.memories.keys()

    def _with_users(self, ids: Iterable[str]) -> set[str]:
        found, open_ = set(ids), list(ids)
        while open_:
            more = (self.users.get(open_.pop(), set()) & self.memories.keys()) - found
            found |= more
            open_ += more
        return found

    def _put(self, id_: str, memory: Memory | None) -> None:
        if memory is self.memories[id_]:
            return
        old = self.groups.pop(id_)
        self.counts.subtract(old)
        if memory is None:
            del self.memories[id_]
            return
        self.memories[id_] = memory
        self.groups[id_] = _groups(memory)
        self.counts.update(self.groups[id_])

    def counted(self, day: int, at: datetime) -> Day:
        """Return the counts as they stand."""
        return Day(
            day=day,
            at=at,
            tiers=dict(self._named("tier")),
            classes=dict(self._named("class")),
            archived=self.counts[_ARCHIVED],
            hot=self.counts[_HOT],
            gone=self.began - len(self.memories),
        )

    def _named(self, kind: str) -> Iterator[tuple[str, int]]:
        return ((name, n) for (of, name), n in sorted(self.counts.items()) if of == kind and n)


_ARCHIVED, _HOT = ("status", "archived"), ("hot", "")


def _groups(memory: Memory) -> tuple[tuple[str, str], ...]:
    if memory.status == "archived":
        return (_ARCHIVED,)
    if memory.status != "active" or memory.type == "chunk":
        return ()
    own = ("tier", memory.text("tier") or "hot") if memory.is_note else ("class", class_of(memory))
    return (own, _HOT) if hot_of(memory) is not None else (own,)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def played(state: State, steps: Iterable[Step]) -> State:
    """Apply steps of an upkeep to the memories alone: no file is written, not even in memory."""
    memories = dict(state.memories)
    for change in (change for step in steps for change in step.changes):
        if isinstance(change, Update):
            memories[change.id] = memories[change.id].with_fields(change.fields, change.body)
        elif isinstance(change, Remove):
            del memories[change.id]
    return State(layout=state.layout, files=state.files, memories=MappingProxyType(memories))
