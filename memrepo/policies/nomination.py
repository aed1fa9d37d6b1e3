"""Which notes earned a place among the memories: those that were looked for again and again.

Lineage: context-clear, promote.py; its thresholds stand. Days are counted in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from memrepo.core.access import Access, Accesses
from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.core.times import format_time
from memrepo.policies.rules import TierRules
from memrepo.policies.tiers import moves

WEEK, FORTNIGHT, EVER = (7, 3), (14, 5), 8
"""Days and retrievals within them, twice; then retrievals in all."""
SKILLS, HOT_CACHE = "skills", "hot cache"
_HOW_TO = ("how to", "procedure", "runbook", "step 1", "steps", "workflow", "recipe", "method")


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A note that earned promotion: why, and where it should go."""

    note: Memory
    access: Access
    why: tuple[str, ...]
    destination: str

    @property
    def record(self) -> str:
        """Return the record of its retrievals in one line."""
        last = self.access.last
        ever = f", last retrieved {format_time(last)}" if last else ""
        return f"{', '.join(self.why)}{ever}"


def nominated(
    notes: Iterable[Memory], accesses: Accesses, now: datetime, rules: TierRules
) -> tuple[Candidate, ...]:
    """Return the notes that meet a threshold and were not promoted yet, most retrieved first."""
    found = []
    for note in notes:
        if note.is_note and note.status == "active" and not note.flag("promoted"):
            access = accesses.of(note.id)
            if why := reasons(note, access, now, rules):
                found.append(
                    Candidate(note=note, access=access, why=why, destination=destination(note))
                )
    return tuple(sorted(found, key=lambda c: (-c.access.total, c.note.path)))


def reasons(note: Memory, access: Access, now: datetime, rules: TierRules) -> tuple[str, ...]:
    """Return the thresholds that a note meets, in words.

    A note that was recovered from forgotten counts as marked before a run has written so.
    """
    why = []
    for days, least in (WEEK, FORTNIGHT):
        count = access.within(days, now)
        if count >= least:
            why.append(f"{count} retrievals in {days} days")
    if access.total >= EVER:
        why.append(f"{access.total} retrievals in all")
    if note.flag("user_marked") or any(m.marked for m in moves(note, access, now, rules)):
        why.append("marked by the user")
    return tuple(why)


def destination(note: Memory) -> str:
    """Propose where a note belongs: a method among the skills, all else by way of the purifier."""
    text = normalise(f"{note.text('title')} {note.body[:2000]}")
    return SKILLS if any(word in text for word in _HOW_TO) else HOT_CACHE
