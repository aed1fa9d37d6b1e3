"""`memrepo health`: the state of the memory in figures, in the layout agents know."""

from __future__ import annotations

import msgspec

from memrepo.actions import result
from memrepo.actions.work import Work
from memrepo.core.errors import Exit
from memrepo.policies.wellness import LABELS, health
from memrepo.store import history
from memrepo.store.ledger import ledger_of
from memrepo.views.hygiene import KEPT


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `health`."""


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of the hot cache, and for how many sessions nobody asked for it."""

    key: str
    sessions: int


class Result(result.Result, frozen=True, kw_only=True):
    """The figures; not well exits 1."""

    healthy: bool
    ailments: tuple[str, ...]
    hot: int
    budget: int
    pinned: int
    files: int
    tracked: int
    promotions: int
    demotions: int
    archived: int
    priority: dict[str, int]
    cold_candidates: int
    synced: int
    over: int
    """Past their time, and not pruned yet."""
    review: tuple[str, ...]
    """Archived memories that are due for review."""
    stalest: tuple[Stale, ...]
    log_items_pruned: int


def do(work: Work, request: Request) -> Result:
    """Take the figures at HEAD."""
    del request
    state, rules = work.tree.state(), work.config.rules
    found = health(state.memories.values(), ledger_of(work.store).accesses(), work.call.now, rules)
    entries = list(history.entries(work.store.repo, work.tree.commit))
    return Result(
        exit=Exit.NO if found.ailments else Exit.DONE,
        healthy=not found.ailments,
        ailments=tuple(found.ailments),
        hot=found.hot,
        budget=found.budget,
        pinned=found.pinned,
        files=found.files,
        tracked=found.tracked,
        promotions=sum(e.op == "promote" for e in entries),
        demotions=sum(e.op == "demote" for e in entries),
        archived=found.archived,
        priority={name: found.labels[name] for name in LABELS},
        cold_candidates=found.cold_candidates,
        synced=found.synced,
        over=found.over,
        review=tuple(m.id for m in found.review),
        stalest=tuple(Stale(key=key, sessions=count) for key, count in found.stalest),
        log_items_pruned=sum(
            e.op in ("promote", "demote") and work.call.now - e.when > KEPT for e in entries
        ),
    )
