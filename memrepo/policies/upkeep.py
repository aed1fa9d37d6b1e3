"""Compute the changes due by age and use, and limit how many memories leave recall per run.

The order is fixed: tier moves, prune, archive, hot cache. Each stage uses the result of the
previous one. Equal state, access log, time and rules give equal steps. On the resulting state no
steps are due.

The interlock rejects a run that would remove too many claims. Notes are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TypeAlias, assert_never

import msgspec

from memrepo.core.access import Accesses
from memrepo.core.changes import Change, Create, Delete, Remove, Step, Update, Write
from memrepo.core.memory import Memory, of_types
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.policies.archive import Leaving, archivable, archive, archive_due, for_review, told
from memrepo.policies.decay import decays, is_over, keeping, prunable
from memrepo.policies.hotcache import compose_hot, heat, hot_of, synced_at, unused
from memrepo.policies.rules import Rules
from memrepo.policies.standing import is_retired
from memrepo.policies.tiers import Move, moves, steps_of, why_clean

FREE = 20
"""A run may always remove this many memories from recall."""
_RETIRING = "retire_candidate"


def losses(state: State, changes: Iterable[Change]) -> frozenset[str]:
    """Return the ids of the claims that the changes would remove from recall.

    These claims are removed, superseded, archived or newly retired.
    """
    lost = set()
    for change in changes:
        match change:
            case Remove(id=id_):
                lost.add(id_)
            case Update(id=id_, fields=fields) if (fields.get("status") or "active") != "active":
                lost.add(id_)
            case Update(id=id_, fields=fields) if fields.get("standing") == _RETIRING:
                if id_ in state.memories and state.memories[id_].standing != _RETIRING:
                    lost.add(id_)
            case Update() | Create() | Write() | Delete():
                pass
            case _:
                assert_never(change)
    return frozenset(i for i in lost if i in state.memories and is_claim(state.memories[i]))


def is_claim(memory: Memory) -> bool:
    """Return whether a memory is an active claim, including retired claims."""
    return memory.status == "active" and memory.type not in ("note", "chunk")


def interlock(state: State, changes: Iterable[Change], max_change_pct: float) -> str:
    """Return why a person must review the changes, or an empty string if no review is needed.

    A review is needed if they remove more than `max_change_pct` percent of the claims from recall,
    and more than 20. Retired claims are not counted, because they have left recall already.
    """
    lost = len(losses(state, changes))
    if lost <= FREE:  # usual case: no need to count all claims
        return ""
    total = sum(is_claim(m) and m.standing != _RETIRING for m in state.active)
    if lost * 100 <= max_change_pct * total:
        return ""
    return f"it would remove {lost} of {total} claims from recall (more than {max_change_pct:g} %)"


LEAST = 20
"""A run may always prune or archive this many memories."""


Allowed = Callable[[Step], bool]
"""A function that returns whether a step is allowed. Steps that a person reverted are not."""

Play = Callable[[State, Iterable[Step]], State]
Turn: TypeAlias = tuple[int, datetime, str]
"""The sort key of a memory that leaves recall: prunes first, then by due time.

