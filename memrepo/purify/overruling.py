"""Which new lines change a statement that stands, in a daily log as in any other source.

A line that changes what is known is news whatever it would be worth by itself, so that it is judged
as one (`Placed.changes`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.core.judging import PriorClaim
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.state import State
from memrepo.policies.matching import INACTIVE_STANDINGS
from memrepo.purify.gather import Placed
from memrepo.purify.known import prior_of

if TYPE_CHECKING:
    from memrepo.purify.noticing import Near


def overruling(state: State, placed: Iterable[Placed]) -> tuple[Placed, ...]:
    """Return units in scope, those that change a standing memory marked so."""
    placed = tuple(placed)
    if not placed:  # as in most runs: no statement is cut into words for them
        return ()
    from memrepo.purify.noticing import Near

    near = Near(
        prior_of(m)
        for m in state.active
        if m.type in CLAIM_TYPES and m.standing not in INACTIVE_STANDINGS
    )
    return tuple(_marked(one, near) for one in placed)


def _marked(placed: Placed, near: Near) -> Placed:
    claim = PriorClaim(
        memory_id="",
        type="fact",
        standing="resolved",
        subject="",
        predicate="",
        object="",
        text=placed.unit.text,
        home="",
        sources=(placed.source(),),
    )
    found = near.changed(claim)
    ids = sorted(id_ for id_, one in found.items() if one.newer != "second")
    return replace(placed, changes=tuple(ids)) if ids else placed
