"""The state of the memory in figures, as layered-memory-manager shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.policies.archive import for_review
from memrepo.policies.decay import decays, is_over, keeping
from memrepo.policies.hotcache import heat, hot_of, synced_at, unused
from memrepo.policies.rules import Rules
from memrepo.policies.standing import is_retired

COLD_AFTER = timedelta(days=30)
"""A memory that nobody ever asked for is cold from this age on."""
LABELS = ("critical", "pinned", "recent", "stale", "cold")


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of the hot cache and of what stands behind it; `stalest` with sessions unused."""

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
        """Return what is not well, in words."""
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
    """Take the figures at a moment."""
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
        labels=Counter(_label(m, counts[m.id], rules) for m in hot),
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


def _label(memory: Memory, count: int, rules: Rules) -> str:
    if memory.flag("critical"):
        return "critical"
    return "pinned" if memory.flag("pinned") else heat(count, rules.hot)
