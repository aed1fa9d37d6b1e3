"""Which memories stand on the hot cache, and which notes earned a place among the memories.

Lineage of promotion, demotion and eviction: layered-memory-manager, its L1. Counting starts after a
memory's last promotion or demotion. A session counts as unused from its start on.

Lineage of notes that were looked for again and again: context-clear, promote.py; its thresholds
stand. Days are counted in UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from memrepo.core.access import Access, Accesses
from memrepo.core.changes import Step, Update
from memrepo.core.ids import normalise
from memrepo.core.memory import Hot, Memory, having
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.times import end_of, format_time
from memrepo.policies.decay import decays, is_over, keeping, stays
from memrepo.policies.first_page import Line, compose
from memrepo.policies.rules import DecayRules, HotRules, TierRules
from memrepo.policies.tiers import moves

_HIDDEN = ("stale", "retire_candidate", "probable_duplicate")
COLD, STALE, RECENT = "cold", "stale", "recent"
CRITICAL = "critical"
"""Why a memory that is needed in every session is on the first page."""
SYNC = "sync"
"""Why a memory is on the first page that the composition chose."""
REQUEST = "user request"
_COMPOSED = (CRITICAL, SYNC, "new layer")
"""Reasons that the composition gives, and the one that earlier versions gave."""


def hot_of(memory: Memory) -> Hot | None:
    """Return since when and why a memory is on the cache; None where it is not."""
    hot: Hot | None = memory.fields.get("hot") if memory.has("hot") else None
    if memory.status != "active" or hot is None or hot.since is None or hot.until is not None:
        return None
    return hot


def synced_at(memory: Memory) -> datetime | None:
    """Return when the text of a hot memory changed after it was promoted; None where it did not.

    What an import brings was promoted where it comes from, before it was written here.
    """
    hot, generated = hot_of(memory), memory.fields.get("generated")
    if hot is None or hot.since is None or generated is None or generated.at is None:
        return None
    since = max(filter(None, (hot.since, memory.time("created"))))
    return generated.at if generated.at > since else None


def is_exempt(memory: Memory) -> bool:
    """Return whether budget and idleness leave a memory alone."""
    return memory.flag("critical") or memory.flag("pinned")


def unused(memory: Memory, accesses: Accesses, now: datetime) -> int:
    """Count the sessions that began since a memory was last retrieved, or came to the cache."""
    hot = hot_of(memory)
    since = hot.since if hot is not None and hot.since is not None else now
    last = accesses.of(memory.id).last
    return accesses.sessions_since(max(since, last) if last else since, now)


def heat(count: int, rules: HotRules) -> str:
    """Name how long a memory was not used, by sessions."""
    if count >= rules.idle:
        return COLD
    return STALE if count else RECENT


def why_hot(memory: Memory, accesses: Accesses, now: datetime, rules: HotRules) -> str:
    """Return the reason to promote a memory, or an empty string."""
    if memory.flag("critical"):
        return CRITICAL
    hot: Hot | None = memory.fields.get("hot")
    cutoff = (hot.until or hot.since) if hot is not None else None
    account = accesses.of(memory.id)
    if not account.recent:
        return ""
    times = [pair for pair in account.since(cutoff) if pair[0] <= now.timestamp()]
    sessions = Counter(id_ for _, id_ in times)
    if len(sessions) >= rules.sessions:
        return f"{len(sessions)} sessions"
    # Asked for twice in one session: a session is enough. The tag knows no other reason for use.
    return "1 sessions" if sessions and max(sessions.values()) > 1 else ""


def may_be_hot(memory: Memory, accesses: Accesses, now: datetime, decay: DecayRules) -> bool:
    """Return whether a memory is one that the cache shows: known to hold, and not over."""
    if not decays(memory) or memory.standing in _HIDDEN:
        return False
    return not why_over(memory, accesses, now, decay)


def why_over(memory: Memory, accesses: Accesses, now: datetime, decay: DecayRules) -> str:
    """Return why a memory's context is over, or an empty string."""
    until = memory.text("valid_until") if memory.has("valid_until") else ""
    if until and end_of(until, decay.zone) <= now:
        return f"it was true until {until}"
    access = accesses.of(memory.id)
    if not stays(memory, access, now, decay) and is_over(
        memory, keeping(memory, access, now, decay)
    ):
        return "its time is over"
    return ""


_MARKED = frozenset(("hot", "critical"))


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    memory: Memory
    unused: int
    since: datetime
    reason: str
    new: bool

    def rank(self, rules: HotRules) -> tuple[object, ...]:
        """Sort the first to go first: cold, stale, recent; longest unused, oldest promotion."""
        order = (COLD, STALE, RECENT).index(heat(self.unused, rules))
        return (order, -self.unused, self.since, self.memory.path)


