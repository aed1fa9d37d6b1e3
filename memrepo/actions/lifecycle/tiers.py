"""`memrepo tiers`: how the notes are spread over the tiers, and what the next run will move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from memrepo.actions import result
from memrepo.actions.work import Work
from memrepo.core.times import format_time
from memrepo.policies.tiers import TIERS, moves
from memrepo.store.ledger import ledger_of


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `tiers`."""


class Owed(msgspec.Struct, frozen=True, kw_only=True):
    """One move that a note owes, and why; a note may owe several in a row."""

    id: str
    path: str
    from_: str = msgspec.field(name="from")
    to: str
    since: str
    why: str
    label: str
    retrievals: int


class Result(result.Result, frozen=True, kw_only=True):
    """How the active notes are spread over the tiers that recall sees, and what moves next."""

    tiers: Mapping[str, int]
    notes: int
    owed: tuple[Owed, ...]


def do(work: Work, request: Request) -> Result:
    """Count the active notes by the tier that recall sees, and list the moves they owe."""
    del request
    notes = [m for m in work.tree.state().active if m.is_note]
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules.tiers
    found = [(n, moves(n, accesses.of(n.id), work.call.now, rules)) for n in notes]
    counts = Counter(owed[-1].tier if owed else note.text("tier") or "hot" for note, owed in found)
    return Result(
        tiers={tier: counts[tier] for tier in TIERS},
        notes=len(notes),
        owed=tuple(
            Owed(
                id=note.id,
                path=note.path,
                from_=move.source,
                to=move.tier,
                since=format_time(move.since),
                why=move.why,
                label=note.label,
                retrievals=accesses.of(note.id).total,
            )
            for note, owed in found
            for move in owed
        ),
    )
