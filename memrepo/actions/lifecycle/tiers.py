"""`memrepo tiers`: how the notes are spread over the tiers, and what the next run will move."""

from __future__ import annotations

from collections import Counter

import msgspec

from memrepo.actions.work import Answer, Work
from memrepo.core.access import Access
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.tiers import CONFIDENCE, TIERS, Move, moves
from memrepo.store.ledger import ledger_of

_WIDTH = 40


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `tiers`."""


def do(work: Work, request: Request) -> Answer:
    """Count the active notes by the tier that recall sees, and list the moves they owe."""
    del request
    notes = [m for m in work.tree.state().active if m.is_note]
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules.tiers
    found = [(n, moves(n, accesses.of(n.id), work.call.now, rules)) for n in notes]
    reads = {note.id: accesses.of(note.id) for note in notes}
    counts = Counter(owed[-1].tier if owed else note.text("tier") or "hot" for note, owed in found)
    moving = [(note, owed) for note, owed in found if owed]
    data = {
        "tiers": {tier: counts[tier] for tier in TIERS},
        "notes": len(notes),
        "owed": [_row(note, move) for note, owed in moving for move in owed],
    }
    return Answer(data=data, text="\n".join(_lines(counts, moving, reads)))


def _row(note: Memory, move: Move) -> dict[str, str]:
    return {
        "id": note.id,
        "path": note.path,
        "from": move.source,
        "to": move.tier,
        "since": format_time(move.since),
        "why": move.why,
    }


def bar(count: int, most: int, width: int = _WIDTH) -> str:
    """Draw a count as a bar; what is not nothing shows at least a sliver."""
    if not count or not most:
        return ""
    eighths = max(1, round(count * width * 8 / most))
    parts: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")
    return "█" * (eighths // 8) + parts[eighths % 8]


def _lines(
    counts: Counter[str],
    moving: list[tuple[Memory, tuple[Move, ...]]],
    reads: dict[str, Access],
) -> list[str]:
    most, wide = max(counts.values(), default=0), len(str(max(counts.values(), default=0)))
    lines = [
        f"{tier:<9}  {counts[tier]:>{wide}}  {CONFIDENCE[tier]:<8}  "
        f"{bar(counts[tier], most)}".rstrip()
        for tier in TIERS
    ]
    if moving:
        lines.append(f"{counted(len(moving), 'note moves', 'notes move')} at the next run:")
    for note, owed in moving[:10]:
        path = " → ".join([owed[0].source, *(move.tier for move in owed)])
        lines.append(f"  {note.label}  {path}  ({reads[note.id].total} retrievals)")
    if len(moving) > 10:
        lines.append(f"  and {len(moving) - 10} more")
    return lines
