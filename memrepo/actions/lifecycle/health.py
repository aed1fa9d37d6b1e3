"""`memrepo health`: the state of the memory in figures, in the layout agents know."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.actions.work import Answer, Work
from memrepo.core.errors import Exit
from memrepo.policies.wellness import LABELS, Health, health
from memrepo.store import history
from memrepo.store.ledger import ledger_of
from memrepo.views.hygiene import KEPT

_SIGNS = {"critical": "🔒", "pinned": "📌", "recent": "🔥", "stale": "⏳", "cold": "❄️"}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `health`."""


def do(work: Work, request: Request) -> Answer:
    """Take the figures at HEAD."""
    del request
    state, rules = work.tree.state(), work.config.rules
    found = health(state.memories.values(), ledger_of(work.store).accesses(), work.call.now, rules)
    entries = list(history.entries(work.store.repo, work.tree.commit))
    moved = [sum(e.op == op for e in entries) for op in ("promote", "demote")]
    old = sum(e.op in ("promote", "demote") and work.call.now - e.when > KEPT for e in entries)
    return Answer(
        data={**_json(found, moved), "log_items_pruned": old},
        text=_text(found, moved, old),
        exit=Exit.NO if found.ailments else Exit.DONE,
    )


def _json(found: Health, moved: list[int]) -> dict[str, Any]:
    return {
        "healthy": not found.ailments,
        "ailments": list(found.ailments),
        "hot": found.hot,
        "budget": found.budget,
        "pinned": found.pinned,
        "files": found.files,
        "tracked": found.tracked,
        "promotions": moved[0],
        "demotions": moved[1],
        "archived": found.archived,
        "priority": {name: found.labels[name] for name in LABELS},
        "cold_candidates": found.cold_candidates,
        "synced": found.synced,
        "over": found.over,
        "review": [m.id for m in found.review],
        "stalest": [{"key": key, "sessions": count} for key, count in found.stalest],
    }


def _text(found: Health, moved: list[int], old: int) -> str:
    labels = "  ".join(f"{_SIGNS[name]} {name}: {found.labels[name]}" for name in LABELS)
    lines = [
        "=== Memory Health ===",
        f"L1: {found.hot}/{found.budget} bullets | {found.pinned} tagged [pin]",
        f"L2: {found.files} files | {found.tracked} entries tracked",
        f"Promotions (total): {moved[0]}",
        f"Demotions (total): {moved[1]}",
        f"Archive queue: {found.archived} items",
        "===",
        "Priority breakdown:",
        f"  {labels}",
        "===",
        f"L2 cold candidates (not accessed for long): {found.cold_candidates}",
        f"L1↔L2 sync (L1 re-condensed after its source changed): {found.synced}",
        f"Past their time, not pruned yet: {found.over}",
        f"Archived and due for review: {len(found.review)}",
        "===",
        "Log Cleanup:",
        f"Log items over {KEPT.days} days pruned from hygiene.json: {old}",
        "===",
        "Top L1 entries by sessionsSinceAccess:",
    ]
    lines += [f"  {n}. {key} — {c} sessions stale" for n, (key, c) in enumerate(found.stalest, 1)]
    if found.ailments:
        lines += ["===", *(f"not well: {one}" for one in found.ailments)]
    return "\n".join(lines)
