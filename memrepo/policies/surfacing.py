"""Which open question to bring up when a run has nothing else to say.

Lineage: memory-purifier, recall surface of skipped runs: min(age in days, 14) x 0.1, plus 3, 2 or
1 for contested, unresolved or due for retirement, plus min(sources, 5) x 0.3, plus
min(recurrence, 10) x 0.2; ties go to the oldest change, then to the id. Recurrence is here the
number of different days that its evidence was captured on, age is counted in whole days.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import msgspec

from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.times import EARLIEST, format_time

WEIGHTS: Mapping[str, int] = MappingProxyType(
    {"contested": 3, "unresolved": 2, "retire_candidate": 1}
)
MOST_DAYS, MOST_SOURCES, MOST_RECURRENCE = 14, 5, 10
TEXT_LIMIT = 240


class Surfaced(msgspec.Struct, frozen=True, kw_only=True):
    """One claim that is not settled, and why it comes up now: the score."""

    memory: Memory
    score: float
    age_days: int

    def as_json(self) -> dict[str, Any]:
        """Return what reports and telemetry say of it; the text is one line of at most 240."""
        memory = self.memory
        changed = changed_at(memory)
        return {
            "id": memory.id,
            "type": memory.type,
            "standing": memory.standing,
            "text": " ".join(visible(memory.body).split())[:TEXT_LIMIT],
            "home": memory.text("home"),
            "updated": format_time(changed) if changed else "",
            "age_days": self.age_days,
            "score": self.score,
        }


def changed_at(memory: Memory) -> datetime | None:
    """Return when a memory's text was last written, or when it was first seen."""
    stamp = memory.fields.get("generated")
    return (stamp.at if stamp is not None else None) or memory.time("created")


def recall_surface(memories: Iterable[Memory], now: datetime) -> Surfaced | None:
    """Return the open claim that scores highest, or None where nothing is open."""
    open_ = [_scored(m, now) for m in memories if m.status == "active" and m.standing in WEIGHTS]
    return min(open_, key=_rank, default=None)


def _scored(memory: Memory, now: datetime) -> Surfaced:
    changed = changed_at(memory)
    age = max(0, (now - changed).days) if changed else 0
    recurrence = len({s.captured[:10] for s in memory.sources if s.captured})
    score = (
        min(age, MOST_DAYS) * 0.1
        + WEIGHTS[memory.standing]
        + min(len(memory.sources), MOST_SOURCES) * 0.3
        + min(recurrence, MOST_RECURRENCE) * 0.2
    )
    return Surfaced(memory=memory, score=round(score, 2), age_days=age)


def _rank(found: Surfaced) -> tuple[float, datetime, str]:
    return (-found.score, changed_at(found.memory) or EARLIEST, found.memory.id)
