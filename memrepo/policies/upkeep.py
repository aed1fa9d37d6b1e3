"""Compute the changes due by age and use, and limit how many memories leave recall per run.

The order is fixed: tier moves, prune, archive, hot cache. Each stage uses the result of the
previous one. Equal state, access log, time and rules give equal steps. On the resulting state no
steps are due.

The interlock names a run that would remove too many claims. Notes are not counted.

Runs are due by cron expressions in a time zone. An incremental run close to a reconciliation is
skipped. Lineage: memory-purifier. Its guard takes the clock hour; this one takes any expression,
measures 60 minutes, and crosses midnight. The rules are cronsim's, also for summer time.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from itertools import islice, takewhile
from typing import assert_never

import msgspec
from cronsim import CronSim
from msgspec.structs import replace

from memrepo.core.errors import Problem
from memrepo.core.ids import visible
from memrepo.core.manifest import Access, Accesses
from memrepo.core.memory import REFERENCES, Hot, Memory, cut_ids, having, of_types, references
from memrepo.core.state import (
    Change,
    Create,
    Delete,
    Remove,
    State,
    Step,
    Update,
    Write,
    apply_steps,
)
from memrepo.core.times import format_duration, format_time
from memrepo.policies.ageing import (
    TIERS,
    Move,
    decays,
    move_of,
    prunable,
    why_clean,
)
from memrepo.policies.gists import gist_of
from memrepo.policies.hotcache import (
    REQUEST,
    compose_hot,
    demote,
    hot_of,
    is_archive_exempt,
    promote,
)
from memrepo.policies.latest import lines_of_logs
from memrepo.policies.links import Directive
from memrepo.policies.rules import MODES, ArchiveRules, Rules, RunMode, Schedule, TierRules
from memrepo.policies.standing import RETIRED

FREE = 20
"""A run may always remove this many memories from recall."""


def losses(state: State, changes: Iterable[Change]) -> frozenset[str]:
    """Return the ids of the claims that the changes would remove from recall.

    A replaced claim is not lost, since recall has its successor.
    """
    lost = set()
    for change in changes:
        match change:
            case Remove(id=id_):
                lost.add(id_)
            case Update(fields=fields) if fields.get("superseded_by"):
                pass
            case Update(id=id_, fields=fields) if (fields.get("status") or "active") != "active":
                lost.add(id_)
            case Update(id=id_, fields=fields) if fields.get("standing") == RETIRED:
                if id_ in state.memories and state.memories[id_].standing != RETIRED:
                    lost.add(id_)
            case Update() | Create() | Write() | Delete():
                pass
            case _:
                assert_never(change)
    return frozenset(i for i in lost if i in state.memories and decays(state.memories[i]))


def interlock(state: State, changes: Iterable[Change], max_change_pct: float) -> str:
    """Return why a person must decide about the changes, or an empty string if nobody needs to.

    A person decides if they remove more than `max_change_pct` percent of the claims from recall,
    and more than 20. Retired claims are not counted, because they have left recall already.
    """
    lost = len(losses(state, changes))
    if lost <= FREE:  # usual case: no need to count all claims
        return ""
    total = sum(decays(m) and m.standing != RETIRED for m in state.active)
    if lost * 100 <= max_change_pct * total:
        return ""
    return f"it would remove {lost} of {total} claims from recall (more than {max_change_pct:g} %)"


PACE = 0.05
"""The share of all memories that one run may prune and archive, or FREE if that is more."""


Allowed = Callable[[Step], bool]
"""A function that returns whether a step is allowed. Steps that a person reverted are not."""


class Upkeep(msgspec.Struct, frozen=True, kw_only=True):
    """The result of upkeep: the due steps, the state after them, and problems.

    `room` is the number of further memories that may leave recall.
    """

    steps: tuple[Step, ...]
    state: State
    problems: tuple[Problem, ...] = ()
    room: int = 0


def upkeep(
    state: State,
    accesses: Accesses,
    now: datetime,
    rules: Rules,
    *,
    spent: int = 0,
    allowed: Allowed = lambda _: True,
) -> Upkeep:
    """Return the steps that are due at a given time.

    `spent` is the number of memories that earlier runs at the same time removed. Memories beyond
    the pace of a run leave recall in later runs, longest due first.
    """
    moving = due_tier_moves(state, accesses, now, rules)
    steps = tier_steps(moving, now, rules.tiers) if moving else ()
    after = apply_steps(state, steps)
    pace = max(FREE, int(len(after.memories) * PACE)) - spent
    leaving = tuple(islice(_leaving(after, accesses, now, rules, allowed), max(0, pace)))
    after = apply_steps(after, leaving)
    hot = compose_hot(after.active, accesses, now, rules.hot, rules.decay, lines_of_logs(after))
    return Upkeep(
        steps=(*steps, *leaving, *hot.steps),
        state=apply_steps(after, hot.steps),
        problems=hot.problems,
        room=max(0, pace - len(leaving)),
    )


def due_tier_moves(
    state: State, accesses: Accesses, now: datetime, rules: Rules
) -> list[tuple[Memory, Move]]:
    """Return (note, move) pairs for the notes with due moves between tiers."""
    notes = of_types(state.active, ("note",))
    found = ((note, move_of(note, accesses.of(note.id), now, rules.tiers)) for note in notes)
    return [(note, move) for note, move in found if move]


def _leaving(
    state: State, accesses: Accesses, now: datetime, rules: Rules, allowed: Allowed
) -> Iterator[Step]:
    """Yield the steps that prune memories, then the steps that archive memories, oldest first."""
    leaving = Leaving(state.memories)
    gone: set[str] = set()
    for memory, why, ended in _pruned(state, accesses, now, rules):
        # A memory that was true once remains in the archive.
        pruning = Step(op="prune", reason=why, changes=(Remove(id=memory.id),))
        step = archive(memory, now, why) if ended else pruning
        if memory.id in gone or not allowed(step):
            continue
        if not ended:
            step = replace(step, changes=leaving.leave(memory.id))
        if step.changes:
            gone.update(step.memory_ids)
            yield step
    for memory, due in archivable(state.active, accesses, now, rules.archive):
        why = archive_reason(memory, accesses.of(memory.id), due, rules.archive)
        step = archive(memory, now, why)
        if memory.id not in gone and allowed(step):
            yield step


def _pruned(
    state: State, accesses: Accesses, now: datetime, rules: Rules
) -> Iterator[tuple[Memory, str, bool]]:
    """Yield the memories to prune, oldest first, why, and whether their stated end has passed."""
    found = [
        (written, note.id, note, why, False)
        for note in of_types(state.active, ("note",))
        if (why := why_clean(note, now, rules.tiers)) and (written := note.tier_since)
    ]
    for memory, kept in prunable(state.active, accesses, now, rules.decay):
        rests = archive_due(memory, accesses.of(memory.id), rules.archive)
        # A memory that was due for the archive earlier is archived instead.
        if rests is None or rests >= kept.due:
            found.append((kept.due, memory.id, memory, kept.reason(), kept.ended))
    for _, _, memory, why, ended in sorted(found, key=lambda f: f[:2]):
        yield memory, why, ended


class Leaving:
    """A copy of a state's memories that computes the changes for removing individual memories."""

    def __init__(self, memories: Mapping[str, Memory]) -> None:
        self._memories = dict(memories)

    @cached_property
    def _users(self) -> Mapping[str, set[str]]:
        """Map each memory id to the ids of the memories that refer to it."""
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
        if any(getattr(self._memories[g], f) for g in gone - {id_} for f in ("pinned", "critical")):
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
        heirs = set(memory.superseded_by)
        return memory.parent == of or (of in heirs and not heirs - gone)

    def _cut(self, gone: set[str]) -> Iterable[Update]:
        users = {u for one in gone for u in self._users[one] if u in self._memories} - gone
        for user in sorted(users):
            memory = self._memories[user]
            cut = cut_ids(memory, gone.__contains__)
            fields: dict[str, object] = {key: rest for key, _, rest in cut}
            if "duplicate_of" in fields and memory.standing == "probable_duplicate":
                fields["standing"] = None
            self._memories[user] = memory.with_fields(fields)
            yield Update(id=user, fields=fields)


