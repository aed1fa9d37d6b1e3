"""Format the results of the verbs in `memrepo.actions.lifecycle`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memrepo.core.messages import counted
from memrepo.policies.ageing import CONFIDENCE
from memrepo.policies.upkeep import COLD_AFTER, LABELS
from memrepo.text.sentences import token_count
from memrepo.views.hygiene import KEPT, listed, report

if TYPE_CHECKING:
    from memrepo.actions.lifecycle import ageing
    from memrepo.actions.lifecycle import session as sessions

_WIDTH = 46

_SIGNS = {"critical": "🔒", "pinned": "📌", "recent": "🔥", "stale": "⏳", "cold": "❄️"}


def health(request: object, result: ageing.Health, *, colour: bool) -> str:
    """Format the health figures in the layout that agents expect."""
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
        f"L2 cold candidates (never accessed, age>{COLD_AFTER.days}d): {result.cold_candidates}",
        f"L1↔L2 sync (L1 has stale L2 source): {result.synced}",
        "===",
        "Log Cleanup:",
        f"  Log items over {KEPT.days} days pruned from hygiene.json: {result.log_items_pruned}",
        "===",
        "Top L1 entries by sessionsSinceAccess:",
    ]
    for n, one in enumerate(result.stalest, 1):
        lines.append(f"  {n}. {one.key} — {one.sessions} sessions stale")
    if result.ailments:
        lines += ["===", *(f"problems: {one}" for one in result.ailments)]
    return "\n".join(lines)


def nominate(request: ageing.NominateRequest, result: ageing.Nominated, *, colour: bool) -> str:
    """Format the nominated notes as a list, or as a report if requested."""
    return "\n".join((report if request.report else listed)(result.candidates))


def tiers(request: object, result: ageing.Spread, *, colour: bool) -> str:
    """Format a bar chart of the notes per tier, and list the notes that will move next."""
    most = max(result.tiers.values(), default=0)
    wide = len(str(most))
    lines = [
        f"{tier:<9}  {count:>{wide}}  {CONFIDENCE[tier]:<8}  {bar(count, most)}".rstrip()
        for tier, count in result.tiers.items()
    ]
    moving = [list(group) for _, group in groupby(result.owed, key=lambda one: one.id)]
    if moving:
        lines.append(f"{counted(len(moving), 'note moves', 'notes move')} at the next run:")
    for owed in moving[:10]:
        first = owed[0]
        path = " → ".join([first.from_, *(move.to for move in owed)])
        uses = counted(first.retrievals, "retrieval", "retrievals")
        lines.append(f"  {first.label}  {path}  ({uses})")
    if len(moving) > 10:
        lines.append(f"  and {len(moving) - 10} more")
    return "\n".join(lines)


def bar(count: int, most: int, width: int = 40) -> str:
    """Render a count as a bar. Any count above zero gets at least an eighth of a block."""
    if not count or not most:
        return ""
    eighths = max(1, round(count * width * 8 / most))
    parts: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")
    return "█" * (eighths // 8) + parts[eighths % 8]


def decay(
    request: ageing.DecayRequest, result: ageing.Stats | ageing.Changed, *, colour: bool
) -> str:
    """Format the number of memories per decay class, or the memories that a change affected."""
    from memrepo.actions.lifecycle.ageing import Stats

    if isinstance(result, Stats):
        lines = [f"{n:<10}  {result.classes[n]:>6}  lives {result.lives[n]}" for n in result.lives]
        lines.append(f"{'expired, pending prune':<22}  {result.expired_pending}")
        lines.append(f"{'low confidence':<22}  {result.low_pending}")
        lines.append(f"{'held by a future date':<22}  {result.held}")
        lines.append(f"{'stale, still recalled':<22}  {result.stale}")
        return "\n".join(lines)
    did = "classified again" if request.what == "backfill" else "pruned"
    said = counted(len(result.changes), "memory", "memories")
    head = f"{said} {did}" + (f" ({result.commit[:10]})" if result.commit else "")
    if result.changes and not result.commit:
        head = f"dry run: {said} would be {did}"
    return "\n".join([head, *(f"  {row.what}: {row.reason}" for row in result.changes)])


def session(
    request: sessions.Request,
    result: sessions.Snippet | sessions.Started | sessions.Ended,
    *,
    colour: bool,
) -> str:
    """Format the context of a session, the instructions for agents, or the end of a session."""
    from memrepo.actions.lifecycle.session import Ended, Refreshed, Snippet

    if isinstance(result, Snippet):
        return result.prompt
    if isinstance(result, Ended):
        if request.dry_run:
            return "dry run: nothing stored"
        tip = result.ledger
        return f"retrievals stored ({tip[:10]})" if tip else "nothing was retrieved yet"
    lines: list[str] = []
    if isinstance(result, Refreshed):
        lines.append(counted(len(result.moves), "move", "moves") + " between tiers")
        lines += [f"  {move}" for move in result.moves]
        lines += [f"a how-to was moved to {path}" for path in result.retrospects]
        lines += listed(result.candidates) if result.candidates else ["no note is nominated"]
    return "\n".join([*lines, _context(result, request.max_tokens)])


def _context(result: sessions.Started, max_tokens: int) -> str:
    if not result.context and not result.left_out:
        return "no memory is hot"
    said = f"{result.context}\n{result.left_out} more did not fit".lstrip()
    return said if result.left_out and token_count(said) <= max_tokens else result.context
