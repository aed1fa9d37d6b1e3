"""Which memories of a tree contradict each other, and what was decided about them.

A contradiction is a case under `corrections/`, or a `contradicts` link that has none yet; its id
is a hash of both memories, and so the same whichever side it is seen from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from memrepo.core.corrections import Correction, Corrections, contradiction_id
from memrepo.core.memory import Link, Memory
from memrepo.core.state import State

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