def archive_due(memory: Memory, access: Access, rules: ArchiveRules) -> datetime | None:
    """Return the time at which a memory is due for archiving, or None if it is never archived.

    The period starts at the later of creation and last retrieval. For a memory that left the hot
    cache later than both, it starts when the memory left and has another length (`demoted_after`).
    """
    created = memory.created
    if created is None or is_archive_exempt(memory):
        return None
    hot = memory.hot
    until = hot.until if hot is not None else None
    last = max(filter(None, (created, access.last)), default=created)
    if until is not None and until >= last:
        return until + rules.demoted_after if rules.demoted_after else None
    return last + rules.after if rules.after else None


def archivable(
    memories: Iterable[Memory], accesses: Accesses, now: datetime, rules: ArchiveRules
) -> list[tuple[Memory, datetime]]:
    """Return the memories due for archiving as (memory, due time) pairs, earliest first."""
    found: list[tuple[Memory, datetime]] = []
    ages = [age for age in (rules.after, rules.demoted_after) if age is not None]
    if not ages:
        return found
    for memory in memories:
        created = memory.created
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
    """Return a step that restores an archived memory."""
    fields = {"status": None, "archived_at": None}
    change = Update(id=memory.id, fields=fields)
    return Step(op="restore", reason=why, changes=(change,))