It does not change until something happens to the memory.
"""


class Upkeep(msgspec.Struct, frozen=True, kw_only=True):
    """The result of upkeep: the due steps, the state after them, problems, and deferred memories.

    `room` is the number of further memories that may leave recall. `later` has the sort keys of the
    deferred memories, in order.
    """

    steps: tuple[Step, ...]
    state: State
    problems: tuple[Problem, ...] = ()
    later: tuple[Turn, ...] = ()
    room: int = 0

    @property
    def waiting(self) -> int:
        """Return the number of deferred memories."""
        return len(self.later)


def pace_of(total: int, rules: Rules) -> int:
    """Return how many of `total` memories a run may remove from recall."""
    return max(LEAST, int(total * rules.pace_pct / 100))


def upkeep(
    state: State,
    accesses: Accesses,
    now: datetime,
    rules: Rules,
    *,
    spent: int = 0,
    allowed: Allowed = lambda _: True,
    total: int = 0,
    play: Play | None = None,
) -> Upkeep:
    """Return the steps that are due at a given time.

    `spent` is the number of memories that earlier runs at the same time removed. `total` is the
    number of all memories, if the state only has those that may change. `play` applies steps to a
    state.
    """
    play = play or apply_steps
    moving = owed_tier_moves(state, accesses, now, rules)
    steps = steps_of(moving, now, rules.tiers) if moving else ()
    after = play(state, steps)
    whole = total in (0, len(state.memories))
    pace = pace_of(total or len(after.memories), rules) - spent
    owed = list(_leaving(after, accesses, now, rules, allowed))
    kept = [step for _, step in owed[: max(0, pace)]]
    after = play(after, kept)
    hot = compose_hot(
        after.active, accesses, now, rules.hot, rules.decay, allowed=allowed, whole=whole
    )
    return Upkeep(
        steps=(*steps, *kept, *hot.steps),
        state=play(after, hot.steps),
        problems=hot.problems,
        later=tuple(turn for turn, _ in owed[len(kept) :]),
        room=max(0, pace - len(kept)),
    )


def owed_tier_moves(
    state: State, accesses: Accesses, now: datetime, rules: Rules
) -> list[tuple[Memory, tuple[Move, ...]]]:
    """Return (note, moves) pairs for the notes with due moves between tiers."""
    notes = of_types(state.active, ("note",))
    found = ((n, moves(n, accesses.of(n.id), now, rules.tiers)) for n in notes)
    return [(note, owed) for note, owed in found if owed]


def apply_steps(state: State, steps: Iterable[Step]) -> State:
    """Apply steps to a state, and return the resulting state."""
    changes = [change for step in steps for change in step.changes]
    return apply(state, changes) if changes else state


def _leaving(
    state: State, accesses: Accesses, now: datetime, rules: Rules, allowed: Allowed
) -> Iterator[tuple[Turn, Step]]:
    """Yield the steps that prune memories, then the steps that archive memories, oldest first."""
    leaving = Leaving(state.memories)
    gone: set[str] = set()
    for due, memory, why, ended in _pruned(state, accesses, now, rules):
        turn = 0, due, memory.id
        if ended:
            # A memory that was true once remains available to `--valid-at` in the archive.
            if allowed(step := archive(memory, now, why)):
                gone.add(memory.id)
                yield turn, step
            continue
        step = Step(op="prune", reason=why, memories=(memory.id,))
        if not allowed(step) or memory.id in gone:
            continue
        if changes := leaving.leave(memory.id):
            step = Step(op="prune", reason=why, changes=changes)
            gone.update(step.memory_ids)
            yield turn, step
    for memory, due in archivable(state.active, accesses, now, rules.archive):
        step = archive(memory, now, told(memory, accesses.of(memory.id), due, rules.archive))
        if memory.id not in gone and allowed(step):
            yield (1, due, memory.id), step


def _pruned(
    state: State, accesses: Accesses, now: datetime, rules: Rules
) -> Iterator[tuple[datetime, Memory, str, bool]]:
    """Yield the memories to prune, oldest first.

    Each is yielded with its due time, the reason, and whether its stated validity has ended.
    """
    notes = of_types(state.active, ("note",))
    found = [
        (written, note.id, note, why, False)
        for note in notes
        if (why := why_clean(note, now, rules.tiers)) and (written := note.time("tier_written"))
    ]
    for memory, kept in prunable(state.active, accesses, now, rules.decay):
        rests = archive_due(memory, accesses.of(memory.id), rules.archive)
        # A memory that was due for the archive earlier is archived instead.
        if rests is None or rests >= kept.due:
            found.append((kept.due, memory.id, memory, kept.told(), kept.ended))
    for due, _, memory, why, ended in sorted(found, key=lambda f: f[:2]):
        yield due, memory, why, ended


COLD_AFTER = timedelta(days=30)
"""The age from which a memory that was never retrieved is cold."""
LABELS = ("critical", "pinned", "recent", "stale", "cold")


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics about the hot cache and all other memories.

    `stalest` has the counts of unused sessions.
    """

    hot: int
    budget: int
    pinned: int
    files: int
    tracked: int
    archived: int
    labels: Counter[str]
    cold_candidates: int
    synced: int
    over: int
    review: tuple[Memory, ...]
    stalest: tuple[tuple[str, int], ...]

    @property
    def ailments(self) -> tuple[str, ...]:
        """Describe the problems that the statistics show, one sentence per problem."""
        found = []
        if self.hot > self.budget:
            found.append(
                f"{counted(self.hot, 'memory is', 'memories are')} hot, the budget is {self.budget}"
            )
        if self.over:
            past = counted(self.over, "memory is past its", "memories are past their")
            found.append(f"{past} time and not pruned yet")
        if self.review:
            found.append(
                f"{counted(len(self.review), 'archived memory waits', 'archived memories wait')}"
                " for a person's decision"
            )
        return tuple(found)


def health(memories: Iterable[Memory], accesses: Accesses, now: datetime, rules: Rules) -> Health:
    """Compute the statistics of memories at a given time."""
    found = [m for m in memories if m.type not in ("note", "chunk")]
    active = [m for m in found if m.status == "active"]
    hot = [m for m in active if hot_of(m) is not None]
    counts = {m.id: unused(m, accesses, now) for m in hot}
    ranked = sorted(hot, key=lambda m: (-counts[m.id], m.path))
    return Health(
        hot=len(hot),
        budget=rules.hot.budget,
        pinned=sum(m.flag("pinned") for m in hot),
        files=sum(not is_retired(m) for m in active),
        tracked=sum(bool(accesses.of(m.id).total) for m in active),
        archived=sum(m.status == "archived" for m in found),
        labels=Counter(
            next(filter(m.flag, LABELS[:2]), "") or heat(counts[m.id], rules.hot) for m in hot
        ),
        cold_candidates=sum(
            not accesses.of(m.id).total and now - (m.time("created") or now) > COLD_AFTER
            for m in active
            if hot_of(m) is None
        ),
        synced=sum(synced_at(m) is not None for m in hot),
        over=sum(
            is_over(m, keeping(m, accesses.of(m.id), now, rules.decay)) for m in active if decays(m)
        ),
        review=for_review(found, now, rules.archive),
        stalest=tuple((f"{m.layer}:{m.slug}", counts[m.id]) for m in ranked[:5]),
    )