class HotPage(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be on the hot cache, in order; the steps that lead there; and findings."""

    memories: tuple[Memory, ...] = ()
    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()


def is_composed(memory: Memory) -> bool:
    """Return whether the nightly composition chose a hot memory, rather than use or a person."""
    hot = hot_of(memory)
    return hot is not None and hot.reason in _COMPOSED and not is_exempt(memory)


def compose_hot(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
    *,
    allowed: Callable[[Step], bool] = lambda _: True,
    whole: bool = True,
) -> HotPage:
    """Return the hot cache at a moment: what use and people put there, and the composed page.

    Memories are in the order of their paths. Critical and pinned memories are never evicted; the
    composition's own critical lines come next, then what use keeps, then its other lines. What
    would be evicted as soon as it comes does not come at all. Where these are not all memories
    (`whole`), nothing is composed.
    """
    composes = rules.composed and whole
    lines = _composed(memories, accesses, now, rules, decay, allowed) if composes else {}
    entries: list[_Entry] = []
    steps: list[Step] = []
    gone: list[Memory] = []
    used = accesses.by_memory
    for memory in memories:
        if memory.id not in used and _MARKED.isdisjoint(memory.keys):
            continue
        hot = hot_of(memory)
        if hot is not None and hot.since is not None:
            count = unused(memory, accesses, now)
            if over := why_over(memory, accesses, now, decay):
                steps.append(demote(memory, now, over))
            elif rules.composed and is_composed(memory):
                if composes and memory.id not in lines:
                    gone.append(memory)
            elif count >= rules.idle and not is_exempt(memory) and memory.id not in lines:
                what = f"not retrieved for {counted(count, 'session', 'sessions')}"
                steps.append(demote(memory, now, what))
            elif is_exempt(memory) or count < rules.idle:
                entries.append(
                    _Entry(
                        memory=memory, unused=count, since=hot.since, reason=hot.reason, new=False
                    )
                )
        elif memory.id not in lines or is_exempt(memory):
            why = why_hot(memory, accesses, now, rules)
            if why and may_be_hot(memory, accesses, now, decay):
                entries.append(_Entry(memory=memory, unused=0, since=now, reason=why, new=True))
    chosen = [*lines.values()]
    for entry in entries:
        lines.pop(entry.memory.id, None)
    first = [line.memory for line in lines.values() if line.critical]
    exempt = [entry for entry in entries if is_exempt(entry.memory)]
    first = first[: max(0, rules.budget - len(exempt))]
    kept, out, problems = _fitted(entries, rules, len(first))
    for entry in out:
        if not entry.new:
            what = f"{heat(entry.unused, rules)}, over the budget of {rules.budget} bullets"
            steps.append(demote(entry.memory, now, what))
    steps += [promote(e.memory, now, e.reason) for e in kept if e.new]
    rest = [line.memory for line in lines.values() if not line.critical]
    rest = rest[: max(0, rules.budget - len(kept) - len(first))]
    on_page = {m.id: m for m in (*first, *rest, *(e.memory for e in kept))}
    gone += [line.memory for line in lines.values() if line.memory.id not in on_page]
    steps += _difference(lines, on_page, gone, now)
    order = [line.memory.id for line in chosen]
    order += [e.memory.id for e in kept if e.memory.id not in set(order)]
    shown = tuple(on_page[id_] for id_ in order if id_ in on_page)
    return HotPage(
        memories=shown, steps=tuple(s for s in steps if allowed(s)), problems=tuple(problems)
    )


def session_page(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
) -> tuple[Memory, ...]:
    """Return what a session is shown: the page as a run would compose it now.

    What the run would take off for want of use is still there: this session may use it.
    """
    shown = compose_hot(memories, accesses, now, rules, decay).memories
    ids = {memory.id for memory in shown}
    hot = [m for m in having(memories, ("hot",)) if hot_of(m) is not None and m.id not in ids]
    hot = [m for m in hot if not (rules.composed and is_composed(m))]
    return (*shown, *(m for m in hot if not why_over(m, accesses, now, decay)))


def _composed(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
    allowed: Callable[[Step], bool],
) -> dict[str, Line]:
    """Return the composition by id, without what a person took off the page or reverted."""
    off = set()
    for memory in having(memories, ("hot",)):
        hot: Hot = memory.fields["hot"]
        if hot.until is not None and hot.reason == REQUEST:
            off.add(memory.id)
    claims = [m for m in memories if may_be_hot(m, accesses, now, decay)]
    shown = [memory for memory in claims if memory.id not in off]
    found = compose(shown, accesses, now, rules.budget)
    return {
        line.memory.id: line
        for line in found
        if hot_of(line.memory) is not None or allowed(promote(line.memory, now, SYNC))
    }


def _difference(
    lines: Mapping[str, Line], on_page: Mapping[str, Memory], gone: Sequence[Memory], now: datetime
) -> Iterator[Step]:
    """Yield the commit of what the composition adds, and that of what it takes off."""
    added: list[Update] = []
    for id_, line in lines.items():
        if id_ not in on_page:
            continue
        hot, reason = hot_of(line.memory), CRITICAL if line.critical else SYNC
        if hot is None or (hot.reason in _COMPOSED and hot.reason != reason):
            since = hot.since if hot is not None else now
            added.append(Update(id=id_, fields={"hot": Hot(since=since, reason=reason)}))
    left = [m for m in gone if hot_of(m) is not None]
    if left:
        changes = tuple(Update(id=m.id, fields={"hot": Hot(until=now)}) for m in left)
        yield Step(
            op="demote",
            reason="the first page, composed again, has no line for it",
            changes=changes,
        )
    if added:
        why = "chosen for the first page, which each run composes again"
        yield Step(op="promote", reason=why, changes=tuple(added))


def _fitted(
    entries: list[_Entry], rules: HotRules, reserved: int
) -> tuple[list[_Entry], list[_Entry], list[Problem]]:
    """Return who stays and who goes, where so many lines are `reserved` for others."""
    exempt = [e for e in entries if is_exempt(e.memory)]
    rest = sorted((e for e in entries if not is_exempt(e.memory)), key=lambda e: e.rank(rules))
    room = rules.budget - len(exempt)
    out = rest[: max(0, len(rest) - max(0, room - reserved))]
    kept = exempt + rest[len(out) :]
    return kept, out, [] if room >= 0 else [_too_many(len(exempt), rules)]


def _too_many(count: int, rules: HotRules) -> Problem:
    return Problem(
        path=rules.path,
        rule="hot-over-budget",
        message=f"found {count} critical and pinned memories on the hot cache,"
        f" expected at most {rules.budget}: nothing is cut silently",
        fix="`memrepo pin ID --off` or `promote ID --off` some, or raise hot.budget",
    )


def promote(memory: Memory, now: datetime, reason: str) -> Step:
    """Return the step by which a memory comes to the cache."""
    return Step(
        op="promote",
        reason=reason,
        changes=(Update(id=memory.id, fields={"hot": Hot(since=now, reason=reason)}),),
    )


def demote(memory: Memory, now: datetime, reason: str) -> Step:
    """Return the step by which a memory leaves the cache; the memory itself stays as it is."""
    return Step(
        op="demote",
        reason=f"{reason} ({format_time(now)})",
        changes=(Update(id=memory.id, fields={"hot": Hot(until=now)}),),
    )


WEEK, FORTNIGHT, EVER = (7, 3), (14, 5), 8
"""Days and retrievals within them, twice; then retrievals in all."""
SKILLS, HOT_CACHE = "skills", "hot cache"
_HOW_TO = ("how to", "procedure", "runbook", "step 1", "steps", "workflow", "recipe", "method")


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A note that earned promotion: why, and where it should go."""

    note: Memory
    access: Access
    why: tuple[str, ...]
    destination: str

    @property
    def record(self) -> str:
        """Return the record of its retrievals in one line."""
        last = self.access.last
        ever = f", last retrieved {format_time(last)}" if last else ""
        return f"{', '.join(self.why)}{ever}"


def nominated(
    notes: Iterable[Memory], accesses: Accesses, now: datetime, rules: TierRules
) -> tuple[Candidate, ...]:
    """Return the notes that meet a threshold and were not promoted yet, most retrieved first.

    After a nomination that came to nothing only later retrievals count.
    """
    found = []
    for note in notes:
        if note.is_note and note.status == "active" and not note.flag("promoted"):
            access = accesses.of(note.id)
            if (judged := note.time("nominated")) is not None:
                access = access.after(judged)
                if not access.total:
                    continue
            if why := reasons(note, access, now, rules):
                found.append(
                    Candidate(note=note, access=access, why=why, destination=destination(note))
                )
    return tuple(sorted(found, key=lambda c: (-c.access.total, c.note.path)))


def reasons(note: Memory, access: Access, now: datetime, rules: TierRules) -> tuple[str, ...]:
    """Return the thresholds that a note meets, in words.

    A note that was recovered from forgotten counts as marked before a run has written so.
    """
    why = []
    for days, least in (WEEK, FORTNIGHT):
        count = access.within(days, now)
        if count >= least:
            why.append(f"{count} retrievals in {days} days")
    if access.total >= EVER:
        why.append(f"{access.total} retrievals in all")
    if note.flag("user_marked") or any(m.marked for m in moves(note, access, now, rules)):
        why.append("marked by the user")
    return tuple(why)


def destination(note: Memory) -> str:
    """Propose where a note belongs: a method among the skills, all else by way of the purifier."""
    text = normalise(f"{note.text('title')} {note.body[:2000]}")
    return SKILLS if any(word in text for word in _HOW_TO) else HOT_CACHE