def archive_reason(memory: Memory, access: Access, due: datetime, rules: ArchiveRules) -> str:
    """Return the reason for archiving a memory, as text for a commit message."""
    hot = memory.hot
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
        and (at := memory.archived_at) is not None
        and now - at > rules.review_after
    ]
    return tuple(memory for _, _, memory in sorted(found, key=lambda f: f[:2]))


def tier_steps(
    due: Iterable[tuple[Memory, Move]], now: datetime, rules: TierRules
) -> tuple[Step, ...]:
    """Return steps for due moves. Moves by age and moves by retrieval are in separate steps."""
    ages = ", ".join(f"{tier} after {format_duration(rules.after(tier))}" for tier in TIERS[1:])
    reasons = {
        False: "a retrieval rotates a note back",
        True: f"by the time since creation or the last retrieval: {ages}",
    }
    moving = list(due)
    found = []
    for is_ageing, reason in reasons.items():
        those = [(note, move) for note, move in moving if move.is_ageing is is_ageing]
        why = those[0][1].why if len(those) == 1 else reason
        changes = tuple(_tier_change(note, move, now) for note, move in those)
        found += [Step(op="tier", reason=why, changes=changes)] if those else []
    return tuple(found)


def _tier_change(note: Memory, move: Move, now: datetime) -> Update:
    fields: dict[str, object] = {
        "tier": None if move.tier == "hot" else move.tier,
        "tier_since": now if move.tier == "forgotten" else move.since,
    }
    if move.tier in ("gist", "forgotten"):
        fields["gist"] = gist_of(note)
    if move.marked:
        fields["user_marked"] = True
    return Update(id=note.id, fields=fields)


Find = Callable[[str], Memory | None]
"""Return the memory for a `layer:slug`, or None."""


def directive_steps(
    directive: Directive, memories: Iterable[Memory], find: Find, now: datetime
) -> tuple[Step, ...] | None:
    """Return the steps that carry out a directive, which may be none."""
    if directive.verb == "memory_health":
        return ()
    if directive.verb == "forget keyword":
        word = directive.target.casefold()
        hits = [m for m in memories if word in f"{m.slug}\n{m.body}".casefold()]
        return tuple(s for m in sorted(hits, key=lambda m: m.path) for s in forgotten(m, now))
    memory = find(directive.target)
    if memory is None:
        return None
    match directive.verb:
        case "pin" if not memory.pinned:
            change = Update(id=memory.id, fields={"pinned": True})
            return (Step(op="pin", reason=REQUEST, changes=(change,)),)
        case "promote" if hot_of(memory) is None and memory.status == "active":
            return () if memory.type in ("note", "chunk") else (promote(memory, now, REQUEST),)
        case "forget":
            return forgotten(memory, now)
        case "restore" if memory.status == "archived":  # not superseded or forgotten
            return (unarchive(memory, REQUEST),)
    return ()


