"""Which new lines change a statement that stands: those of daily logs too, which else are notes.

A line that changes what is known is news whatever it would be worth by itself, so that it is judged
as one (`Placed.changes`). A daily log gives such lines and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from memrepo.core.judging import PriorClaim
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.state import State
from memrepo.policies.matching import INACTIVE_STANDINGS
from memrepo.purify.gather import Placed
from memrepo.purify.intake import Intake, Reader, SourceText
from memrepo.purify.known import prior_of
from memrepo.purify.noticing import Near


def overruling(
    state: State, intake: Intake, texts: Sequence[SourceText], reader: Reader
) -> tuple[tuple[Placed, ...], tuple[Placed, ...]]:
    """Return the units in scope, those that change something marked so, and lines of daily logs."""
    if intake.whole or not (intake.placed or intake.notes):
        return tuple(intake.placed), ()
    near = Near(
        prior_of(m)
        for m in state.active
        if m.type in CLAIM_TYPES and m.standing not in INACTIVE_STANDINGS
    )
    placed = tuple(_marked(one, near) for one in intake.placed)
    logged = (_marked(one, near) for one in _log_lines(intake, texts, reader))
    return placed, tuple(one for one in logged if one.changes)


def _marked(placed: Placed, near: Near) -> Placed:
    unit = placed.unit
    claim = PriorClaim(
        memory_id="",
        type="fact",
        standing="resolved",
        subject="",
        predicate="",
        object="",
        text=unit.text,
        home="",
        sources=(placed.source(),),
    )
    found = near.changed(claim)
    ids = sorted(id_ for id_, one in found.items() if one.newer != "second")
    return replace(placed, changes=tuple(ids)) if ids else placed


def _log_lines(intake: Intake, texts: Iterable[SourceText], reader: Reader) -> Iterator[Placed]:
    names = {text.resource: text.name for text in texts}
    for note in intake.notes:
        first, last = note.unit.lines
        for unit in reader.claims(names[note.resource], note.blob).units:
            if first <= unit.lines[0] and unit.lines[1] <= last:
                yield Placed(
                    unit=unit,
                    resource=note.resource,
                    blob=note.blob,
                    committed=note.committed,
                    hint="fact",
                )
