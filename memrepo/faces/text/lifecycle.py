"""What `memrepo.actions.lifecycle` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.faces.text.write import written
from memrepo.policies.wellness import LABELS
from memrepo.views.hygiene import KEPT

if TYPE_CHECKING:
    from memrepo.actions.lifecycle import health as wellness

_SIGNS = {"critical": "🔒", "pinned": "📌", "recent": "🔥", "stale": "⏳", "cold": "❄️"}

archive = demote = promote = written


def health(request: object, result: wellness.Result, *, colour: bool) -> str:
    """Show the figures in the layout agents know."""
    del request, colour
    labels = "  ".join(f"{_SIGNS[name]} {name}: {result.priority[name]}" for name in LABELS)
    lines = [
        "=== Memory Health ===",
        f"L1: {result.hot}/{result.budget} bullets | {result.pinned} tagged [pin]",
        f"L2: {result.files} files | {result.tracked} entries tracked",
        f"Promotions (total): {result.promotions}",
        f"Demotions (total): {result.demotions}",
        f"Archive queue: {result.archived} items",
        "===",
        "Priority breakdown:",
        f"  {labels}",
        "===",
        f"L2 cold candidates (not accessed for long): {result.cold_candidates}",
        f"L1↔L2 sync (L1 re-condensed after its source changed): {result.synced}",
        f"Past their time, not pruned yet: {result.over}",
        f"Archived and due for review: {len(result.review)}",
        "===",
        "Log Cleanup:",
        f"Log items over {KEPT.days} days pruned from hygiene.json: {result.log_items_pruned}",
        "===",
        "Top L1 entries by sessionsSinceAccess:",
    ]
    for n, one in enumerate(result.stalest, 1):
        lines.append(f"  {n}. {one.key} — {one.sessions} sessions stale")
    if result.ailments:
        lines += ["===", *(f"not well: {one}" for one in result.ailments)]
    return "\n".join(lines)