def forgotten(memory: Memory, now: datetime, why: str = "asked to forget") -> tuple[Step, ...]:
    """Return a step that removes a memory from the hot cache and prevents later runs adding it.

    The flag `critical` is cleared, because it would bring the memory back. Return no step if the
    memory is neither hot nor critical.
    """
    if hot_of(memory) is None and not memory.critical:
        return ()
    off = Update(id=memory.id, fields={"hot": Hot(until=now, reason=REQUEST)})
    critical = (Update(id=memory.id, fields={"critical": None}),) if memory.critical else ()
    return (replace(demote(memory, now, why), changes=(off, *critical)),)


WINDOW = timedelta(hours=1)
"""Skip an incremental run this close to a reconciliation, before or after it."""
SLACK = timedelta(minutes=5)
"""How late a scheduler may start a run that is due."""
MOST_MISSED = 1000


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """A due run: its mode, its name, and its time in the time zone of the schedule."""

    when: datetime
    name: str
    mode: RunMode

    def describe(self, zone: str) -> str:
        """Return the time and the name as text."""
        return f"{self.when:%a %Y-%m-%d %H:%M} {zone}, {self.name}"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """When and why the last runs failed, and how many did in a row."""

    at: str
    error: str
    times: int


class Timetable(msgspec.Struct, frozen=True, kw_only=True):
    """What starts the runs of a clone, the next run, and what went wrong with the last ones.

    `by` names the program that starts runs: crontab, launcher or nothing. `missed` counts the runs
    due since the last successful one. A single one counts as 0, because it may still be starting.
    """

    by: str
    missed: int
    failed: Failure | None
    """Set if the last run failed."""
    next: Fire | None

    @property
    def complaints(self) -> tuple[str, ...]:
        """Return what went wrong, worst first."""
        found = []
        if self.failed is not None:
            times = self.failed.times
            runs = "the last run" if times == 1 else f"the last {times} runs"
            found.append(f"{runs} failed, {self.failed.at}: {visible(self.failed.error)}")
        if self.missed:
            found.append(f"missed {self.missed} scheduled runs")
        return tuple(found)


def fires(expression: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield the UTC times after `after` at which a cron expression fires.

    A fixed time that summer time skips fires when the gap ends. A time that occurs twice fires
    once.
    """
    for found in CronSim(expression, after.astimezone(zone)):
        # Compare in UTC: within one zone, Python compares clock times, and an hour may repeat.
        moment = found.astimezone(UTC)
        if moment > after:
            yield moment


def guard(now: datetime, schedule: Schedule, zone: tzinfo) -> bool:
    """Return whether to skip an incremental run at `now` because a reconciliation is close."""
    first = now - WINDOW - timedelta(seconds=1)
    return any(
        next(fires(each, zone, first), now + 2 * WINDOW) <= now + WINDOW
        for each in schedule.reconciliation
    )


def upcoming(now: datetime, schedule: Schedule, zone: tzinfo) -> Iterator[Fire]:
    """Yield the runs due after `now`, earliest first, except incremental runs that are skipped."""
    streams = [
        _stream(cron, MODES.index(mode), name, zone, now) for name, mode, cron in schedule.jobs()
    ]
    for moment, order, name in heapq.merge(*streams):
        mode = MODES[order]
        if mode == "reconciliation" or not guard(moment, schedule, zone):
            yield Fire(when=moment.astimezone(zone), name=name, mode=mode)


def _stream(
    cron: str, order: int, name: str, zone: tzinfo, after: datetime
) -> Iterator[tuple[datetime, int, str]]:
    for moment in fires(cron, zone, after):
        yield moment, order, name


def next_fire(now: datetime, schedule: Schedule, zone: tzinfo) -> Fire | None:
    """Return the next run due after `now`, or None if no run is scheduled."""
    return next(upcoming(now, schedule, zone), None)


def missed(since: datetime, now: datetime, schedule: Schedule, zone: tzinfo) -> int:
    """Count the runs that were due after `since` and up to `now`, at most 1000."""
    due = takewhile(lambda fire: fire.when <= now, upcoming(since, schedule, zone))
    return sum(1 for _ in islice(due, MOST_MISSED))


def due(now: datetime, schedule: Schedule, zone: tzinfo, mode: RunMode) -> bool:
    """Return whether a run of a mode became due within the last five minutes."""
    return any(
        next(fires(each, zone, now - SLACK), now + SLACK) <= now for each in schedule.of(mode)
    )
