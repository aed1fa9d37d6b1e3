"""Decide which memories are on the first page, and which notes should become memories.

Lineage of promotion, demotion and eviction: layered-memory-manager, its L1. Retrievals are counted
since a memory's last promotion or demotion. A session counts as unused from its start.

Lineage of promoting frequently retrieved notes: context-clear, promote.py, with its thresholds.
Days are counted in UTC.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from memrepo.core.errors import Problem
from memrepo.core.manifest import Accesses
from memrepo.core.memory import Hot, Memory, having
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.state import Step, Update
from memrepo.core.times import end_of, format_time
from memrepo.policies.ageing import class_of, decays, is_over, never_ends, retention_of
from memrepo.policies.claims import is_by_person
from memrepo.policies.rules import DecayRules, HotRules
from memrepo.policies.standing import changed_at, contesting

_HIDDEN = ("stale", "retire_candidate", "probable_duplicate", "unresolved")
COLD, STALE, RECENT = "cold", "stale", "recent"
COLD_AFTER = timedelta(days=30)
"""The age from which a memory that was never retrieved is cold."""
RETENTION = timedelta(days=180)
"""The age from which an entry of the log of hygiene.json moves to the file of its month."""
CRITICAL = "critical"
"""The reason for a memory that every session needs."""
SYNC = "sync"
"""The reason for any other memory that the composition chose."""
REQUEST = "user request"
_COMPOSED = (CRITICAL, SYNC, "new layer")
"""The reasons that the composition sets, and the one that earlier versions set."""
_BY_JUDGE = regex(r"judge ([0-9]+)")
"""The reason for a memory that a model put on the page, with its place."""
_BY_USE = regex(r"\d+ sessions")
"""The reason for a memory that use put on a page of the profile `classic`."""


def hot_of(memory: Memory) -> Hot | None:
    """Return when and why a memory was added to the hot cache, or None if it is not there."""
    hot = memory.hot
    if memory.status != "active" or hot is None or hot.since is None or hot.until is not None:
        return None
    return hot


def placed(place: int) -> str:
    """Return the reason for a memory that a model put on the page at a place, counted from one."""
    return f"judge {place}"


def place_of(memory: Memory) -> int:
    """Return the place that a model gave a memory on the first page, or 0."""
    hot = hot_of(memory)
    match = _BY_JUDGE.fullmatch(hot.reason) if hot is not None else None
    return int(match[1]) if match else 0


def synced_at(memory: Memory) -> datetime | None:
    """Return when the text of a hot memory changed after its promotion, or None if unchanged."""
    hot, generated = hot_of(memory), memory.stamp
    if hot is None or hot.since is None or generated is None or generated.at is None:
        return None
    since = max(filter(None, (hot.since, memory.created)))
    return generated.at if generated.at > since else None


def is_exempt(memory: Memory) -> bool:
    """Return whether a memory is never demoted for lack of use or room on the first page."""
    return memory.critical or memory.pinned


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
    if memory.critical:
        return CRITICAL
    hot = memory.hot
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
    is_asked = memory.type == "open_question" and place_of(memory) > 0  # a judge wants it answered
    if not decays(memory) or (memory.standing in _HIDDEN and not is_asked):
        return False
    return not why_over(memory, accesses, now, decay)


def why_over(memory: Memory, accesses: Accesses, now: datetime, decay: DecayRules) -> str:
    """Return why a memory is no longer valid, or an empty string if it is valid."""
    if never_ends(memory, decay):
        return ""
    until = memory.valid_until
    if until and end_of(until, decay.zone) <= now:
        return f"it was true until {until}"
    retention = retention_of(memory, accesses.of(memory.id), now, decay)
    return "its time is over" if is_over(memory, retention) else ""


def _is_overtaken(memory: Memory, memories: Mapping[str, Memory]) -> bool:
    """Return whether a memory is contested by one of those that may be on the page before it.

    The wording of a person comes first, then the newer one. Of equally new ones, that with the
    later source counts as newer, and one always stays.
    """

    def age(one: Memory) -> tuple[bool, datetime, str, str]:
        last = max((s.captured for s in one.sources), default="")
        return is_by_person(one), changed_at(one), last, one.id

    rivals = filter(None, map(memories.get, contesting(memory)))
    return any(age(rival) > age(memory) for rival in rivals)


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


def compose_hot(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
    lately: Sequence[Memory] = (),
) -> HotPage:
    """Compute the hot cache for a given time. `memories` are sorted by path.

    A composed page leaves room for `lately`, the lines of logs that the view adds.
    """
    if rules.composed:
        return _by_content(memories, accesses, now, rules, decay, lately)
    return _by_use(memories, accesses, now, rules, decay)


def _by_content(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
    lately: Sequence[Memory],
) -> HotPage:
    """Return the page of what people put there, and of the lines composed from all memories."""
    from memrepo.policies.first_page import compose  # only a composed page needs it

    marked = having(memories, ("hot", "critical", "pinned"))
    asked = [
        m
        for m in marked
        if _is_asked(m) and m.standing not in _HIDDEN and not why_over(m, accesses, now, decay)
    ]
    over = [m for m in marked if hot_of(m) and why_over(m, accesses, now, decay)]
    asked.sort(key=lambda m: (not is_exempt(m), -_since(m), m.path))
    exempt = sum(map(is_exempt, asked))
    asked, out = asked[: max(rules.budget, exempt)], asked[max(rules.budget, exempt) :]
    apart = {m.id for m in (*asked, *out)} | {m.id for m in marked if was_removed(m)}
    claims = [m for m in memories if m.id not in apart and may_be_hot(m, accesses, now, decay)]
    by_id = {memory.id: memory for memory in (*asked, *claims)}
    claims = [m for m in claims if not _is_overtaken(m, by_id)]
    room = max(0, rules.budget - len(asked))
    judged = sorted(filter(place_of, claims), key=place_of)
    if judged:  # of the others, only what the model did not see may be on the page
        at = max(map(_since, judged))
        claims = [m for m in claims if m.is_wanted or (m.created or now).timestamp() > at]
        claims = [m for m in claims if not place_of(m)]
    lately = () if judged else lately
    lines = compose(claims, accesses, now, max(0, room - len(lately)), lately)
    stored = sum(line.part == "stored" for line in lines)
    judged = judged[: room - stored]
    lines = lines[: room - len(judged)]
    chosen = [line.memory for line in lines]
    chosen[stored:stored] = judged
    wanted = {line.memory.id: CRITICAL if line.critical else SYNC for line in lines}
    wanted |= {m.id: placed(place_of(m)) for m in judged}
    steps = [demote(m, now, why_over(m, accesses, now, decay)) for m in over]
    steps += [demote(m, now, f"over the budget of {rules.budget} bullets") for m in out]
    steps += [promote(m, now, CRITICAL) for m in asked if hot_of(m) is None]
    gone = {m.id for m in marked if hot_of(m)} - wanted.keys() - apart - {m.id for m in over}
    steps += _difference(wanted, {m.id: m for m in (*chosen, *marked)}, gone, now)
    return HotPage(
        memories=(*asked, *chosen),
        steps=tuple(steps),
        problems=(_too_many(exempt, rules),) if exempt > rules.budget else (),
    )


def _since(memory: Memory) -> float:
    hot = hot_of(memory)
    return hot.since.timestamp() if hot is not None and hot.since is not None else math.inf


def _is_asked(memory: Memory) -> bool:
    """Return whether a person put a memory on the page, whatever the composition chooses."""
    hot = hot_of(memory)
    return (is_exempt(memory) and (hot is not None or memory.critical)) or (
        hot is not None
        and not (hot.reason in _COMPOSED or _BY_USE.fullmatch(hot.reason) or place_of(memory))
    )


def was_removed(memory: Memory) -> bool:
    """Return whether a person took a memory off the page."""
    hot = memory.hot
    return hot is not None and hot.until is not None and hot.reason == REQUEST


def _by_use(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
) -> HotPage:
    """Return the page of layered-memory-manager: what people and use put there, and nothing else.

    Critical and pinned memories are never evicted. What would be evicted at once is not promoted.
    """
    entries: list[_Entry] = []
    steps: list[Step] = []
    used = accesses.by_memory
    for memory in memories:
        if memory.id not in used and memory.hot is None and not memory.critical:
            continue
        hot = hot_of(memory)
        if hot is None or hot.since is None:
            why = why_hot(memory, accesses, now, rules)
            if why and may_be_hot(memory, accesses, now, decay):
                entries.append(_Entry(memory=memory, unused=0, since=now, reason=why, new=True))
            continue
        count = unused(memory, accesses, now)
        why = why_over(memory, accesses, now, decay)
        if not why and count >= rules.idle and not is_exempt(memory):
            why = f"not retrieved for {counted(count, 'session', 'sessions')}"
        if why:
            steps.append(demote(memory, now, why))
        else:
            old = _Entry(memory=memory, unused=count, since=hot.since, reason="", new=False)
            entries.append(old)
    kept, out, problems = _fitted(entries, rules)
    for entry in out:
        if not entry.new:
            what = f"{heat(entry.unused, rules)}, over the budget of {rules.budget} bullets"
            steps.append(demote(entry.memory, now, what))
    steps += [promote(e.memory, now, e.reason) for e in kept if e.new]
    shown = tuple(entry.memory for entry in kept)
    return HotPage(memories=shown, steps=tuple(steps), problems=tuple(problems))


def back_on_page(memory: Memory, since: datetime, now: datetime) -> dict[str, Hot]:
    """Return the fields that put a memory back on the page, if a doubt since a time took it off."""
    hot = memory.hot
    if hot is None or hot.until is None or hot.until < since or was_removed(memory):
        return {}
    return {"hot": Hot(since=now, reason=SYNC)}


def session_page(
    memories: Sequence[Memory],
    accesses: Accesses,
    now: datetime,
    rules: HotRules,
    decay: DecayRules,
) -> tuple[Memory, ...]:
    """Return the memories of the page for a session: the stored page, without what is over by now.

    What a person stored since then comes first, up to the budget.
    """
    hot = [m for m in having(memories, ("hot",)) if hot_of(m) is not None]
    if not rules.composed:
        shown = _by_use(memories, accesses, now, rules, decay).memories
        ids = {memory.id for memory in shown}
        rest = (m for m in hot if m.id not in ids and not why_over(m, accesses, now, decay))
        return (*shown, *rest)
    new = [m for m in memories if m.is_wanted and m.hot is None]
    found = [*new[: max(0, rules.budget - len(hot))], *hot]
    return tuple(m for m in found if may_be_hot(m, accesses, now, decay))


def _difference(
    wanted: Mapping[str, str], by_id: Mapping[str, Memory], gone: Collection[str], now: datetime
) -> Iterator[Step]:
    """Yield the steps that remove lines from the first page and add lines to it, if any."""
    if gone:
        changes = tuple(Update(id=id_, fields={"hot": Hot(until=now)}) for id_ in sorted(gone))
        why = "not selected for the first page, which every run rebuilds"
        yield Step(op="demote", reason=why, changes=changes)
    added: list[Update] = []
    for id_, reason in wanted.items():
        hot = hot_of(by_id[id_])
        if hot is None or hot.reason != reason:
            since = hot.since if hot is not None else now
            added.append(Update(id=id_, fields={"hot": Hot(since=since, reason=reason)}))
    if added:
        why = "selected for the first page, which every run rebuilds"
        yield Step(op="promote", reason=why, changes=tuple(added))


def _fitted(
    entries: list[_Entry], rules: HotRules
) -> tuple[list[_Entry], list[_Entry], list[Problem]]:
    """Split entries by the budget. Return the kept entries, the evicted entries, and problems."""
    exempt = [e for e in entries if is_exempt(e.memory)]
    rest = sorted((e for e in entries if not is_exempt(e.memory)), key=lambda e: e.rank(rules))
    room = rules.budget - len(exempt)
    out = rest[: max(0, len(rest) - max(0, room))]
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
        or memory.critical
        or memory.pinned
        or hot_of(memory) is not None
        or class_of(memory) == "permanent"
    )
