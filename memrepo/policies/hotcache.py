"""Decide which memories are on the first page, and which notes should become memories.

Lineage of promotion, demotion and eviction: layered-memory-manager, its L1. Retrievals are counted
since a memory's last promotion or demotion. A session counts as unused from its start.

Lineage of promoting frequently retrieved notes: context-clear, promote.py, with its thresholds.
Days are counted in UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from memrepo.core.access import Accesses
from memrepo.core.changes import Step, Update
from memrepo.core.memory import Hot, Memory, having
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.times import end_of, format_time
from memrepo.policies.ageing import certainly_remains, class_of, decays, is_over, retention_of
from memrepo.policies.first_page import Line, compose
from memrepo.policies.rules import DecayRules, HotRules

_HIDDEN = ("stale", "retire_candidate", "probable_duplicate")
COLD, STALE, RECENT = "cold", "stale", "recent"
CRITICAL = "critical"
"""The reason for a memory that every session needs."""
SYNC = "sync"
"""The reason for any other memory that the composition chose."""
REQUEST = "user request"
_COMPOSED = (CRITICAL, SYNC, "new layer")
"""The reasons that the composition sets, and the one that earlier versions set."""


def hot_of(memory: Memory) -> Hot | None:
    """Return when and why a memory was added to the hot cache, or None if it is not there."""
    hot: Hot | None = memory.fields.get("hot") if memory.has("hot") else None
    if memory.status != "active" or hot is None or hot.since is None or hot.until is not None:
        return None
    return hot


def synced_at(memory: Memory) -> datetime | None:
    """Return when the text of a hot memory changed after its promotion, or None if unchanged."""
    hot, generated = hot_of(memory), memory.fields.get("generated")
    if hot is None or hot.since is None or generated is None or generated.at is None:
        return None
    since = max(filter(None, (hot.since, memory.time("created"))))
    return generated.at if generated.at > since else None


def is_exempt(memory: Memory) -> bool:
    """Return whether a memory is never demoted for lack of use or room on the first page."""
    return memory.flag("critical") or memory.flag("pinned")


def unused(memory: Memory, accesses: Accesses, now: datetime) -> int:
    """Count the sessions since a memory was last retrieved or promoted, whichever is later."""
    hot = hot_of(memory)
    since = hot.since if hot is not None and hot.since is not None else now
    last = accesses.of(memory.id).last
    return accesses.sessions_since(max(since, last) if last else since, now)


def heat(count: int, rules: HotRules) -> str:
    """Classify a memory as recent, stale or cold, by the number of sessions since its last use."""
    if count >= rules.idle:
        return COLD
    return STALE if count else RECENT


def why_hot(memory: Memory, accesses: Accesses, now: datetime, rules: HotRules) -> str:
    """Return the reason for promoting a memory to the hot cache, or an empty string if none."""
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
    # Two retrievals in one session are enough. The tag of a bullet only has reasons in this form.
    return "1 sessions" if sessions and max(sessions.values()) > 1 else ""


def may_be_hot(memory: Memory, accesses: Accesses, now: datetime, decay: DecayRules) -> bool:
    """Return whether a memory may be on the first page: active, valid and not doubtful."""
    if not decays(memory) or memory.standing in _HIDDEN:
        return False
    return not why_over(memory, accesses, now, decay)


def why_over(memory: Memory, accesses: Accesses, now: datetime, decay: DecayRules) -> str:
    """Return why a memory is no longer valid, or an empty string if it is valid."""
    until = memory.text("valid_until") if memory.has("valid_until") else ""
    if until and end_of(until, decay.zone) <= now:
        return f"it was true until {until}"
    access = accesses.of(memory.id)
    if not certainly_remains(memory, access, now, decay) and is_over(
        memory, retention_of(memory, access, now, decay)
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
        """Return a sort key for eviction: coldest first, then longest unused, then longest hot."""
        order = (COLD, STALE, RECENT).index(heat(self.unused, rules))
        return (order, -self.unused, self.since, self.memory.path)


class HotPage(msgspec.Struct, frozen=True, kw_only=True):
    """The memories of the hot cache in order, the steps that produce the cache, and problems."""

    memories: tuple[Memory, ...] = ()
    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()


def is_composed(memory: Memory) -> bool:
    """Return whether a memory is on the first page only because a run composed the first page."""
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
    """Compute the hot cache for a given time.

    It contains memories added by use or by people, and the lines of the composed first page.

    `memories` are sorted by path. Critical and pinned memories are never evicted. The critical
    lines of the composition have the next priority, then memories in use, then its other lines. A
    memory that would be evicted at once is not promoted. Without all memories (`whole` is false),
    no page is composed.
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
    """Return the memories of the hot cache for a session, as a run would compute them now."""
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
    """Return the lines of the composed page by memory id, except those that a person rejected."""
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
    """Yield the steps that remove lines from the first page and add lines to it, if any."""
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
            reason="not selected for the first page, which every run rebuilds",
            changes=changes,
        )
    if added:
        why = "selected for the first page, which every run rebuilds"
        yield Step(op="promote", reason=why, changes=tuple(added))


def _fitted(
    entries: list[_Entry], rules: HotRules, reserved: int
) -> tuple[list[_Entry], list[_Entry], list[Problem]]:
    """Split entries by the budget. Return the kept entries, the evicted entries, and problems."""
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
        message=f"found {count} critical and pinned memories on the first page, expected at most"
        f" {rules.budget}: none is removed automatically",
        fix="`memrepo pin ID --off` or `promote ID --off` some, or raise hot.budget",
    )


def promote(memory: Memory, now: datetime, reason: str) -> Step:
    """Return a step that adds a memory to the hot cache."""
    return Step(
        op="promote",
        reason=reason,
        changes=(Update(id=memory.id, fields={"hot": Hot(since=now, reason=reason)}),),
    )


def demote(memory: Memory, now: datetime, reason: str) -> Step:
    """Return a step that removes a memory from the hot cache without deleting the memory."""
    return Step(
        op="demote",
        reason=f"{reason} ({format_time(now)})",
        changes=(Update(id=memory.id, fields={"hot": Hot(until=now)}),),
    )


def is_archive_exempt(memory: Memory) -> bool:
    """Return whether a memory is exempt from automatic archiving."""
    return (
        memory.status != "active"
        or memory.type in ("note", "chunk")
        or memory.flag("critical")
        or memory.flag("pinned")
        or hot_of(memory) is not None
        or class_of(memory) == "permanent"
    )
