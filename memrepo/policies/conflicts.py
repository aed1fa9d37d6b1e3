"""Which memories contradict each other, what was decided about them, and which to bring up.

A contradiction is a case under `corrections/`, or a `contradicts` link that has none yet; its id
is a hash of both memories, and so the same whichever side it is seen from.

Which open question to bring up when a run has nothing else to say.

Lineage: memory-purifier, recall surface of skipped runs: min(age in days, 14) x 0.1, plus 3, 2 or
1 for contested, unresolved or due for retirement, plus min(sources, 5) x 0.3, plus
min(recurrence, 10) x 0.2; ties go to the oldest change, then to the id. Recurrence is here the
number of different days that its evidence was captured on, age is counted in whole days.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Literal

import msgspec

from memrepo.core.corrections import Correction, Corrections, contradiction_id
from memrepo.core.ids import visible
from memrepo.core.memory import Link, Memory, each, only
from memrepo.core.state import State
from memrepo.core.times import EARLIEST, format_time

ConflictStatus = Literal["open", "resolved", "moot"]
STATUSES: tuple[ConflictStatus, ...] = ("open", "resolved", "moot")
"""In the order in which they are listed. Moot: one of the two left recall in another way."""


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories that contradict each other; `case` is None where nobody wrote one down."""

    id: str
    status: ConflictStatus
    first: Memory
    second: Memory
    case: Correction | None = None

    @property
    def sides(self) -> tuple[Memory, Memory]:
        """Return both memories, the newer statement first where a case says which it is."""
        return self.first, self.second

    @property
    def needs_a_person(self) -> bool:
        """Tell whether it is open, and nobody said that more must be known first."""
        return self.status == "open" and not (self.case and self.case.verdict == "context")


def conflicts(state: State, corrections: Corrections) -> tuple[Conflict, ...]:
    """Return all contradictions between memories that exist: open ones first, then by id."""
    pairs = {tuple(sorted(pair)): pair for pair in _linked(state)}
    for case in corrections.cases.values():
        if case.kind == "contradiction":
            pair = (case.sides[0].memory, case.sides[1].memory)
            pairs[tuple(sorted(pair))] = pair
    found = []
    for one, other in pairs.values():
        first, second = state.memories.get(one), state.memories.get(other)
        if first is not None and second is not None:
            case_ = corrections.between(one, other)
            if status := _status(first, second, case_):
                found.append(
                    Conflict(
                        id=contradiction_id(one, other),
                        status=status,
                        first=first,
                        second=second,
                        case=case_,
                    )
                )
    return tuple(sorted(found, key=lambda c: (STATUSES.index(c.status), c.id)))


def _linked(state: State) -> list[tuple[str, str]]:
    return [
        (id_, link.target)
        for id_, memory in sorted(state.memories.items())
        for link in links_of(memory)
        if link.type == "contradicts" and link.target != id_
    ]


def _status(first: Memory, second: Memory, case: Correction | None) -> ConflictStatus | None:
    """Return how a pair stands; None for a link to what left recall before anybody looked."""
    if first.status == second.status == "active":
        linked = contradicts(first, second) or contradicts(second, first)
        if case is None or case.status == "open":
            return "open"
        return "open" if linked and not resolved(case, first, second) else "resolved"
    if case is None:
        return None
    if case.status == "resolved":
        return "resolved"
    # What lost against the other was stated again: that is what waits for a decision.
    return "open" if replaced(first, second) or replaced(second, first) else "moot"


def resolved(case: Correction, first: Memory, second: Memory) -> bool:
    """Tell whether it was decided that these two, as they are worded now, may both stand."""
    texts = {memory.id: memory.body for memory in (first, second)}
    return case.verdict == "both" and case.about(texts)


def replaced(old: Memory, new: Memory) -> bool:
    """Tell whether an active memory replaced another, as both are marked."""
    marked = old.status == "superseded" and new.id in old.texts("superseded_by")
    return marked and new.status == "active"


def contradicts(one: Memory, other: Memory) -> bool:
    """Tell whether a memory names another as contradicting it."""
    return any(x.type == "contradicts" and x.target == other.id for x in links_of(one))


def links_of(memory: Memory) -> tuple[Link, ...]:
    """Return a memory's links."""
    links: tuple[Link, ...] = memory.fields.get("links", ())
    return links


def still_contested(memory: Memory, active: Callable[[str], bool], but: str) -> bool:
    """Tell whether a memory contradicts an active one beside `but`."""
    return any(
        x.type == "contradicts" and x.target != but and active(x.target) for x in links_of(memory)
    )


WEIGHTS: Mapping[str, int] = MappingProxyType(
    {"contested": 3, "unresolved": 2, "retire_candidate": 1}
)
MOST_DAYS, MOST_SOURCES, MOST_RECURRENCE = 14, 5, 10
TEXT_LIMIT = 240


class Surfaced(msgspec.Struct, frozen=True, kw_only=True):
    """One claim that is in doubt, and why it comes up now: the score."""

    memory: Memory
    score: float
    age_days: int

    def as_json(self) -> dict[str, object]:
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


def recall_surface(memories: Sequence[Memory], now: datetime) -> Surfaced | None:
    """Return the open claim that scores highest, or None where nothing is open."""
    standing = only(memories, [standing in WEIGHTS for standing in each(memories, "standing")])
    open_ = [_scored(m, now) for m in standing if m.status == "active"]
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
